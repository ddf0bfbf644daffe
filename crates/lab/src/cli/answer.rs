//! Answers instead of a command: help, the version, or what is wrong with the arguments.

use clap::error::{ContextKind, ErrorKind};
use lockwright_measure::error::Error;
use lockwright_sim::machine::Machine;
use std::io::Write;
use std::process::ExitCode;

/// Prints the help text or the version that `error` is, unless it says what is wrong with `typed`, the command line.
pub fn answer(error: &clap::Error, typed: impl Iterator<Item = String>) -> Result<ExitCode, Error> {
    if error.use_stderr() {
        return Err(Error::Usage(one_line(error, typed)));
    }
    let printed = error.print().and_then(|()| std::io::stdout().flush());
    printed.map_err(|source| Error::output("standard output", source))?;
    Ok(ExitCode::SUCCESS)
}

/// What clap has to say about arguments it cannot read, on one line that ends with where to look.
fn one_line(error: &clap::Error, typed: impl Iterator<Item = String>) -> String {
    let rendered = error.render().to_string();
    let told = rendered.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:"));
    let mut line = String::new();
    for part in told.filter(|part| !part.is_empty() && !part.starts_with("For more")) {
        line += if part.starts_with("tip:") { "; " } else { " " };
        line += part;
    }
    let wrong = |kind| error.get(kind).map(ToString::to_string).unwrap_or_default();
    let name = wrong(ContextKind::InvalidSubcommand);
    if Machine::builtin_names().any(|machine| machine == name) {
        return format!("`{name}` is a machine: write `lockwright machines show {name}`");
    }
    if ["study", "studies"].contains(&&*name) {
        return "a study is a question: write `lockwright sweep docs/studies/NAME.toml`".into();
    }
    let path = command(typed);
    if let Some(advice) = inapplicable(&path, &wrong(ContextKind::InvalidArg)) {
        return advice.into();
    }
    // A refusal of a value says already what to type.
    let has_advice = error.kind() == ErrorKind::ValueValidation || line.contains("tip:");
    if !has_advice {
        line += &format!("; see `{path} --help`");
    }
    // What was typed may contain anything.
    let clean: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    clean.trim().trim_start_matches("error: ").to_string()
}

/// What to do about an option that this command does not have.
fn inapplicable(path: &str, option: &str) -> Option<&'static str> {
    let option = option.split([' ', '=']).next().unwrap_or(option);
    match (path, option) {
        (_, "--list") => Some(
            "there is no --list: write `lockwright locks`, or another list of `lockwright --help`",
        ),
        ("lockwright reproduce", "--on") => Some("a table has its own machine: leave out --on"),
        _ => None,
    }
}

/// The command that was meant, as far as it is one.
fn command(typed: impl Iterator<Item = String>) -> String {
    let mut of = super::command();
    let mut path = String::from("lockwright");
    for word in typed.take_while(|word| !word.starts_with('-')) {
        let Some(next) = of.find_subcommand(&word) else { break };
        path += &format!(" {word}");
        of = next.clone();
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::Parser;

    fn said(typed: &str) -> String {
        let words = || typed.split(' ').map(String::from);
        let line = std::iter::once("lockwright".to_string()).chain(words());
        one_line(&Cli::try_parse_from(line).expect_err("bad input"), words())
    }

    #[test]
    fn what_clap_says_fits_on_one_line() {
        for line in ["benhc", "bench --threads two", "bench --list", "machines x5-4"] {
            let text = said(line);
            assert!(!text.contains('\n') && !text.starts_with("error"), "{text}");
        }
    }

    #[test]
    fn an_error_without_advice_ends_with_the_command_that_helps() {
        assert!(said("bench --xyzzy").ends_with("see `lockwright bench --help`"));
        assert!(said("machines x5").ends_with("see `lockwright machines --help`"));
        assert!(said("machines x5-4").ends_with("write `lockwright machines show x5-4`"));
        let table = "reproduce cna_v10_locktorture_x5_4 --on x5-4";
        assert_eq!(said(table), "a table has its own machine: leave out --on");
        assert!(said("study cna-threshold").contains("lockwright sweep docs/studies/"));
        assert!(said("bench --list").contains("write `lockwright locks`"));
        assert!(said("xyz").ends_with("see `lockwright --help`"), "{}", said("xyz"));
        assert!(said("bench --threads two").ends_with("such as 1,2,4"));
    }
}
