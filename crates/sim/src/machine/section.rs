//! Reading a table of a TOML file key by key, so that every complaint names its key.

use super::costs::{OPTIONAL, Range, Unit};
use super::error::{MachineError, Problem};
use super::provenance::{Origin, Sourced};
use std::cell::RefCell;
use std::collections::BTreeSet;
use toml::{Table, Value};

/// Parses a whole file; `file` is its name in complaints.
pub(super) fn parse(file: &str, text: &str) -> Result<Table, MachineError> {
    text.parse::<Table>().map_err(|error| {
        let at = error.span().map_or(0, |span| span.start.min(text.len()));
        let line = text.as_bytes()[..at].iter().filter(|&&byte| byte == b'\n').count() + 1;
        let of_line = text.lines().nth(line - 1).unwrap_or_default().trim().to_string();
        let reason = error.message().replace('\n', ", ");
        MachineError {
            file: file.into(),
            key: String::new(),
            problem: Problem::Syntax { line, text: of_line, reason },
        }
    })
}

/// The key of what a number rests on.
pub(super) const SOURCE: &str = "source";

/// The key of the built-in machine whose calibration a machine borrows.
pub(super) const CALIBRATED_AS: &str = "calibrated_as";

/// A table of the file, with its place in it.
pub(super) struct Section<'a> {
    file: &'a str,
    /// Dotted path of the table, empty for the root.
    path: String,
    table: &'a Table,
    /// Keys that were asked for; what remains is unknown.
    asked: RefCell<BTreeSet<String>>,
}

impl<'a> Section<'a> {
    /// The whole file.
    pub(super) fn root(file: &'a str, table: &'a Table) -> Self {
        Self { file, path: String::new(), table, asked: RefCell::default() }
    }

    /// The dotted path of a key of this table.
    pub(super) fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() { key.into() } else { format!("{}.{key}", self.path) }
    }

    /// A complaint about a key of this table.
    pub(super) fn refuse(&self, key: &str, problem: Problem) -> MachineError {
        MachineError { file: self.file.into(), key: self.path_of(key), problem }
    }

    /// A complaint about this table as a whole.
    fn refuse_self(&self, problem: Problem) -> MachineError {
        MachineError { file: self.file.into(), key: self.path.clone(), problem }
    }

    /// The value of a key, if it is there.
    pub(super) fn find(&self, key: &str) -> Option<&'a Value> {
        self.asked.borrow_mut().insert(key.into());
        self.table.get(key)
    }

    fn value(&self, key: &str) -> Result<&'a Value, MachineError> {
        self.find(key).ok_or_else(|| self.refuse(key, Problem::Missing))
    }

    /// The keys of this table.
    pub(super) fn keys(&self) -> impl Iterator<Item = &'a String> + use<'a> {
        self.table.keys()
    }

    /// A table inside this one.
    pub(super) fn section(&self, key: &str) -> Result<Section<'a>, MachineError> {
        let table = self.value(key)?.as_table();
        let table = table.ok_or_else(|| self.refuse(key, Problem::NotA("a table")))?;
        Ok(self.inner(self.path_of(key), table))
    }

    /// The tables of a list of tables, none if the key is not there.
    pub(super) fn sections(&self, key: &str) -> Result<Vec<Section<'a>>, MachineError> {
        let Some(value) = self.find(key) else { return Ok(Vec::new()) };
        let refusal = || self.refuse(key, Problem::NotA("a list of tables"));
        let list = value.as_array().ok_or_else(refusal)?.iter().enumerate();
        list.map(|(i, item)| {
            let table = item.as_table().ok_or_else(refusal)?;
            Ok(self.inner(format!("{}[{i}]", self.path_of(key)), table))
        })
        .collect()
    }

    fn inner(&self, path: String, table: &'a Table) -> Section<'a> {
        Section { file: self.file, path, table, asked: RefCell::default() }
    }

    /// A text that is not empty.
    pub(super) fn text(&self, key: &str) -> Result<String, MachineError> {
        match self.value(key)?.as_str() {
            Some(text) if !text.trim().is_empty() => Ok(text.into()),
            _ => Err(self.refuse(key, Problem::NotA("a text that is not empty"))),
        }
    }

    /// A list; `element` reads each of its values.
    pub(super) fn list<T>(
        &self,
        key: &str,
        expected: &'static str,
        element: impl Fn(&'a Value) -> Option<T>,
    ) -> Result<Vec<T>, MachineError> {
        let values = self.value(key)?.as_array().map(|list| list.iter().map(element).collect());
        values.flatten().ok_or_else(|| self.refuse(key, Problem::NotA(expected)))
    }

    /// A whole number, 0 or more.
    pub(super) fn whole<T: TryFrom<i64>>(&self, key: &str) -> Result<T, MachineError> {
        whole(self.value(key)?)
            .ok_or_else(|| self.refuse(key, Problem::NotA("a whole number, 0 or more")))
    }

    /// A number in its range.
    pub(super) fn number(&self, key: &str, range: Range) -> Result<f64, MachineError> {
        let value = number(self.value(key)?);
        let value = value.ok_or_else(|| self.refuse(key, Problem::NotA("a number")))?;
        range.check(value).map_err(|problem| self.refuse(key, problem))
    }

    /// `key = { ns = 48.0 }`: a number that names its unit. Complaints are about `key`.
    pub(super) fn with_unit(
        &self,
        key: &str,
        unit: Unit,
        range: Range,
    ) -> Result<f64, MachineError> {
        let entry = self.section(key)?;
        let value = entry.quantity(unit)?;
        entry.finish()?;
        let checked = range.check(value).and_then(|value| unit.check(value));
        checked.map_err(|problem| self.refuse(key, problem))
    }

    /// The value of an entry such as `{ ns = 48.0, ... }`.
    pub(super) fn quantity(&self, unit: Unit) -> Result<f64, MachineError> {
        number(self.value(unit.key())?)
            .ok_or_else(|| self.refuse(unit.key(), Problem::NotA("a number")))
    }

    /// The source of an entry such as `{ ns = 48.0, source = "..." }`, whose value is `value`.
    pub(super) fn source(&self, value: String) -> Result<Sourced, MachineError> {
        let source = self.find(SOURCE).and_then(Value::as_str).unwrap_or_default();
        if source.trim().is_empty() {
            return Err(self.refuse_self(Problem::NoSource));
        }
        let origin = Origin::of(source).ok_or_else(|| self.refuse_self(Problem::VagueSource))?;
        Ok(Sourced { key: self.path.clone(), value, origin, source: source.into() })
    }

    /// Refuses the table if it has a key that is none of `keys`; says as well which of them are
    /// missing, because a key that is both is a slip of the finger.
    pub(super) fn expect(&self, keys: &[&str]) -> Result<(), MachineError> {
        let Some(unknown) = self.table.keys().find(|key| !keys.contains(&key.as_str())) else {
            return Ok(());
        };
        if unknown == CALIBRATED_AS {
            return Err(self.refuse(unknown, Problem::InSection));
        }
        let is_missing = |key: &&&str| !self.table.contains_key(**key) && !OPTIONAL.contains(*key);
        let missing = keys.iter().filter(is_missing);
        let missing: Vec<String> = missing.map(|key| self.path_of(key)).collect();
        match missing.is_empty() {
            true => Err(self.refuse(unknown, Problem::UnknownKey)),
            false => Err(self.refuse(unknown, Problem::UnknownAndMissing(missing))),
        }
    }

    /// Refuses the table if it has a key that was never asked for.
    pub(super) fn finish(self) -> Result<(), MachineError> {
        let asked = self.asked.borrow();
        match self.table.keys().find(|key| !asked.contains(*key)) {
            Some(unknown) => Err(self.refuse(unknown, Problem::UnknownKey)),
            None => Ok(()),
        }
    }
}

/// A number, whole or not.
pub(super) fn number(value: &Value) -> Option<f64> {
    value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64))
}

/// A whole number that fits.
pub(super) fn whole<T: TryFrom<i64>>(value: &Value) -> Option<T> {
    T::try_from(value.as_integer()?).ok()
}
