//! The tour: this machine, a comparison with the peers, and a machine nobody here owns. Under a
//! minute on two cores.

mod published_table;

use crate::bench::{BenchDocument, Schedule, note_foreign_load};
use crate::cell::{LabMachine, On, Settings, Workload};
use crate::cli::{OutputArgs, TourArgs};
use crate::crew::Crew;
use crate::error::Error;
use crate::interrupt;
use crate::native::{ForeignLoad, NativeMachine};
use crate::plan::Matrix;
use crate::report::{self, Chart, Grid, Outputs, Progress, Report, print};
use published_table::PublishedTable;
use serde::Serialize;
use std::path::Path;
use std::process::ExitCode;

/// What the pictures are called.
const PICTURES: [&str; 3] = ["uncontended.svg", "counter.svg", "locktorture_x5_4.svg"];

/// `lockwright.tour/1`.
#[derive(Debug, Serialize)]
struct Tour {
    schema: &'static str,
    on: On,
    uncontended: Option<BenchDocument>,
    counter: Option<BenchDocument>,
    locktorture: Option<PublishedTable>,
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
        self.locktorture.as_ref().map(PublishedTable::grid).unwrap_or_default()
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
    let [alone, company, published] = open_pictures(&args.plots)?;
    let guide = Guide { talks: outputs.stdout_is_for_people(), progress, seed: args.seed };

    let native = NativeMachine::new(&Settings::default());
    let mut tour = Tour {
        schema: "lockwright.tour/1",
        on: native.on(Workload::Uncontended),
        uncontended: None,
        counter: None,
        locktorture: None,
    };
    guide.say(&this_machine(&tour.on))?;
    let foreign = ForeignLoad::watch();
    tour.uncontended = Some(guide.show(compare_alone(&native, &guide)?, &alone)?);
    if !interrupt::is_requested() {
        tour.counter = Some(guide.show(compare_in_company(&native, &guide)?, &company)?);
    }
    note_foreign_load(foreign.percent(), progress);
    if !interrupt::is_requested() {
        progress.answer_interrupts();
        let table = PublishedTable::simulate(args.seed, progress)?;
        tour.locktorture = Some(guide.show(table, &published)?);
    }
    outputs.finish_documents(&tour)?;
    if interrupt::is_requested() {
        return Ok(ExitCode::from(interrupt::EXIT_CODE));
    }
    guide.say(&closing_words(&args.plots))?;
    Ok(ExitCode::SUCCESS)
}

/// Makes the directory and proves that the pictures can be written.
fn open_pictures(directory: &Path) -> Result<[Outputs; 3], Error> {
    std::fs::create_dir_all(directory).map_err(|source| Error::output(directory, source))?;
    let open = |name| {
        let plot = Some(directory.join(name));
        Outputs::open(&OutputArgs { plot, ..OutputArgs::default() })
    };
    let [alone, company, published] = PICTURES.map(open);
    Ok([alone?, company?, published?])
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
    /// Tells and draws a report, and returns it.
    fn show<R: Report>(&self, report: R, picture: &Outputs) -> Result<R, Error> {
        picture.keep(&report)?;
        self.say(&(report.text() + "\n"))?;
        Ok(report)
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
    let workload = Workload::Counter { cs_load: 1, think_load: 4 };
    let threads = [1, native.cpus()];
    let threads = if native.cpus() > 1 { &threads[..] } else { &threads[..1] };
    bench(native, workload, locks, threads, 80_000_000, guide)
}

fn bench(
    machine: &dyn LabMachine,
    workload: Workload,
    locks: &str,
    threads: &[usize],
    window_ns: u64,
    guide: &Guide,
) -> Result<BenchDocument, Error> {
    let locks: Vec<String> = locks.split(',').map(String::from).collect();
    let schedule = Schedule {
        matrix: Matrix::new(
            machine,
            workload,
            &locks,
            Crew::of_threads(machine, workload, threads)?,
        )?,
        workload,
        runs: 5,
        window_ns,
        seed: guide.seed,
        one_at_a_time: false,
    };
    let mut document = BenchDocument::new(&schedule, machine, &Settings::default());
    schedule.run(machine, guide.progress, &mut |sample| {
        document.add(sample);
        Ok(())
    })?;
    document.verdict().map(|()| document)
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
        lockwright torture                                  try to break them\n  \
        lockwright explore --lock cna                       in as many orders, simulated\n"
}
