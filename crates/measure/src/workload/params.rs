//! Parameters of workloads.
//!
//! A workload has one table of them, which `params!` makes. From it follow the options of commands with their help,
//! the keys of questions, what documents say, and the type that the loop gets.

use serde::{Serialize, Serializer};
use std::fmt;

/// The value of a parameter, as people write it.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A word.
    Text(String),
    /// A number. In documents a whole one has no point.
    Number(f64),
    /// Yes or no.
    Truth(bool),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Number(number) => number.fmt(f),
            Self::Truth(true) => f.write_str("on"),
            Self::Truth(false) => f.write_str("off"),
        }
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Number(number) if number.fract() == 0.0 && number.abs() < 9e15 => {
                serializer.serialize_i64(*number as i64)
            }
            Self::Number(number) => serializer.serialize_f64(*number),
            Self::Truth(truth) => serializer.serialize_bool(*truth),
        }
    }
}

impl Value {
    /// The number that it is, if it is a whole one.
    pub fn whole(&self) -> Option<u64> {
        match self {
            Self::Number(number) if number.fract() == 0.0 && (0.0..9e15).contains(number) => {
                Some(*number as u64)
            }
            _ => None,
        }
    }
}

/// A parameter.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// Its key. The option is the same with dashes.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub help: &'static str,
    /// What it may be.
    pub limits: Domain,
}

/// What a parameter may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// A whole number from the first to the second.
    Whole(u64, u64),
    /// A percentage.
    Percent,
    /// A time in nanoseconds, from the first to the second.
    Time(u64, u64),
    /// On or off.
    Truth,
    /// A time, or off: of a thing of which only this time makes sense.
    OnlyTime(u64),
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A word that its own type reads; what it may be.
    Word(&'static str),
}

/// The longest time that can be asked for, in nanoseconds.
pub const TIME_MAX_NS: u64 = 1_000_000_000;
/// The most of something that can be asked for.
pub const COUNT_MAX: u64 = 1_000_000_000;
/// Any time that can be asked for.
pub const TIME: Domain = Domain::Time(0, TIME_MAX_NS);
/// Any number that can be asked for, but 0.
pub const COUNT: Domain = Domain::Whole(1, COUNT_MAX);

impl Param {
    /// The option that sets it.
    pub fn flag(&self) -> String {
        format!("--{}", self.name.replace('_', "-"))
    }
    /// What a value has to be, for the end of a sentence that begins with "must be".
    pub fn must_be(&self) -> String {
        match self.limits {
            Domain::Whole(least, most) => format!("a whole number from {least} to {most}"),
            Domain::Percent => "a whole number from 0 to 100".into(),
            Domain::Time(least, most) => {
                format!("a time from {} to {} in nanoseconds", least, most)
            }
            Domain::Truth => "true or false".into(),
            Domain::OnlyTime(_) => "true or false".into(),
            Domain::Choice(words) => {
                let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
                words.join(" or ")
            }
            Domain::Word(such) => such.into(),
        }
    }
    /// Returns true if it may have this value.
    pub fn allows(&self, value: &Value) -> bool {
        let is_within = |least, most| value.whole().is_some_and(|it| (least..=most).contains(&it));
        match self.limits {
            Domain::Whole(least, most) | Domain::Time(least, most) => is_within(least, most),
            Domain::Percent => is_within(0, 100),
            Domain::Truth | Domain::OnlyTime(_) => matches!(value, Value::Truth(_)),
            Domain::Choice(words) => matches!(value, Value::Text(it) if words.contains(&&**it)),
            Domain::Word(_) => matches!(value, Value::Text(_)),
        }
    }
}

/// The type of a parameter.
pub trait ParamType: Copy {
    /// The value, as people write it.
    fn value(self) -> Value;
    /// The value that was written; `None` if it is none.
    fn of(value: &Value) -> Option<Self>;
}

impl ParamType for u64 {
    fn value(self) -> Value {
        Value::Number(self as f64)
    }
    fn of(value: &Value) -> Option<Self> {
        value.whole()
    }
}

impl ParamType for u32 {
    fn value(self) -> Value {
        Value::Number(self.into())
    }
    fn of(value: &Value) -> Option<Self> {
        value.whole()?.try_into().ok()
    }
}

impl ParamType for bool {
    fn value(self) -> Value {
        Value::Truth(self)
    }
    fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Truth(truth) => Some(*truth),
            _ => None,
        }
    }
}

/// A type whose values have names, as a parameter.
macro_rules! choice {
    ($(#[$about:meta])* $Type:ident { $($(#[$means:meta])* $Variant:ident = $name:literal),+ $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $Type {
            $($(#[$means])* $Variant,)+
        }
        impl $Type {
            /// The names of all values.
            pub const NAMES: &[&str] = &[$($name),+];
            /// The name it is selected by.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$Variant => $name,)+
                }
            }
        }
        impl $crate::workload::params::ParamType for $Type {
            fn value(self) -> $crate::workload::params::Value {
                $crate::workload::params::Value::Text(self.name().into())
            }
            fn of(value: &$crate::workload::params::Value) -> Option<Self> {
                match value {
                    $crate::workload::params::Value::Text(text) => match text.as_str() {
                        $($name => Some(Self::$Variant),)+
                        _ => None,
                    },
                    _ => None,
                }
            }
        }
    };
}
pub(crate) use choice;

/// The parameters of a workload: a type with a field for each, and the table of them.
macro_rules! params {
    ($(#[doc = $about:literal])+ $name:literal: $Params:ident {
        $($(#[doc = $help:literal])+ $field:ident: $T:ty = $usual:expr, $limits:expr;)*
    }) => {
        $(#[doc = $about])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $Params {
            $($(#[doc = $help])+ pub $field: $T,)*
        }
        impl $Params {
            /// What it is unless something else is asked for.
            pub const USUAL: Self = Self { $($field: $usual,)* };
        }
        impl $crate::workload::params::ParamTable for $Params {
            fn name(&self) -> &'static str {
                $name
            }
            fn about(&self) -> &'static str {
                concat!($($about),+).trim_ascii()
            }
            fn table(&self) -> &'static [$crate::workload::params::Param] {
                const { &[$($crate::workload::params::Param {
                    name: stringify!($field),
                    help: concat!($($help),+).trim_ascii(),
                    limits: $limits,
                }),*] }
            }
            fn get(&self, name: &str) -> Option<$crate::workload::params::Value> {
                match name {
                    $(stringify!($field) => {
                        Some($crate::workload::params::ParamType::value(self.$field))
                    })*
                    _ => None,
                }
            }
            #[allow(unused_variables)]
            fn set(&mut self, name: &str, value: &$crate::workload::params::Value) -> bool {
                match name {
                    $(stringify!($field) => {
                        let read = $crate::workload::params::ParamType::of(value);
                        read.map(|it| self.$field = it).is_some()
                    })*
                    _ => false,
                }
            }
        }
    };
}
pub(crate) use params;

/// The table of the parameters of a workload.
pub trait ParamTable {
    /// The name that the workload is selected by.
    fn name(&self) -> &'static str;
    /// One line about the workload.
    fn about(&self) -> &'static str;
    /// Its parameters.
    fn table(&self) -> &'static [Param];
    /// The value of a parameter; `None` if there is none of that name.
    fn get(&self, name: &str) -> Option<Value>;
    /// Changes a parameter. Returns false if there is none of that name, or it cannot have that value.
    fn set(&mut self, name: &str, value: &Value) -> bool;
}
