//! What there is: locks, machines, workloads, events.

use crate::bench::{self, WORKLOADS};
use crate::cli::{ListArgs, OutputArgs};
use crate::error::Error;
use crate::machines::{self, Listed};
use crate::native::peers::order_of;
use crate::report::{self, Chart, Grid, Outputs, Report};
use crate::subject::{Origin, Subject};
use lockwright::events::Event;
use lockwright::raw::Order;
use serde::Serialize;
use serde_json::{Map, Value};

/// A list of things with names. A column has a title for people, if it is for them, and a key for
/// documents.
struct List<const N: usize> {
    schema: &'static str,
    columns: [(&'static str, &'static str); N],
    items: Vec<[Value; N]>,
    /// For people: instead of a line for each of the last ones, some words.
    rest: Option<Rest>,
}

/// Items that people can tell from others.
struct Rest {
    count: usize,
    words: String,
}

#[derive(Serialize)]
struct ListDocument<'a> {
    schema: &'a str,
    items: Vec<Map<String, Value>>,
}

/// A value in a cell of a table.
fn in_words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(in_words).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

impl<const N: usize> Report for List<N> {
    fn text(&self) -> String {
        let mut rows = self.grid().rows;
        let rest = self.rest.as_ref();
        rows.truncate(rows.len() - rest.map_or(0, |rest| rest.count));
        let for_people = |row: Vec<String>| {
            let cells = row.into_iter().zip(self.columns);
            cells.filter_map(|(cell, (title, _))| (!title.is_empty()).then_some(cell)).collect()
        };
        let titles = self.columns.iter().map(|(title, _)| (*title).into()).collect();
        let rows = rows.into_iter().map(for_people).collect();
        let table = report::text_table(&Grid { header: for_people(titles), rows }, N);
        table + rest.map_or("", |rest| &rest.words)
    }
    fn json(&self) -> String {
        let keys = || self.columns.iter().map(|(_, key)| (*key).to_string());
        let items = self.items.iter().map(|item| keys().zip(item.iter().cloned()).collect());
        report::to_json(&ListDocument { schema: self.schema, items: items.collect() })
    }
    fn grid(&self) -> Grid {
        let mut grid = Grid::new(self.columns.map(|(_, key)| key));
        self.items.iter().for_each(|item| grid.push(item.each_ref().map(in_words)));
        grid
    }
    fn chart(&self) -> Option<Chart> {
        None
    }
}

/// `lockwright locks`.
pub fn locks(args: &ListArgs) -> Result<(), Error> {
    let columns = [
        ("name", "name"),
        ("aliases", "aliases"),
        ("kind", "kind"),
        ("order", "order"),
        ("runs on", "runs_on"),
        ("is", "is"),
    ];
    let item = |subject: Subject| {
        [
            subject.name().into(),
            subject.row.aliases.into(),
            subject.kind().into(),
            order(subject).into(),
            subject.worlds().into(),
            subject.row.models.into(),
        ]
    };
    let (combinations, others): (Vec<_>, Vec<_>) =
        Subject::all().partition(|subject| subject.is_combination());
    let rest = Some(Rest { count: combinations.len(), words: combined(&combinations) });
    let items = others.into_iter().chain(combinations).map(item).collect();
    write(args, List { schema: "lockwright.locks/1", columns, items, rest })
}

/// What a person wants to know of the combinations.
fn combined(combinations: &[Subject]) -> String {
    let mut text = format!(
        "\nand {} combinations of a succession and a waiting policy, which have the names of both:\n",
        combinations.len()
    );
    const PER_LINE: usize = 4;
    for line in combinations.chunks(PER_LINE) {
        let names: Vec<_> = line.iter().map(|subject| subject.name()).collect();
        text += &format!("  {}\n", names.join(" "));
    }
    text + "\n`--lock` takes names, patterns such as 'cna-*-park', `usual` (without combinations), and \
            `all`;\nthe last three never stand for `floor` or a busted lock.\n"
}

/// The order in which a lock serves its waiters, in words.
fn order(subject: Subject) -> &'static str {
    match (subject.origin, order_of(subject)) {
        (Origin::Floor, _) | (_, Order::Broken) => "-",
        (_, Order::Fifo) => "first come, first served",
        (_, Order::FifoAfterPending) => "first come, first served after one",
        (_, Order::Grouped) => "by NUMA node, bounded",
        (_, Order::Queued) => "first come, first served, but for newcomers",
        (_, Order::None) => "any",
    }
}

/// `lockwright machines`.
pub fn machines(args: &ListArgs) -> Result<(), Error> {
    let columns = [
        ("name", "name"),
        ("kind", "kind"),
        ("CPUs", "cpus"),
        ("NUMA nodes", "numa_nodes"),
        ("is", "is"),
    ];
    let item = |machine: Listed| {
        [
            machine.name.into(),
            machine.kind.into(),
            machine.cpus.into(),
            machine.numa_nodes.into(),
            machine.description.into(),
        ]
    };
    let items = machines::all().into_iter().map(item).collect();
    write(args, List { schema: "lockwright.machines/1", columns, items, rest: None })
}

/// `lockwright workloads`.
pub fn workloads(args: &ListArgs) -> Result<(), Error> {
    let columns = [
        ("name", "name"),
        ("is", "is"),
        ("", "knobs"),
        ("its knobs as they are unless given", "defaults"),
    ];
    let item = |listed: &bench::Listed| {
        let flags = listed.knobs.iter().map(|(flag, _)| *flag);
        let typed: Vec<_> =
            listed.knobs.iter().map(|(flag, usual)| format!("{flag} {usual}")).collect();
        [listed.name.into(), listed.is.into(), flags.collect(), typed.join(" ").into()]
    };
    let items = WORKLOADS.iter().map(item).collect();
    write(args, List { schema: "lockwright.workloads/1", columns, items, rest: None })
}

/// `lockwright events`.
pub fn events(args: &ListArgs) -> Result<(), Error> {
    let columns = [("name", "name"), ("counts", "counts")];
    let items = Event::ALL.iter().map(|event| [event.name().into(), event.describe().into()]);
    write(args, List { schema: "lockwright.events/1", columns, items: items.collect(), rest: None })
}

fn write<const N: usize>(args: &ListArgs, list: List<N>) -> Result<(), Error> {
    let ListArgs { json, csv } = args.clone();
    Outputs::open(&OutputArgs { json, csv, ..OutputArgs::default() })?.finish(&list)
}
