//! Reading a question's file key by key, so that every complaint names its line.

use lockwright_measure::error::Error;
use lockwright_measure::suggest::nearest;
use lockwright_measure::workload::Value;
use std::cell::RefCell;
use std::collections::BTreeSet;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A file, for complaints about it.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) file: &'a str,
    pub(crate) text: &'a str,
}

impl<'a> Source<'a> {
    /// A complaint about what starts at byte `at`.
    pub(crate) fn refuse(self, at: usize, sentence: &str) -> Error {
        let before = &self.text.as_bytes()[..at.min(self.text.len())];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        Error::usage(format!("{}:{line}: {sentence}", self.file))
    }

    pub(crate) fn parse(self) -> Result<DeTable<'a>, Error> {
        DeTable::parse(self.text).map(Spanned::into_inner).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            self.refuse(at, &format!("this is not TOML: {}", error.message().replace('\n', ", ")))
        })
    }
}

/// A value with its place.
#[derive(Clone, Copy)]
pub(crate) struct TomlItem<'a> {
    source: Source<'a>,
    /// Its key, dotted.
    pub(crate) key: &'a str,
    at: usize,
    value: &'a DeValue<'a>,
}

impl<'a> TomlItem<'a> {
    /// A complaint about this value.
    pub(crate) fn refuse(self, sentence: &str) -> Error {
        self.source.refuse(self.at, &format!("`{}` {sentence}", self.key))
    }

    /// The byte where it stands.
    pub(crate) const fn at(self) -> usize {
        self.at
    }

    pub(crate) fn text(self) -> Option<&'a str> {
        self.value.as_str()
    }

    /// The value, if it is a single one.
    pub(crate) fn value(self) -> Option<Value> {
        let text = self.text().map(|text| Value::Text(text.trim().into()));
        let number = || self.number().map(Value::Number);
        text.or_else(number).or_else(|| self.value.as_bool().map(Value::Truth))
    }

    pub(crate) fn number(self) -> Option<f64> {
        match self.value {
            DeValue::Integer(it) => {
                i64::from_str_radix(it.as_str(), it.radix()).ok().map(|it| it as f64)
            }
            DeValue::Float(it) => it.as_str().parse().ok().filter(|it: &f64| it.is_finite()),
            _ => None,
        }
    }

    /// A whole number from `least` on.
    pub(crate) fn whole(self, least: u64) -> Result<u64, Error> {
        let number = self.number().filter(|it| it.fract() == 0.0 && *it >= least as f64);
        let refusal = || self.refuse(&format!("must be a whole number from {least} on"));
        number.map(|it| it as u64).ok_or_else(refusal)
    }

    /// Its elements, if it is a list.
    pub(crate) fn list(self) -> Option<impl Iterator<Item = Self>> {
        let items = self.value.as_array()?;
        Some(items.iter().map(move |item| Self {
            at: item.span().start,
            value: item.get_ref(),
            ..self
        }))
    }

    /// Its keys; `refusal` is what is wrong if it is no table.
    pub(crate) fn section(self, refusal: &str) -> Result<TomlSection<'a>, Error> {
        let Self { source, key: name, at, value } = self;
        let table = value.as_table().ok_or_else(|| self.refuse(refusal))?;
        Ok(TomlSection { source, name, at, table, asked: RefCell::default() })
    }

    /// Its keys, if it is the section `[key]`.
    pub(crate) fn section_of_key(self) -> Result<TomlSection<'a>, Error> {
        self.section(&format!("must be a section: write [{}] above its keys", self.key))
    }
}

/// A table of the file. What nobody asked it for is refused in the end.
pub(crate) struct TomlSection<'a> {
    pub(crate) source: Source<'a>,
    /// Its name; empty for the whole file.
    name: &'a str,
    at: usize,
    table: &'a DeTable<'a>,
    asked: RefCell<BTreeSet<&'a str>>,
}

impl<'a> TomlSection<'a> {
    pub(crate) fn root(source: Source<'a>, table: &'a DeTable<'a>) -> Self {
        Self { source, name: "", at: 0, table, asked: RefCell::default() }
    }

    /// The value of a key, if it is there.
    pub(crate) fn find(&self, key: &'a str) -> Option<TomlItem<'a>> {
        self.asked.borrow_mut().insert(key);
        self.entries().find(|entry| entry.key == key)
    }

    pub(crate) fn get(&self, key: &'a str) -> Result<TomlItem<'a>, Error> {
        self.find(key).ok_or_else(|| match self.name {
            "" => self.source.refuse(self.at, &format!("add `{key}`, which has to be there")),
            name => self.source.refuse(self.at, &format!("add `{key}` to [{name}]")),
        })
    }

    /// All that it has.
    pub(crate) fn entries(&self) -> impl Iterator<Item = TomlItem<'a>> + use<'a> {
        let source = self.source;
        self.table.iter().map(move |(key, value)| TomlItem {
            source,
            key: key.get_ref(),
            at: key.span().start,
            value: value.get_ref(),
        })
    }

    /// Refuses a key that nobody asked for.
    pub(crate) fn finish(&self) -> Result<(), Error> {
        let asked = self.asked.borrow();
        let Some(stray) = self.entries().find(|entry| !asked.contains(entry.key)) else {
            return Ok(());
        };
        let known: Vec<&str> = asked.iter().copied().collect();
        Err(stray.refuse(&match nearest(stray.key, known.iter().copied()) {
            Some(meant) => format!("is not a key here: did you mean `{meant}`?"),
            None => format!("is not a key here: the keys are {}", known.join(", ")),
        }))
    }
}
