//! The files that rules look at, and what they find.

use super::code::Code;
use std::sync::OnceLock;

/// A file of the repository.
#[derive(Clone)]
pub struct Source {
    /// Its path from the root, with `/`.
    pub path: String,
    /// Its text.
    pub text: String,
    code: OnceLock<Code>,
}

impl Source {
    /// The file at `path` with this text.
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self { path: path.into(), text: text.into(), code: OnceLock::new() }
    }
    /// For Rust: the text taken apart.
    pub fn code(&self) -> &Code {
        let code = || if self.is_rust() { Code::of(&self.text) } else { Code::default() };
        self.code.get_or_init(code)
    }
    /// True if it is Rust.
    pub fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }
    /// An error in this line.
    pub fn finding(&self, line: usize, message: impl Into<String>) -> Finding {
        let message = message.into();
        Finding { path: self.path.clone(), line, message, is_warning: false }
    }
    /// A warning about this line.
    pub fn warning(&self, line: usize, message: impl Into<String>) -> Finding {
        Finding { is_warning: true, ..self.finding(line, message) }
    }
}

/// Something a rule does not like.
#[derive(Debug, PartialEq, Eq)]
pub struct Finding {
    pub path: String,
    /// Counted from 1.
    pub line: usize,
    pub message: String,
    /// Printed, but not red.
    pub is_warning: bool,
}
