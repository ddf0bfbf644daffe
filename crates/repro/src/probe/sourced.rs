//! Numbers with their sources.

/// A number of the file and where it comes from.
pub struct SourcedNumber {
    /// Its unit, as the format has it.
    pub unit: &'static str,
    /// The number, or a list of them.
    pub value: String,
    /// Where it comes from.
    pub source: String,
}

/// A number with a source as it is.
pub fn number(unit: &'static str, value: f64, source: String) -> SourcedNumber {
    SourcedNumber { unit, value: plain(value), source }
}
/// A number that was measured, and how.
pub fn measured(unit: &'static str, value: f64, how: &str) -> SourcedNumber {
    number(unit, value, format!("measured in this computer by `lockwright machines probe`: {how}"))
}
/// A number that follows from others.
pub fn derived(unit: &'static str, value: f64, from: &str) -> SourcedNumber {
    number(unit, value, format!("derived from {from}"))
}
/// A number without evidence, and why it is there.
pub fn guess(unit: &'static str, value: f64, why: &str) -> SourcedNumber {
    number(unit, value, format!("guess: {why}"))
}

/// Four digits, and a point, so that it is a number with a fraction.
pub fn plain(value: f64) -> String {
    let digits = 3 - (value.abs().max(1e-9).log10().floor() as i32).clamp(-2, 3);
    format!("{:?}", format!("{value:.*}", digits.max(0) as usize).parse::<f64>().unwrap_or(value))
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn a_number_has_four_digits_and_a_point() {
        let written = [66.2138, 0.55912, 4_029_365.2, 172.25, 0.0, 1.0].map(plain);
        assert_eq!(written, ["66.21", "0.5591", "4029365.0", "172.2", "0.0", "1.0"]);
    }
}
