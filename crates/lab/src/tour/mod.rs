//! The tour: this machine, comparisons with the peers, with and without enough CPUs, and machines
//! nobody here owns. Under a minute on two cores.

mod crowds;
mod sentences;

use crate::bench::{BenchDocument, note_foreign_load};
use crate::cell::{LabMachine, On, Settings, Workload};
use crate::cli::{OutputArgs, TourArgs};
use crate::crew::Crew;
use crate::error::Error;
use crate::interrupt;
use crate::native::{ForeignLoad, NativeMachine};
use crate::report::{self, Chart, Grid, Outputs, Progress, Report, print};
use crate::reproduce::{self, TableDocument};
use crate::tables::Table;
use crowds::Plan;
use serde::Serialize;
use std::path::Path;
use std::process::ExitCode;

/// What the pictures are called.
const PICTURES: [&str; 5] = [
    "uncontended.svg",
    "counter.svg",
    "oversubscribed.svg",
    "guest_haswell_2s.svg",
    "locktorture_x5_4.svg",
];

/// `lockwright.tour/1`.
#[derive(Debug, Serialize)]
struct Tour {
    schema: &'static str,
    on: On,
    uncontended: Option<BenchDocument>,
    counter: Option<BenchDocument>,
    oversubscribed: Option<BenchDocument>,
    guest: Option<BenchDocument>,
    locktorture: Option<TableDocument>,
}

impl Tour {
    /// A tour that has seen nothing yet.
    fn new(on: On) -> Self {
        Self {
            schema: "lockwright.tour/1",
            on,
            uncontended: None,
            counter: None,
            oversubscribed: None,
            guest: None,
            locktorture: None,
        }
    }
}

impl Report for Tour {
    /// The tour tells people what it sees as it goes.
    fn text(&self) -> String {
        String::new()
    }
    fn json(&self) -> String {
        report::to_json(self)
    }
    fn grid(&self) -> Grid {
        self.locktorture.as_ref().map(TableDocument::grid).unwrap_or_default()
    }
    fn chart(&self) -> Option<Chart> {
        None
    }
}

/// Runs the tour.
pub fn run(args: &TourArgs) -> Result<ExitCode, Error> {
    let progress = Progress::new(args.quiet);
    let outputs = Outputs::open(&OutputArgs {
        json: args.json.clone(),
        csv: args.csv.clone(),
        ..OutputArgs::default()
    })?;
    let [alone, company, crowd, guest, published] = open_pictures(&args.plots)?;
    let guide = Guide { talks: outputs.stdout_is_for_people(), progress, seed: args.seed };

    let native = NativeMachine::new(&Settings::default());
    let mut tour = Tour::new(native.on(Workload::Uncontended));
    guide.say(&this_machine(&tour.on))?;
    let foreign = ForeignLoad::watch();
    let here = [
        Stop { measure: &|| compare_alone(&native, &guide), tell: &sentences::alone, on: &alone },
        Stop {
            measure: &|| compare_in_company(&native, &guide),
            tell: &sentences::in_company,
            on: &company,
        },
        Stop {
            measure: &|| crowds::natively(&native, &guide),
            tell: &sentences::crowded,
            on: &crowd,
        },
    ];
    [tour.uncontended, tour.counter, tour.oversubscribed] = guide.visit(here)?;
    note_foreign_load(foreign.percent(), progress);
    progress.answer_interrupts();
    let [guest] = guide.visit([Stop {
        measure: &|| crowds::in_a_guest(&guide),
        tell: &sentences::crowded,
        on: &guest,
    }])?;
    tour.guest = guest;
    if !interrupt::is_requested() {
        let table = published_table(args.seed, progress)?;
        let sentence = speedup(&table);
        tour.locktorture = Some(guide.show(table, sentence, &published)?);
    }
    outputs.finish_documents(&tour)?;
    if interrupt::is_requested() {
        return Ok(ExitCode::from(interrupt::EXIT_CODE));
    }
    guide.say(&closing_words(&args.plots))?;
    Ok(ExitCode::SUCCESS)
}

/// A picture of a benchmark.
struct Stop<'a> {
    measure: &'a dyn Fn() -> Result<BenchDocument, Error>,
    /// What the picture shows.
    tell: &'a dyn Fn(&BenchDocument) -> Option<String>,
    /// Where it is drawn.
    on: &'a Outputs,
}

/// Makes the directory and proves that the pictures can be written.
fn open_pictures(directory: &Path) -> Result<[Outputs; PICTURES.len()], Error> {
    std::fs::create_dir_all(directory).map_err(|source| Error::output(directory, source))?;
    let open = |name| {
        let plot = Some(directory.join(name));
        Outputs::open(&OutputArgs { plot, ..OutputArgs::default() })
    };
    let [alone, company, crowd, guest, published] = PICTURES.map(open);
    Ok([alone?, company?, crowd?, guest?, published?])
}

/// Tells people what there is to see, unless a document goes where they would read it.
struct Guide {
    talks: bool,
    progress: Progress,
    seed: u64,
}

impl Guide {
    fn say(&self, text: &str) -> Result<(), Error> {
        if self.talks { print(text) } else { Ok(()) }
    }
    /// Tells and draws a report, says in a sentence what it shows, and returns it.
    fn show<R: Report>(
        &self,
        report: R,
        sentence: Option<String>,
        picture: &Outputs,
    ) -> Result<R, Error> {
        picture.keep(&report)?;
        let sentence = sentence.map_or(String::new(), |sentence| sentence + "\n");
        self.say(&(report.text() + &sentence + "\n"))?;
        Ok(report)
    }
    /// One stop after the other, until Ctrl-C.
    fn visit<const N: usize>(
        &self,
        stops: [Stop<'_>; N],
    ) -> Result<[Option<BenchDocument>; N], Error> {
        let mut seen = [const { None }; N];
        for (stop, seen) in stops.into_iter().zip(&mut seen) {
            if interrupt::is_requested() {
                break;
            }
            let document = (stop.measure)()?;
            let sentence = (stop.tell)(&document);
            *seen = Some(self.show(document, sentence, stop.on)?);
        }
        Ok(seen)
    }
}

fn this_machine(on: &On) -> String {
    let On::Native { machine, cpus, numa_nodes, kernel } = on else { return String::new() };
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    format!(
        "This machine: {machine}, {cpus} CPU{}, {numa_nodes} NUMA node{}, {kernel}\n\n",
        plural(*cpus),
        plural(*numa_nodes as usize)
    )
}

/// What a lock costs when nobody wants it.
fn compare_alone(native: &dyn LabMachine, guide: &Guide) -> Result<BenchDocument, Error> {
    let locks = "floor,qspinlock,cna,ticket,mcs,std,parking_lot,pthread,pthread-spin";
    bench(native, Workload::Uncontended, locks, &[1], 50_000_000, guide)
}

/// What it is worth when somebody does.
fn compare_in_company(native: &dyn LabMachine, guide: &Guide) -> Result<BenchDocument, Error> {
    let locks = "qspinlock,cna,unfair-backoff,ticket,mcs,std,parking_lot,pthread,pthread-spin";
    let workload = Workload::counter(1, 4);
    let threads = [1, native.cpus()];
    let threads = if native.cpus() > 1 { &threads[..] } else { &threads[..1] };
    bench(native, workload, locks, threads, 80_000_000, guide)
}

/// The table that the README shows.
const PUBLISHED: &str = "cna_v10_locktorture_x5_4";

/// A published table, simulated.
fn published_table(seed: u64, progress: Progress) -> Result<TableDocument, Error> {
    let table = Table::named(PUBLISHED)
        .ok_or_else(|| Error::Machine(format!("there is no table `{PUBLISHED}`")))?;
    reproduce::simulate(table, reproduce::Effort::Quick, seed, progress)
}

/// What it shows, made of its last row.
fn speedup(table: &TableDocument) -> Option<String> {
    let (threads, speedup) = table.last("speedup_patch_cna_over_stock")?;
    Some(format!(
        "With {threads} threads CNA does {:.2} times as much as FIFO on the simulated machine, and {:.2} \
         times in the published table.",
        speedup.simulated, speedup.published?
    ))
}

fn bench(
    machine: &dyn LabMachine,
    workload: Workload,
    locks: &str,
    threads: &[usize],
    window_ns: u64,
    guide: &Guide,
) -> Result<BenchDocument, Error> {
    let crew = Crew::of_threads(machine, workload, threads)?;
    Plan { workload, locks, runs: 5, window_ns, seed: guide.seed }.run(machine, crew, guide)
}

fn closing_words(plots: &Path) -> String {
    let mut text = String::from("Pictures:\n");
    for name in PICTURES {
        text += &format!("  {}\n", plots.join(name).display());
    }
    text + "\nWhere to go on:\n  \
        lockwright locks                                    what there is\n  \
        lockwright bench --lock qspinlock,std               measure\n  \
        lockwright bench --on x5-4 --workload locktorture   the same command on another machine\n  \
        lockwright bench --on haswell-2s --vcpus 36,72      in a guest of one\n  \
        lockwright torture                                  try to break them\n  \
        lockwright explore --lock cna                       in as many orders, simulated\n  \
        lockwright reproduce --all --quick                  published tables, simulated\n"
}
