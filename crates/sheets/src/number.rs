//! Numbers for people: three significant digits, and a unit that fits. Documents keep full precision.

/// The exponent of the power of ten below which `value`, rounded to that many digits, does not fall.
fn exponent(value: f64, digits: usize) -> i32 {
    let scientific = format!("{value:.*e}", digits - 1);
    scientific.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0)
}

/// Three significant digits: `0.0312`, `1.21`, `365`, `11500`.
pub fn digits(value: f64) -> String {
    significant(value, 3)
}

/// Values in ascending order: with four significant digits if three make two neighbours equal that are not.
pub fn interval(values: [f64; 3]) -> [String; 3] {
    let short = values.map(digits);
    let hides = |at: usize| short[at] == short[at + 1] && values[at] != values[at + 1];
    match hides(0) || hides(1) {
        true => values.map(|value| significant(value, 4)),
        false => short,
    }
}

fn significant(value: f64, count: i32) -> String {
    if value == 0.0 {
        return "0".into();
    }
    if !value.is_finite() {
        return "-".into();
    }
    match exponent(value, count as usize) {
        ..-4 => format!("{value:.2e}"),
        small if small < count => format!("{value:.*}", (count - 1 - small) as usize),
        large => {
            let step = 10f64.powi(large - count + 1);
            format!("{:.0}", (value / step).round() * step)
        }
    }
}

/// A number of things, of which there may be one: `1 switch`, `2 switches`.
pub fn plural(count: u64, noun: &str) -> String {
    let ending = match (count, noun.ends_with("ch")) {
        (1, _) => "",
        (_, true) => "es",
        (_, false) => "s",
    };
    format!("{count} {noun}{ending}")
}

/// As [`digits`], with a sign.
pub fn signed(value: f64) -> String {
    let sign = if value > 0.0 { "+" } else { "" };
    format!("{sign}{}", digits(value))
}

/// A percentage of three significant digits.
pub fn percent(value: f64) -> String {
    format!("{} %", digits(value))
}

/// A value with the unit in `units` that leaves one to three digits before the point. Each unit has its
/// size in terms of the first one.
fn scaled(value: f64, units: &[(f64, &str)]) -> String {
    let fits = |size: f64| value == 0.0 || exponent(value / size, 3) >= 0;
    let (size, unit) = units.iter().rev().find(|(size, _)| fits(*size)).unwrap_or(&units[0]);
    format!("{} {unit}", digits(value / size)).trim_end().into()
}

/// A time: `855 ns`, `15.4 us`, `6.01 ms`, `1.50 s`. Whole nanoseconds below a microsecond stay whole.
pub fn duration(ns: f64) -> String {
    if ns < 1e3 && ns.fract() == 0.0 {
        return format!("{ns} ns");
    }
    scaled(ns, &[(1.0, "ns"), (1e3, "us"), (1e6, "ms"), (1e9, "s")])
}

/// A time that was set and not measured: `5 ms` and not `5.00 ms`.
pub fn setting(ns: f64) -> String {
    let text = duration(ns);
    match text.split_once(' ') {
        Some((number, unit)) if number.contains('.') => {
            format!("{} {unit}", number.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => text,
    }
}

/// Operations per second: `300 ops/s`, `2.10 Mops/s`.
pub fn rate(per_s: f64) -> String {
    if per_s == 0.0 {
        return "0 ops/s".into();
    }
    scaled(per_s, &[(1.0, "ops/s"), (1e3, "kops/s"), (1e6, "Mops/s"), (1e9, "Gops/s")])
}

/// How many: all digits up to 999, then three and a suffix, such as `64.6 k`.
pub fn count(number: f64) -> String {
    match number.abs() {
        few if few < 999.5 => format!("{number:.0}"),
        _ => scaled(number, &[(1.0, ""), (1e3, "k"), (1e6, "M"), (1e9, "G"), (1e12, "T")]),
    }
}

/// Something that there may be, for people.
pub fn known<T>(value: Option<T>, show: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| "-".into(), show)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_significant_digits() {
        for (value, text) in [
            (0.0, "0"),
            (1.0, "1.00"),
            (0.99951, "1.00"),
            (0.000_412, "0.000412"),
            (0.000_041_2, "4.12e-5"),
            (-3.1, "-3.10"),
            (9.996, "10.0"),
            (12.345, "12.3"),
            (365.4, "365"),
            (999.6, "1000"),
            (11_501.7, "11500"),
            (f64::NAN, "-"),
        ] {
            assert_eq!(digits(value), text);
        }
        assert_eq!(interval([15_218.0, 15_335.0, 15_341.0]), ["15220", "15340", "15340"]);
        assert_eq!(interval([1.0, 1.0, 2.0]), ["1.00", "1.00", "2.00"]);
        assert_eq!([signed(16.31), signed(-0.5), signed(0.0)], ["+16.3", "-0.500", "0"]);
        assert_eq!(percent(4.314), "4.31 %");
    }

    #[test]
    fn times_and_rates_have_the_unit_that_fits() {
        for (ns, text) in [
            (0.0, "0 ns"),
            (0.4, "0.400 ns"),
            (9.05, "9.05 ns"),
            (29.0, "29 ns"),
            (855.0, "855 ns"),
            (999.7, "1.00 us"),
            (15_432.0, "15.4 us"),
            (6_013_600.0, "6.01 ms"),
            (999_999_999.0, "1.00 s"),
            (3.6e12, "3600 s"),
        ] {
            assert_eq!(duration(ns), text);
        }
        assert_eq!([5e6, 1.5e9, 1e8].map(setting), ["5 ms", "1.5 s", "100 ms"]);
        for (per_s, text) in [
            (0.0, "0 ops/s"),
            (300.4, "300 ops/s"),
            (2_099_999.0, "2.10 Mops/s"),
            (0.25, "0.250 ops/s"),
        ] {
            assert_eq!(rate(per_s), text);
        }
    }

    #[test]
    fn a_count_is_exact_as_long_as_it_is_short() {
        for (number, text) in [(0.0, "0"), (28.0, "28"), (999.0, "999"), (64_600.0, "64.6 k")] {
            assert_eq!(count(number), text);
        }
    }
}
