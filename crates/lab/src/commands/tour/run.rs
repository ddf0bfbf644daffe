//! The stops of the tour.

use super::args::TourArgs;
use super::guide::{Guide, Stop};
use super::report::Tour;
use super::{native, oversubscribed, sentences};
use crate::commands::bench::BenchDocument;
use lockwright_measure::error::Error;
use lockwright_measure::interrupt;
use lockwright_measure::native::NativeMachine;
use lockwright_measure::trial::{LabMachine, On, Settings};
use lockwright_measure::workload::Workload;
use lockwright_sheets::{DocumentArgs, Outputs, Progress, digits, percent, wrapped};
use lockwright_studies::reproduce::{self, Score, TableDocument};
use lockwright_studies::tables::SimulatedTable;
use std::cell::OnceCell;
use std::path::Path;
use std::process::ExitCode;

/// What the pictures are called.
const PICTURES: [&str; 7] = [
    "uncontended.svg",
    "counter.svg",
    "readers.svg",
    "readers_90.svg",
    "oversubscribed.svg",
    "guest_haswell_2s.svg",
    "locktorture_x5_4.svg",
];

/// Runs the tour.
pub fn run(args: &TourArgs) -> Result<ExitCode, Error> {
    let progress = args.progress;
    let outputs = Outputs::open(&args.documents, None)?;
    let pictures = open_pictures(&args.plot_dir)?;
    let [alone, contended, readers, mixed, oversubscribed, guest, published] = &pictures;
    let guide = Guide {
        talks: outputs.stdout_is_for_people(),
        writes: args.documents.json.is_some() || args.documents.csv.is_some(),
        silenced: OnceCell::new(),
        progress,
        seed: args.random.seed,
    };

    let native = NativeMachine::new(&Settings::default());
    let mut tour = Tour::new(native.on(Workload::counter(1, 0)));
    guide.say(&this_machine(&tour.on));
    let drawn = [alone, contended, readers, mixed, oversubscribed];
    let measured = here(&native, &guide, drawn)?;
    [tour.uncontended, tour.counter, tour.readers, tour.readers_90, tour.oversubscribed] = measured;
    progress.answer_interrupts();
    let [guest] = guide.visit([Stop {
        about: "6. Simulated: a guest with more vCPUs than its host has CPUs",
        measure: &|| oversubscribed::in_a_guest(&guide),
        tell: &sentences::oversubscribed,
        on: guest,
    }])?;
    tour.guest = guest;
    if !guide.is_over() {
        guide.say(
            "7. Simulated: a published table of a 4-socket machine, next to the simulation\n\n",
        );
        let table = published_table(args.random.seed, progress)?;
        let sentence = speedup(&table);
        tour.locktorture = Some(guide.show(table, sentence, published));
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

/// The stops on this computer.
fn here(
    native: &NativeMachine,
    guide: &Guide,
    [alone, contended, readers, mixed, oversubscribed]: [&Outputs; 5],
) -> Result<[Option<BenchDocument>; 5], Error> {
    guide.visit([
        Stop {
            about: "1. A lock/unlock pair of one thread",
            measure: &|| native::alone(native, guide),
            tell: &sentences::alone,
            on: alone,
        },
        Stop {
            about: "2. A mutex that several threads want",
            measure: &|| native::contended(native, guide),
            tell: &|document| sentences::against(document, &["mutex"]),
            on: contended,
        },
        Stop {
            about: "3. A reader-writer lock, all operations read",
            measure: &|| native::readers(native, guide),
            tell: &|document| sentences::against(document, &["rwlock", "percpu-rwlock"]),
            on: readers,
        },
        Stop {
            about: "4. A reader-writer lock, 90 % of the operations read",
            measure: &|| native::mixed(native, guide),
            tell: &|document| sentences::against(document, &["rwlock", "percpu-rwlock"]),
            on: mixed,
        },
        Stop {
            about: "5. More threads than CPUs: why a spinlock is the wrong choice for a program.\n\
                    Its waiters burn the CPU time that the owner needs; those of a mutex sleep.",
            measure: &|| oversubscribed::natively(native, guide),
            tell: &sentences::oversubscribed,
            on: oversubscribed,
        },
    ])
}

/// Makes the directory and proves that the pictures can be written.
fn open_pictures(directory: &Path) -> Result<[Outputs; PICTURES.len()], Error> {
    std::fs::create_dir_all(directory).map_err(|source| Error::output(directory, source))?;
    let open = |name| Outputs::open(&DocumentArgs::default(), Some(&directory.join(name)));
    let opened: Vec<Outputs> = PICTURES.into_iter().map(open).collect::<Result<_, _>>()?;
    opened.try_into().map_err(|_| unreachable!("there is one for each picture"))
}

fn this_machine(on: &On) -> String {
    let On::Native { machine, cpus, numa_nodes, kernel } = on else { return String::new() };
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    wrapped(&format!(
        "This machine: {machine}, {cpus} CPU{}, {numa_nodes} NUMA node{}, {kernel}\n\n",
        plural(*cpus),
        plural(*numa_nodes as usize)
    ))
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
