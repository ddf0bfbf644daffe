//! What there is: locks, machines, workloads, tables, studies, clients, bugs, events.

mod clients;

pub use clients::client_names;

use crate::bench::{self, WORKLOADS};
use crate::cli::ListArgs;
use crate::machines::{self, Listed};
use clients::CLIENTS;
use lockwright::events::Event;
use lockwright::raw::Order;
use lockwright_cells::error::Error;
use lockwright_cells::native::peers::order_of;
use lockwright_cells::subject::{Origin, Subject};
use lockwright_report::OutputArgs;
use lockwright_report::{
    Chart, Grid, Outputs, Report, hanging, text_table, to_json, width, wrapped,
};
use lockwright_repro::reproduce::has_published_predictions;
use lockwright_repro::study::STUDIES;
use lockwright_repro::tables::TABLES;
use lockwright_zoo::Bug;
use serde::Serialize;
use serde_json::{Map, Value};
use std::process::ExitCode;

/// A list of things with names. A column has a title for people, if it is for them, and a key for
/// documents.
struct List<const N: usize> {
    schema: &'static str,
    columns: [(&'static str, &'static str); N],
    items: Vec<[Value; N]>,
    /// For people: words that stand for the last items, which have no lines of their own.
    rest: Option<Rest>,
}

/// The last items of a list, and the words that stand for them.
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
        let header: Vec<String> = for_people(titles);
        let lines = rows.iter().cloned().map(for_people).collect();
        let table = Grid { header: header.clone(), rows: lines };
        let text = if table.width() <= width() {
            text_table(&table, N)
        } else {
            rows.iter_mut().for_each(|row| self.in_full(row));
            entries(&Grid { header, rows: rows.into_iter().map(for_people).collect() })
        };
        text + rest.map_or("", |rest| &rest.words)
    }
    fn json(&self) -> String {
        let keys = || self.columns.iter().map(|(_, key)| (*key).to_string());
        let items = self.items.iter().map(|item| keys().zip(item.iter().cloned()).collect());
        to_json(&ListDocument { schema: self.schema, items: items.collect() })
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

impl<const N: usize> List<N> {
    /// Where an item has lines of its own, there is room for the whole text and not only for its headline.
    fn in_full(&self, row: &mut [String]) {
        let at = |key: &str| self.columns.iter().position(|column| column.1 == key);
        if let (Some(short), Some(whole)) = (at("headline"), at("is")) {
            row.swap(short, whole);
        }
    }
}

/// Titles of the columns that say what an item is.
const ABOUT: [&str; 5] = ["is", "what goes wrong", "checks that", "asks", "counts"];

/// A list for a page that is too narrow for a table: each item in some lines. What an item is stands below its
/// name, the other columns next to the name if they are short.
fn entries(table: &Grid) -> String {
    const SHORT: usize = 30;
    let about = table.header.iter().position(|title| ABOUT.contains(&title.as_str()));
    let about = about.unwrap_or(table.header.len() - 1);
    let entry = |row: &Vec<String>| {
        let is = &row[about];
        let others = row.iter().zip(&table.header).enumerate();
        let others = others.filter(|&(at, (cell, _))| at > 0 && at != about && !cell.is_empty());
        let others = others.map(|(_, other)| other);
        let (short, long): (Vec<_>, Vec<_>) = others.partition(|(cell, _)| cell.len() <= SHORT);
        let short: Vec<_> = short.iter().map(|(cell, title)| next_to_name(cell, title)).collect();
        let head = match short.is_empty() {
            true => row[0].clone(),
            false => format!("{}  ({})", row[0], short.join("; ")),
        };
        let long = long.iter().map(|(cell, title)| format!("{title}: {cell}"));
        let lines = std::iter::once(is.clone()).filter(|is| !is.is_empty()).chain(long);
        let lines: String = lines.map(|line| format!("    {}", hanging(&line, "    "))).collect();
        hanging(&head, "    ") + &lines
    };
    table.rows.iter().map(entry).collect()
}

/// A cell that stands next to the name of its item.
fn next_to_name(cell: &str, title: &str) -> String {
    match title {
        "aliases" | "must be found by" | "predictions" => format!("{title} {cell}"),
        _ if cell == "1" => format!("{cell} {}", title.trim_end_matches('s')),
        _ if cell.parse::<u64>().is_ok() => format!("{cell} {title}"),
        _ => cell.into(),
    }
}

/// `lockwright locks`.
pub fn locks(args: &ListArgs) -> Result<(), Error> {
    let columns = [
        ("name", "name"),
        ("aliases", "aliases"),
        ("kind", "kind"),
        ("order", "order"),
        ("", "runs_on"),
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

/// The combinations in words, and what the kinds of locks mean.
fn combined(combinations: &[Subject]) -> String {
    let mut text = wrapped(&format!(
        "\nand {} combinations of a succession and a waiting policy, named after both:",
        combinations.len()
    ));
    let names: Vec<_> = combinations.iter().map(|subject| subject.name()).collect();
    text += &format!("  {}", hanging(&names.join(" "), "  "));
    text + "\n"
        + &wrapped(
            "product: a lock of this library. reference: to compare with. peer: of another library, runs on this \
             computer only. busted: broken on purpose. floor: not a lock, the least that a pair can cost. \
             order any: arriving threads and readers may overtake waiters; the documentation of each \
             lock gives its bound. \
             --lock takes names, patterns ('cna-*-park'), usual (without combinations) and all; \
             patterns, usual and all never include floor or a busted lock.",
        )
}

/// The order in which a lock serves its waiters, in words.
fn order(subject: Subject) -> &'static str {
    match (subject.origin, order_of(subject)) {
        (Origin::Floor, _) | (_, Order::Broken) => "-",
        (_, Order::Fifo) => "FIFO",
        (_, Order::FifoAfterPending) => "FIFO, except for the first waiter",
        (_, Order::Grouped) => "by NUMA node, bounded",
        (_, Order::Queued) => "FIFO, new threads may steal",
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
    let columns = [("name", "name"), ("is", "is"), ("", "knobs"), ("parameters", "defaults")];
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

/// `lockwright tables`.
pub fn tables(args: &ListArgs) -> Result<(), Error> {
    let columns =
        [("name", "name"), ("machine", "machine"), ("predictions", "predictions"), ("is", "is")];
    let items = TABLES.iter().map(|table| {
        let predictions = if has_published_predictions(table) { "published" } else { "held back" };
        [table.name, table.machine, predictions, table.about].map(Value::from)
    });
    write(args, List { schema: "lockwright.tables/1", columns, items: items.collect(), rest: None })
}

/// `lockwright studies`.
pub fn studies(args: &ListArgs) -> Result<(), Error> {
    let columns = [("name", "name"), ("machine", "machine"), ("asks", "asks")];
    let items =
        STUDIES.iter().map(|study| [study.name, study.machine, study.asks].map(Value::from));
    write(
        args,
        List { schema: "lockwright.studies/1", columns, items: items.collect(), rest: None },
    )
}

/// `lockwright clients`.
pub fn clients(args: &ListArgs) -> Result<(), Error> {
    let columns = [("name", "name"), ("checks that", "checks")];
    let items = CLIENTS.iter().map(|&(name, checks)| [name, checks].map(Value::from));
    write(
        args,
        List { schema: "lockwright.clients/1", columns, items: items.collect(), rest: None },
    )
}

/// `lockwright bugs`.
pub fn bugs(args: &ListArgs) -> Result<(), Error> {
    let columns = [
        ("bug", "name"),
        ("name", "title"),
        ("must be found by", "seen_by"),
        ("what goes wrong", "headline"),
        ("", "is"),
        ("", "source"),
        ("", "locks"),
    ];
    let item = |bug: &'static Bug| {
        let seen_by: Vec<_> = bug.seen.by.iter().map(|checker| checker.name()).collect();
        [
            bug.row.into(),
            bug.name.into(),
            seen_by.into(),
            bug.headline().into(),
            bug.what.into(),
            bug.source.into(),
            bug.locks.into(),
        ]
    };
    let items = Bug::sorted().into_iter().map(item).collect();
    write(args, List { schema: "lockwright.bugs/1", columns, items, rest: None })
}

/// Lists what a command takes, for a command line that names nothing.
pub fn instead_of(
    output: &OutputArgs,
    list: fn(&ListArgs) -> Result<(), Error>,
) -> Result<ExitCode, Error> {
    if output.plot.is_some() {
        return Err(Error::usage("--plot draws results, and a list has none: name what to run"));
    }
    let (json, csv) = (output.json.clone(), output.csv.clone());
    list(&ListArgs { json, csv }).map(|()| ExitCode::SUCCESS)
}

fn write<const N: usize>(args: &ListArgs, list: List<N>) -> Result<(), Error> {
    let ListArgs { json, csv } = args.clone();
    Outputs::open(&OutputArgs { json, csv, ..OutputArgs::default() })?.finish(&list)
}
