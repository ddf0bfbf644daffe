//! What there is: locks, machines, workloads, events.

use crate::bench::WORKLOADS;
use crate::cli::{ListArgs, OutputArgs};
use crate::error::Error;
use crate::machines;
use crate::native::peers::order_of;
use crate::report::{self, Chart, Grid, Outputs, Report};
use crate::subject::{Origin, Subject};
use lockwright::events::Event;
use lockwright::raw::Order;
use serde::Serialize;
use serde_json::{Map, Value};

/// A list of things with names.
struct List {
    schema: &'static str,
    grid: Grid,
}

#[derive(Serialize)]
struct ListDocument<'a> {
    schema: &'a str,
    items: Vec<Map<String, Value>>,
}

impl Report for List {
    fn text(&self) -> String {
        report::text_table(&self.grid, self.grid.header.len())
    }
    fn json(&self) -> String {
        let item = |row: &Vec<String>| {
            let cells = self.grid.header.iter().cloned().zip(row.iter().cloned().map(Value::from));
            cells.collect()
        };
        let items = self.grid.rows.iter().map(item).collect();
        report::to_json(&ListDocument { schema: self.schema, items })
    }
    fn grid(&self) -> Grid {
        self.grid.clone()
    }
    fn chart(&self) -> Option<Chart> {
        None
    }
}

/// `lockwright locks`.
pub fn locks(args: &ListArgs) -> Result<(), Error> {
    let mut grid = Grid::new(["name", "aliases", "kind", "order", "runs on", "is"]);
    for subject in Subject::all() {
        grid.push([
            subject.name().into(),
            subject.row.aliases.join(", "),
            subject.kind().into(),
            order(subject).into(),
            subject.worlds().into(),
            subject.row.models.into(),
        ]);
    }
    write(args, List { schema: "lockwright.locks/1", grid })
}

/// The order in which a lock serves its waiters, in words.
fn order(subject: Subject) -> &'static str {
    match (subject.origin, order_of(subject)) {
        (Origin::Floor, _) | (_, Order::Broken) => "-",
        (_, Order::Fifo) => "first come, first served",
        (_, Order::FifoAfterPending) => "first come, first served after one",
        (_, Order::Grouped) => "by NUMA node, bounded",
        (_, Order::None) => "any",
    }
}

/// `lockwright machines`.
pub fn machines(args: &ListArgs) -> Result<(), Error> {
    let mut grid = Grid::new(["name", "kind", "CPUs", "NUMA nodes", "is"]);
    for machine in machines::all() {
        grid.push([
            machine.name,
            machine.kind.into(),
            machine.cpus.to_string(),
            machine.numa_nodes.to_string(),
            machine.description,
        ]);
    }
    write(args, List { schema: "lockwright.machines/1", grid })
}

/// `lockwright workloads`.
pub fn workloads(args: &ListArgs) -> Result<(), Error> {
    let mut grid = Grid::new(["name", "knobs", "is"]);
    for &(name, knobs, is) in WORKLOADS {
        grid.push([name.into(), knobs.into(), is.into()]);
    }
    write(args, List { schema: "lockwright.workloads/1", grid })
}

/// `lockwright events`.
pub fn events(args: &ListArgs) -> Result<(), Error> {
    let mut grid = Grid::new(["name", "counts"]);
    for event in Event::ALL {
        grid.push([event.name().into(), event.describe().into()]);
    }
    write(args, List { schema: "lockwright.events/1", grid })
}

fn write(args: &ListArgs, list: List) -> Result<(), Error> {
    let ListArgs { json, csv } = args.clone();
    Outputs::open(&OutputArgs { json, csv, ..OutputArgs::default() })?.finish(&list)
}
