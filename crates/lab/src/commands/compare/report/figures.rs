//! Numbers of a comparison for people.

use lockwright_sheets::digits;

/// A number, if it was measured.
pub fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "-".into(), digits)
}

/// An interval, if there is one.
pub fn interval(ci95: Option<[f64; 2]>) -> String {
    ci95.map_or_else(String::new, |[low, high]| format!("[{}, {}]", digits(low), digits(high)))
}
