//! Simulating the tables that were asked for.

use super::args::ReproduceArgs;
use crate::commands::lists;
use lockwright_measure::error::Error;
use lockwright_measure::interrupt;
use lockwright_measure::subject::{Selection, Subject};
use lockwright_sheets::{DocumentArgs, Outputs, Report, wrapped};
use lockwright_studies::records::Folder;
use lockwright_studies::reproduce::{ReproduceDocument, ReproduceEffort, TableDocument, simulate};
use lockwright_studies::tables::{SimulatedTable, TABLES};
use std::path::Path;
use std::process::ExitCode;

/// Runs the command.
pub fn run(args: &ReproduceArgs) -> Result<ExitCode, Error> {
    let progress = args.output.progress;
    if args.table.is_none() && !args.all {
        return lists::instead_of(&args.output, lists::tables);
    }
    let part = args.folder.shard.part()?;
    let tables = part.of(with_locks(args, asked(args)?)?, |table| table.rows.len() as u64);
    if tables.is_empty() {
        let why = "there are fewer tables than parts: use fewer parts in --shard, or say --all";
        return Err(Error::usage(why));
    }
    let outputs = args.output.open()?;
    let folder = args.folder.kept.open(part, progress)?;
    let effort = if args.quick { ReproduceEffort::Quick } else { ReproduceEffort::Full };
    progress.answer_interrupts();
    let mut document = ReproduceDocument::new(effort, args.random.seed, args.all);
    progress.expect(tables.iter().map(|table| table.rows.len()).sum());
    for table in tables {
        let reproduced = simulate(table, effort, args.random.seed, folder.as_ref(), progress)?;
        document.interrupted = interrupt::is_requested();
        if document.interrupted && reproduced.is_empty() {
            break;
        }
        let mut text = reproduced.text() + "\n";
        // The text for a mailing list has it already.
        if args.folder.quote && !reproduced.has_other_locks() {
            text += &(wrapped(&reproduced.quote()) + "\n");
        }
        document.tables.push(reproduced);
        outputs.keep_so_far(&document);
        outputs.tell(&document, &text)?;
        if let (Some(directory), Some(reproduced)) = (&args.plot_dir, document.tables.last()) {
            draw(reproduced, table, directory)?;
        }
        if document.interrupted {
            break;
        }
    }
    folder.map_or(Ok(()), Folder::finish)?;
    outputs.finish_documents(&document)?;
    outputs.tell(&document, &document.summary())?;
    if document.interrupted {
        progress.tell(&args.folder.interrupted());
        return Ok(ExitCode::from(interrupt::EXIT_CODE));
    }
    Ok(ExitCode::SUCCESS)
}

/// The tables, with the locks that were asked for.
fn with_locks(
    args: &ReproduceArgs,
    tables: Vec<&'static SimulatedTable>,
) -> Result<Vec<&'static SimulatedTable>, Error> {
    if args.lock.is_empty() {
        return Ok(tables);
    }
    if args.all {
        return Err(Error::usage("--lock is for one table: name it instead of --all"));
    }
    let locks = Selection::of(&args.lock)?.subjects;
    let locks: Vec<&'static str> = locks.iter().map(|asked| asked.subject.name()).collect();
    for lock in &locks {
        Subject::registered(lock).map_err(|_| {
            Error::usage(format!("`{lock}` cannot be simulated: leave it out of --lock"))
        })?;
    }
    tables.into_iter().map(|table| table.with_locks(&locks)).collect()
}

/// Draws a table, if all of it is there.
fn draw(reproduced: &TableDocument, table: &SimulatedTable, directory: &Path) -> Result<(), Error> {
    std::fs::create_dir_all(directory).map_err(|source| Error::output(directory, source))?;
    let plot = directory.join(format!("{}.svg", table.name));
    Outputs::open(&DocumentArgs::default(), Some(&plot))?.keep(reproduced)
}

/// The tables that were asked for.
fn asked(args: &ReproduceArgs) -> Result<Vec<&'static SimulatedTable>, Error> {
    match (&args.table, args.all) {
        (None, true) if args.output.plot.is_some() => Err(Error::usage(
            "--plot draws one table: name it instead of --all, or say --plot-dir DIR",
        )),
        (None, true) => Ok(TABLES.to_vec()),
        (Some(_), true) => Err(Error::usage("name a table or say --all, not both")),
        (Some(name), false) => {
            // People have the file in front of them.
            let stem = name.trim_end_matches(".csv");
            let stem = stem.rsplit('/').next().unwrap_or(stem);
            let found = SimulatedTable::named(stem).ok_or_else(|| {
                let names = TABLES.iter().map(|table| table.name);
                Error::unknown("table", name, names, "lockwright tables")
            });
            Ok(vec![found?])
        }
        (None, false) => Ok(Vec::new()),
    }
}
