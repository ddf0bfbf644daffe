//! What options take: numbers, times and names. A refusal says what to type instead.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use lockwright_measure::workload::locktorture::NESTED_MAX;
use std::str::FromStr;
use std::time::Duration;

/// One of `all`, by its name.
pub fn one_of<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    let named = move |given: String| all.iter().copied().find(|&one| name(one) == given);
    let names = all.iter().map(|&one| name(one));
    PossibleValuesParser::new(names).try_map(move |given| named(given).ok_or("no such name"))
}

/// What a time looks like.
const A_TIME: &str = "write a time such as 100ms, 2us or 1.5s";

/// A number of threads in a list. Blanks around it do not matter.
pub fn count(typed: &str) -> Result<usize, &'static str> {
    typed.trim().parse().map_err(|_| "write whole numbers from 1 on, such as 1,2,4")
}

/// A whole number of anything.
pub fn whole<T: FromStr>(typed: &str) -> Result<T, &'static str> {
    typed.trim().parse().map_err(|_| "write a whole number from 0 on")
}

/// A whole number from `LEAST` to `MOST`.
pub fn between<T: TryFrom<u64>, const LEAST: u64, const MOST: u64>(
    typed: &str,
) -> Result<T, String> {
    let number = typed.trim().parse().ok().filter(|number| (LEAST..=MOST).contains(number));
    let number = number.and_then(|number| T::try_from(number).ok());
    number.ok_or_else(|| format!("write a whole number from {LEAST} to {MOST}"))
}

/// A time in seconds. A number without a unit is one of seconds.
pub fn seconds(typed: &str) -> Result<f64, String> {
    typed.trim().parse().or_else(|_| Ok(time(typed)?.as_secs_f64()))
}

/// A time in seconds that can be switched off.
pub fn seconds_or_off(typed: &str) -> Result<f64, String> {
    match typed.trim() {
        "off" => Ok(0.0),
        typed => seconds(typed).map_err(|said| format!("{said}, or off")),
    }
}

/// A time in nanoseconds. A number without a unit is one of nanoseconds.
pub fn nanoseconds(typed: &str) -> Result<u64, String> {
    typed.trim().parse().or_else(|_| time(typed).and_then(in_ns))
}

/// How long the rare long hold is, in nanoseconds; 0 if it is off. A number needs its unit here: the
/// name of the option has none.
pub fn long_hold(typed: &str) -> Result<u64, String> {
    match typed.trim() {
        "off" | "0" => Ok(0),
        "on" => Err("write 100ms, as in the kernel, or off".into()),
        number if number.parse::<f64>().is_ok() => {
            Err(format!("`{number}` has no unit: write `{number}ms`, or off"))
        }
        typed => time(typed).and_then(in_ns),
    }
}

fn time(typed: &str) -> Result<Duration, String> {
    humantime::parse_duration(typed.trim()).map_err(|_| A_TIME.into())
}

fn in_ns(time: Duration) -> Result<u64, String> {
    u64::try_from(time.as_nanos()).map_err(|_| A_TIME.into())
}

/// How many nested locks.
pub fn nested(typed: &str) -> Result<usize, String> {
    match typed.trim() {
        "off" => Ok(0),
        typed => between::<usize, 0, { NESTED_MAX as u64 }>(typed),
    }
}

/// A name. Blanks around it do not matter.
pub fn name(typed: &str) -> Result<String, std::convert::Infallible> {
    Ok(typed.trim().into())
}

/// A number of a machine, by its name.
pub fn number_of_machine(typed: &str) -> Result<(String, f64), &'static str> {
    let number = || {
        let (key, value) = typed.split_once('=')?;
        Some((key.trim().into(), value.trim().parse().ok()?))
    };
    number().ok_or("write a name and a number, such as pause=45; times are in nanoseconds")
}

/// What was `bench --readers`: the same option of `torture` is a number of threads.
pub fn read_percent_renamed(typed: &str) -> Result<u32, String> {
    Err(format!("in `bench` this option is called --read-percent: write `--read-percent {typed}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_a_unit_or_that_of_its_option() {
        for (typed, secs) in [("0.1", 0.1), ("100ms", 0.1), (" 1.5s ", 1.5), ("1m", 60.0)] {
            assert_eq!(seconds(typed), Ok(secs), "{typed}");
        }
        for (typed, ns) in [("500", 500), ("2us", 2_000), ("1.5ms", 1_500_000), ("7ns", 7)] {
            assert_eq!(nanoseconds(typed), Ok(ns), "{typed}");
        }
        assert_eq!(seconds_or_off("off"), Ok(0.0));
        for wrong in ["soon", "", "-1ms", "5 parsecs"] {
            assert_eq!(seconds(wrong), Err(A_TIME.into()), "{wrong}");
            assert_eq!(nanoseconds(wrong), Err(A_TIME.into()), "{wrong}");
        }
        assert_eq!(nanoseconds("1000years"), Err(A_TIME.into()));
    }

    #[test]
    fn a_long_hold_needs_its_unit() {
        assert_eq!((long_hold("100ms"), long_hold("off")), (Ok(100_000_000), Ok(0)));
        assert_eq!(long_hold("0.03ms"), Ok(30_000));
        assert!(long_hold("5").is_err_and(|said| said.contains("`5ms`")));
        assert!(long_hold("on").is_err_and(|said| said.contains("100ms")));
        assert!(long_hold("-1").is_err() && long_hold("long").is_err());
    }

    #[test]
    fn a_number_out_of_range_is_refused_in_words() {
        assert_eq!(between::<u64, 2, 9>(" 9 "), Ok(9));
        for typed in ["1", "10", "many", "-2", "2.5"] {
            assert_eq!(between::<u64, 2, 9>(typed), Err("write a whole number from 2 to 9".into()));
        }
        assert!(nested("9").is_err() && nested("8") == Ok(8) && nested("off") == Ok(0));
    }
}
