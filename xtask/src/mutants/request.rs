//! What `weaken` and `zoo` are asked for.

use crate::options::not_an_option;
use crate::output::Place;
use crate::record;

/// The options that are given.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// Only mutants at this place, or this bug.
    pub only: Option<String>,
    /// Only mutants of this checker.
    pub checker: Option<String>,
    /// Where the document goes.
    pub json: Place,
    /// All checks of each mutant, and not only up to the first kill.
    pub matrix: bool,
    /// Wider bounds.
    pub full: bool,
    /// Only mutants without an argument: one that survives as argued takes as long as many that are killed.
    pub unargued: bool,
    /// Only mutants that are due by the record, which is not written.
    pub changed: bool,
}

impl Request {
    /// Reads the arguments behind the command that has these options. `example` is a value of `--only`.
    pub fn of(options: &str, example: &str, arguments: &[&str]) -> Result<Self, String> {
        let mut request = Self::default();
        let mut arguments = arguments.iter();
        let is_known = |name: &str| options.split(['[', ']', ' ']).any(|known| known == name);
        while let Some(argument) = arguments.next() {
            let mut value = |such_as: &str| {
                let value = arguments.next().map(ToString::to_string);
                value.ok_or_else(|| format!("`{argument}` needs a value, such as `{such_as}`"))
            };
            match *argument {
                other if !is_known(other) => return Err(not_an_option(other, options)),
                "--only" => request.only = Some(value(&format!("--only {example}"))?),
                "--json" => request.json = Some(value("--json FILE")?),
                "--checker" => match value("--checker loom")? {
                    name if name == "loom" || name == "miri" => request.checker = Some(name),
                    _ => return Err("`--checker` needs loom or miri".into()),
                },
                "--matrix" => request.matrix = true,
                "--full" => request.full = true,
                "--new" => request.unargued = true,
                record::OPTION => request.changed = true,
                other => return Err(not_an_option(other, options)),
            }
        }
        Ok(request)
    }
    /// The name of the bounds.
    pub fn bounds(&self) -> &'static str {
        if self.full { "full" } else { "quick" }
    }
}
