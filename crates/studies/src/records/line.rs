//! A line of results: what it holds, and the digest that tells a whole line from a torn one.

use super::key::Sha;
use serde::Deserialize;

/// Where a line's digest begins.
const SUM: &str = ",\"sum\":\"";
const DIGITS: usize = 8;

/// What a line starts with.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) key: String,
    pub(crate) code: String,
}

/// The line with its digest, without a line break. `object` is a JSON object.
pub(crate) fn sealed(object: &str) -> String {
    let body = object.strip_suffix('}').unwrap_or(object);
    format!("{body}{SUM}{}\"}}", Sha::of(body).hex(DIGITS))
}

/// What a line says; `None` if it is torn.
pub(crate) fn opened(line: &str) -> Option<Head> {
    let (body, sum) = line.rsplit_once(SUM)?;
    let sum = sum.strip_suffix("\"}")?;
    (Sha::of(body).hex(DIGITS) == sum).then_some(())?;
    serde_json::from_str(line).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_lacks_a_byte_or_has_another_is_torn() {
        let line = sealed(r#"{"key":"k","code":"c","ops_per_s":1.5}"#);
        let head = Head { key: "k".into(), code: "c".into() };
        assert_eq!(opened(&line), Some(head));
        for at in 0..line.len() {
            assert_eq!(opened(&line[..at]), None, "{at}");
            let other = if line.as_bytes()[at] == b'7' { "8" } else { "7" };
            let changed = [&line[..at], other, &line[at + 1..]].concat();
            assert_eq!(opened(&changed), None, "{changed}");
        }
        assert_eq!(opened(&[&line[..20], &line].concat()), None);
    }
}
