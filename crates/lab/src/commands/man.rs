//! `lockwright man`: the manual pages, as clap's crate makes them.

use clap::Args;
use lockwright_measure::error::Error;
use lockwright_sheets::print;
use std::path::{Path, PathBuf};

/// Arguments of `man`.
#[derive(Clone, Debug, Args)]
pub struct ManArgs {
    /// Write a page for each command into this directory
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Prints the manual page, or writes one for each command.
pub fn run(args: &ManArgs, command: clap::Command) -> Result<(), Error> {
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
fn page(mut command: clap::Command, title: &str) -> Result<String, Error> {
    if let Some(examples) = command.get_before_help().cloned() {
        command = command.before_help("").after_help(examples);
    }
    let mut text = Vec::new();
    let rendered = clap_mangen::Man::new(command).title(title.to_uppercase()).render(&mut text);
    rendered.map_err(|source| Error::output("standard output", source))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
