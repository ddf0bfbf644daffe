//! Completion scripts and manual pages, as clap's crates make them.

use crate::bench::WORKLOADS;
use crate::machines;
use clap::Args;
use clap::builder::PossibleValuesParser;
use clap_complete::Shell;
use lockwright_cells::error::Error;
use lockwright_cells::subject::Subject;
use lockwright_report::print;
use lockwright_repro::study::STUDIES;
use lockwright_repro::tables::TABLES;
use std::path::{Path, PathBuf};

/// Arguments of `completions`.
#[derive(Clone, Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL", value_enum)]
    pub shell: Shell,
}

/// Arguments of `man`.
#[derive(Clone, Debug, Args)]
pub struct ManArgs {
    /// Write a page for each command into this directory
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// Prints a completion script, in which options that take names complete to them.
pub fn completions(args: &CompletionsArgs) -> Result<(), Error> {
    let mut command = with_names(super::command());
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "lockwright", &mut script);
    print(&String::from_utf8_lossy(&script))
}

/// The command line, in which the names of locks, machines, workloads, tables and studies are values.
fn with_names(mut command: clap::Command) -> clap::Command {
    let named: Vec<(&str, Vec<String>)> = vec![
        ("lock", Subject::all().map(|lock| lock.name().into()).collect()),
        ("on", machines::all().into_iter().map(|machine| machine.name).collect()),
        ("workload", WORKLOADS.iter().map(|workload| workload.name.into()).collect()),
        ("table", TABLES.iter().map(|table| table.name.into()).collect()),
        ("study", STUDIES.iter().map(|study| study.name.into()).collect()),
        ("client", super::super::lists::client_names().map(String::from).collect()),
    ];
    for subcommand in command.get_subcommands_mut() {
        for (option, names) in &named {
            if subcommand.get_arguments().any(|argument| argument.get_id() == option) {
                let parser = PossibleValuesParser::new(names.clone());
                let inner = std::mem::take(subcommand);
                *subcommand = inner.mut_arg(option, |argument| argument.value_parser(parser));
            }
        }
    }
    command
}

/// Prints the manual page, or writes one for each command.
pub fn man(args: &ManArgs) -> Result<(), Error> {
    let command = super::command();
    match &args.out {
        None => print(&page(command, "lockwright")?),
        Some(directory) => write_pages(&command, directory),
    }
}

fn write_pages(command: &clap::Command, directory: &Path) -> Result<(), Error> {
    let cannot = |source| Error::output(directory, source);
    std::fs::create_dir_all(directory).map_err(cannot)?;
    let write = |command: clap::Command, name: &str| {
        let path = directory.join(format!("{name}.1"));
        let page = page(command, name)?;
        std::fs::write(&path, page).map_err(|source| Error::output(&path, source))
    };
    write(command.clone(), "lockwright")?;
    for subcommand in command.get_subcommands() {
        let name = format!("lockwright-{}", subcommand.get_name());
        write(subcommand.clone().name(name.clone()), &name)?;
    }
    Ok(())
}

/// A page. Examples stand where manual pages have them, at the end.
fn page(command: clap::Command, title: &str) -> Result<String, Error> {
    let examples = command.get_before_help().map(ToString::to_string);
    let command = match examples {
        Some(examples) => command.before_help("").after_help(examples),
        None => command,
    };
    let mut text = Vec::new();
    let rendered = clap_mangen::Man::new(command).title(title.to_uppercase()).render(&mut text);
    rendered.map_err(|source| Error::output("standard output", source))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
