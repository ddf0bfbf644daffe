//! Numbers with their sources.

/// A number of the file and where it comes from.
pub struct SourcedNumber {
    /// What it is called in its section.
    pub key: &'static str,
    /// Its unit, as the format has it.
    pub unit: &'static str,
    /// The number, or a list of them, if it is known.
    pub value: Option<String>,
    /// Where it comes from.
    pub source: String,
}

/// A number of the file that has no source yet.
pub struct Unsourced {
    key: &'static str,
    unit: &'static str,
    value: Option<f64>,
}

/// A time.
pub fn ns(key: &'static str, value: impl Into<Option<f64>>) -> Unsourced {
    Unsourced { key, unit: "ns", value: value.into() }
}
/// A part of something.
pub fn fraction(key: &'static str, value: impl Into<Option<f64>>) -> Unsourced {
    Unsourced { key, unit: "fraction", value: value.into() }
}
/// How many times as much.
pub fn factor(key: &'static str, value: impl Into<Option<f64>>) -> Unsourced {
    Unsourced { key, unit: "factor", value: value.into() }
}

impl Unsourced {
    /// It has a source as it is.
    pub fn from(self, source: impl Into<String>) -> SourcedNumber {
        let Self { key, unit, value } = self;
        SourcedNumber { key, unit, value: value.map(plain), source: source.into() }
    }
    /// It was measured, and how.
    pub fn measured(self, how: &str) -> SourcedNumber {
        self.from(format!("measured in this computer by `lockwright machines probe`: {how}"))
    }
    /// It follows from others.
    pub fn derived(self, from: &str) -> SourcedNumber {
        self.from(format!("derived from {from}"))
    }
    /// It has no evidence, and why it is there.
    pub fn guess(self, why: &str) -> SourcedNumber {
        self.from(format!("guess: {why}"))
    }
}

impl SourcedNumber {
    /// If it is not known, this number, and why it is there.
    pub fn or_guess(self, value: f64, why: &str) -> Self {
        let Self { key, unit, value: None, .. } = self else { return self };
        Unsourced { key, unit, value: Some(value) }.guess(why)
    }
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
