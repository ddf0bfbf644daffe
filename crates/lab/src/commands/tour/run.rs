//! From stop to stop.

use super::stops::STOPS;
use crate::options::SeedArgs;
use clap::Args;
use lockwright_measure::error::Error;
use lockwright_measure::interrupt;
use lockwright_measure::native::NativeMachine;
use lockwright_measure::trial::{LabMachine, On, Settings};
use lockwright_measure::workload::Workload;
use lockwright_sheets::{
    DocumentArgs, Grid, Outputs, Progress, Report, digits, percent, plural, print, to_json, wrapped,
};
use lockwright_studies::reproduce::{self, Score, TableDocument};
use lockwright_studies::tables::SimulatedTable;
use serde_json::{Map, Value, json};
use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Arguments of `tour`.
#[derive(Clone, Debug, Args)]
#[command(mut_arg("csv", |csv| csv.help("Write the simulated table as CSV; - is standard output")))]
pub struct TourArgs {
    /// Write the pictures into this directory
    #[arg(long, alias = "plots", value_name = "DIR", default_value = "plots")]
    plot_dir: PathBuf,
    /// Where results go.
    #[command(flatten)]
    documents: DocumentArgs,
    /// The seed.
    #[command(flatten)]
    random: SeedArgs,
    /// What is said meanwhile.
    #[command(flatten)]
    progress: Progress,
}

/// `lockwright.tour/1`: what each stop measured, by its key.
struct Tour {
    document: Map<String, Value>,
    table: Option<TableDocument>,
}

impl Report for Tour {
    /// The tour tells people what it sees as it goes.
    fn text(&self) -> String {
        String::new()
    }
    fn json(&self) -> String {
        to_json(&self.document)
    }
    fn grid(&self) -> Grid {
        self.table.as_ref().map(TableDocument::grid).unwrap_or_default()
    }
}

/// Tells people what there is to see, unless a document goes where they would read it.
struct Guide {
    talks: bool,
    /// A document is written as well, for which the tour goes on without a reader.
    writes: bool,
    /// Why standard output takes no more.
    silenced: OnceCell<Error>,
}

impl Guide {
    fn say(&self, text: &str) {
        if self.talks && self.silenced.get().is_none() {
            // It was empty.
            let _ = print(text).map_err(|error| self.silenced.set(error));
        }
    }
    /// True if no stop follows.
    fn is_over(&self) -> bool {
        interrupt::is_requested() || self.silenced.get().is_some() && !self.writes
    }
    /// Tells and draws a report, and says in a sentence what it shows.
    fn show(&self, report: &dyn Report, sentence: Option<String>, picture: &Outputs) {
        picture.keep_so_far(report);
        let sentence = sentence.map(|sentence| format!("\n{}", wrapped(&sentence)));
        self.say(&(report.brief() + &sentence.unwrap_or_default() + "\n"));
    }
}

/// Runs the tour.
pub fn run(args: &TourArgs) -> Result<ExitCode, Error> {
    let (progress, seed) = (args.progress, args.random.seed);
    let outputs = Outputs::open(&args.documents, None)?;
    let pictures = open_pictures(&args.plot_dir)?;
    let guide = Guide {
        talks: outputs.stdout_is_for_people(),
        writes: args.documents.json.is_some() || args.documents.csv.is_some(),
        silenced: OnceCell::new(),
    };
    let on = NativeMachine::new(&Settings::default()).on(Workload::counter(1, 0));
    guide.say(&this_machine(&on));
    let keys = STOPS.iter().map(|stop| stop.key).chain([TABLE]);
    let known = [("schema", json!("lockwright.tour/1")), ("on", json!(on))];
    let document = known.into_iter().chain(keys.map(|key| (key, Value::Null)));
    let document = document.map(|(key, value)| (key.into(), value)).collect();
    let mut tour = Tour { document, table: None };
    for (stop, picture) in STOPS.iter().zip(&pictures) {
        if guide.is_over() {
            break;
        }
        guide.say(&format!("{}\n\n", stop.about));
        let measured = stop.measure(seed, progress)?;
        guide.show(&measured, (stop.tell)(&measured), picture);
        tour.document[stop.key] = json!(measured);
    }
    if !guide.is_over() {
        guide.say(
            "7. Simulated: a published table of a 4-socket machine, next to the simulation\n\n",
        );
        let table = published_table(seed, progress)?;
        guide.show(&table, speedup(&table), &pictures[STOPS.len()]);
        tour.document[TABLE] = json!(table);
        tour.table = Some(table);
    }
    outputs.finish_documents(&tour)?;
    if pictures.iter().any(Outputs::is_behind) {
        return Err(Error::usage(
            "a picture could not be written: name another folder with --plot-dir",
        ));
    }
    if interrupt::is_requested() {
        return Ok(ExitCode::from(interrupt::EXIT_CODE));
    }
    guide.say(&closing_words(&args.plot_dir));
    guide.silenced.into_inner().map_or(Ok(ExitCode::SUCCESS), Err)
}

/// The key of the table in the document.
const TABLE: &str = "locktorture";

/// Makes the directory and proves that the pictures can be written.
fn open_pictures(directory: &Path) -> Result<Vec<Outputs>, Error> {
    std::fs::create_dir_all(directory).map_err(|source| Error::output(directory, source))?;
    let open = |name| Outputs::open(&DocumentArgs::default(), Some(&directory.join(name)));
    STOPS.iter().map(|stop| stop.picture).chain(["locktorture_x5_4.svg"]).map(open).collect()
}

fn this_machine(on: &On) -> String {
    let On::Native { machine, cpus, numa_nodes, kernel } = on else { return String::new() };
    let (cpus, nodes) = (plural(*cpus as u64, "CPU"), plural((*numa_nodes).into(), "NUMA node"));
    wrapped(&format!("This machine: {machine}, {cpus}, {nodes}, {kernel}\n\n"))
}

/// The table that the README shows.
const PUBLISHED: &str = "cna_v10_locktorture_x5_4";

/// A published table, simulated.
fn published_table(seed: u64, progress: Progress) -> Result<TableDocument, Error> {
    let table = SimulatedTable::named(PUBLISHED)
        .ok_or_else(|| Error::Machine(format!("there is no table `{PUBLISHED}`")))?;
    reproduce::simulate(table, reproduce::ReproduceEffort::Quick, seed, None, progress)
}

/// What it shows: its last row, and how far it is off.
fn speedup(table: &TableDocument) -> Option<String> {
    let (threads, speedup) = table.last("speedup_patch_cna_over_stock")?;
    let scores = table.scores();
    let error = |score: Option<Score>| Some(percent(score?.rms_percent));
    Some(format!(
        "With {threads} threads CNA does {} times as much as FIFO on the simulated machine, and {} times in \
         the published table. The column that the machine was fitted to is off by {}; the one that was \
         predicted, by {} (root mean square).",
        digits(speedup.simulated),
        digits(speedup.published?),
        error(scores.baseline)?,
        error(scores.predicted)?
    ))
}

fn closing_words(plots: &Path) -> String {
    format!(
        "Pictures of all this are in {}.\n\nWhere to go on:\n\
         \x20 lockwright compare --quick                           all peers, 5 minutes\n\
         \x20 lockwright bench --lock mutex,std --threads 1,2,4    measure what you choose\n\
         \x20 lockwright bench --on x5-4 --workload locktorture    another machine\n\
         \x20 lockwright torture --lock mutex                      try to break a lock\n\
         \x20 lockwright explore --lock busted --client exclusion  find a bug\n\
         \x20 lockwright reproduce --all --quick                   other published tables\n",
        plots.display()
    )
}
