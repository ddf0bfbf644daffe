//! The values that one key of a question takes.

use crate::sweep::reader::TomlItem;
use lockwright_measure::error::Error;
use lockwright_measure::workload::Value;

/// All values of a key.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum AxisValues {
    /// One after the other.
    Listed(Vec<Value>),
    /// Numbers between two, drawn.
    Drawn(Range),
}

/// Numbers between two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Range {
    from: f64,
    to: f64,
    /// True if each factor is as likely as each other one, not each difference.
    is_log: bool,
    /// True if only whole numbers are meant.
    is_whole: bool,
}

const HOW: &str = "must be a value, a list, or a range such as { from = 60, to = 300 }";

impl AxisValues {
    /// All values of `entry`, which are whole numbers if `is_whole`.
    pub(crate) fn read(entry: TomlItem<'_>, is_whole: bool) -> Result<Self, Error> {
        if let Some(one) = entry.value() {
            return Ok(Self::Listed(vec![one]));
        }
        if let Some(list) = entry.list() {
            let read = |item: TomlItem<'_>| item.value().ok_or_else(|| item.refuse(HOW));
            let values = list.map(read).collect::<Result<Vec<_>, _>>()?;
            return match values.is_empty() {
                true => Err(entry.refuse("needs a value in its list")),
                false => Ok(Self::Listed(values)),
            };
        }
        Range::read(entry, is_whole).map(Self::Drawn)
    }
}

impl Range {
    fn read(entry: TomlItem<'_>, is_whole: bool) -> Result<Self, Error> {
        let section = entry.section(HOW)?;
        let number = |key| {
            let bound = section.find(key).ok_or_else(|| entry.refuse(HOW))?;
            bound.number().ok_or_else(|| bound.refuse("must be a number"))
        };
        let (from, to) = (number("from")?, number("to")?);
        let is_log = match section.find("scale") {
            None => false,
            Some(scale) => match scale.text() {
                Some("linear") => false,
                Some("log") => true,
                _ => return Err(scale.refuse("must be \"linear\" or \"log\"")),
            },
        };
        section.finish()?;
        if from >= to {
            return Err(entry.refuse("needs a `from` that is less than its `to`"));
        }
        if is_log && from <= 0.0 {
            return Err(entry.refuse("needs a `from` above 0 for the scale \"log\""));
        }
        if is_whole && (from.fract(), to.fract()) != (0.0, 0.0) {
            return Err(entry.refuse("counts something: write whole numbers for `from` and `to`"));
        }
        Ok(Self { from, to, is_log, is_whole })
    }

    pub(crate) const fn ends(self) -> [f64; 2] {
        [self.from, self.to]
    }

    /// The number at `share` of the way, which is 0 or more and less than 1. It is rounded to six digits, so that
    /// people can read it.
    pub(crate) fn at(self, share: f64) -> f64 {
        let Self { from, to, is_log, is_whole } = self;
        // Each whole number has the same share, its ends included.
        let (from, to) = if is_whole { (from - 0.5, to + 0.5) } else { (from, to) };
        let number = match is_log {
            true => from * (to / from).powf(share),
            false => from + (to - from) * share,
        };
        if is_whole {
            return number.round().clamp(self.from, self.to);
        }
        format!("{number:.5e}").parse().unwrap_or(number)
    }
}
