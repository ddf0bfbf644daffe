//! Each list.

use super::card;
use super::report::{ListColumn, ListReport};
use crate::machines::{self, ListedMachine};
use crate::options::{name, written};
use clap::Args;
use lockwright_core::events::Event;
use lockwright_core::raw::Order;
use lockwright_measure::error::Error;
use lockwright_measure::native::locks::order_of;
use lockwright_measure::subject::{Subject, SubjectOrigin};
use lockwright_measure::workload::Workload;
use lockwright_sheets::{DocumentArgs, OutputArgs, Outputs, hanging, wrapped};
use lockwright_studies::reproduce::has_published_predictions;
use lockwright_studies::tables::{SimulatedTable, TABLES};
use lockwright_zoo::Bug;
use std::process::ExitCode;

/// The clients of `explore`, a line each: the name, and what it checks.
const CLIENTS: &str = include_str!("clients.txt");

/// Arguments of `locks`.
#[derive(Clone, Debug, Args)]
pub struct LocksArgs {
    /// One lock only, with its card: what was posted, and the rules that its tests hold it to
    #[arg(value_name = "NAME", value_parser = name)]
    name: Option<String>,
    /// The list.
    #[command(flatten)]
    list: DocumentArgs,
}

/// `lockwright locks`.
pub fn locks(args: &LocksArgs) -> Result<(), Error> {
    let (subjects, rest) = if let Some(name) = &args.name {
        let subject = Subject::find(name)?;
        (vec![subject], (0, card::in_words(subject.name())))
    } else {
        let (combinations, mut others): (Vec<_>, Vec<_>) =
            Subject::all().partition(|subject| subject.is_combination());
        let rest = (combinations.len(), combined(&combinations));
        others.extend(combinations);
        (others, rest)
    };
    let mut list = ListReport::of(
        "locks",
        subjects,
        &[
            ("name", "name", &|it| it.name().into()),
            ("aliases", "aliases", &|it| it.row.aliases.into()),
            ("kind", "kind", &|it| it.kind().into()),
            ("order", "order", &|it| order(*it).into()),
            ("", "runs_on", &|it| it.worlds().into()),
            ("is", "is", &|it| it.row.models.into()),
            ("", "card", &|it| card::card(it.name())),
            ("", "rules", &|it| card::rules(it.name())),
        ],
    );
    list.rest = rest;
    Outputs::open(&args.list, None)?.finish(&list)
}

/// The combinations in words, and what the kinds of locks mean.
fn combined(combinations: &[Subject]) -> String {
    let names: Vec<_> = combinations.iter().map(|subject| subject.name()).collect();
    let told = wrapped(&format!(
        "\nand {} combinations of a succession and a waiting policy, named after both:",
        combinations.len()
    ));
    told + &format!("  {}\n", hanging(&names.join(" "), "  "))
        + &wrapped(
            "product: a lock of this library. history: one that reproduces a state of the kernel's lock. reference: to compare with. peer: of another library, runs on this \
             computer only. busted: broken on purpose. floor: not a lock, the least that a pair can cost \
             with a word of that many bits; `floor` means all three. \
             order any: arriving threads and readers may overtake waiters; the documentation of each \
             lock gives its bound. \
             --lock takes names, patterns ('cna-*'), all (without history) and usual (without \
             combinations, either); patterns, usual and all never include a floor or a busted lock.",
        )
}

/// The order in which a lock serves its waiters, in words.
fn order(subject: Subject) -> &'static str {
    match (subject.origin, order_of(subject)) {
        (SubjectOrigin::Floor, _) | (_, Order::Broken) => "-",
        (_, Order::Fifo) => "FIFO",
        (_, Order::FifoAfterPending) => "FIFO, except for the first waiter",
        (_, Order::Grouped) => "by NUMA node, bounded",
        (_, Order::Queued) => "FIFO, new threads may steal",
        (_, Order::None) => "any",
    }
}

/// `lockwright machines`.
pub fn machines(args: &DocumentArgs) -> Result<(), Error> {
    let columns: &[ListColumn<'_, ListedMachine>] = &[
        ("name", "name", &|it| it.name.clone().into()),
        ("kind", "kind", &|it| it.kind.into()),
        ("CPUs", "cpus", &|it| it.cpus.into()),
        ("NUMA nodes", "numa_nodes", &|it| it.numa_nodes.into()),
        ("is", "is", &|it| it.description.clone().into()),
    ];
    write(args, "machines", machines::all(), columns)
}

/// `lockwright workloads`.
pub fn workloads(args: &DocumentArgs) -> Result<(), Error> {
    let typed = |workload: &Workload| {
        let typed = workload.table().iter().filter_map(|param| {
            Some(format!("{} {}", param.flag(), written(param, &workload.get(param.name)?)))
        });
        typed.collect::<Vec<_>>().join(" ")
    };
    let columns: &[ListColumn<'_, Workload>] = &[
        ("name", "name", &|it| it.name().into()),
        ("is", "is", &|it| it.about().into()),
        ("", "parameters", &|it| it.table().iter().map(|param| param.flag()).collect()),
        ("parameters", "defaults", &|it| typed(it).into()),
    ];
    write(args, "workloads", Workload::ALL.iter().copied(), columns)
}

/// `lockwright events`.
pub fn events(args: &DocumentArgs) -> Result<(), Error> {
    let columns: &[ListColumn<'_, &Event>] = &[
        ("name", "name", &|it| it.name().into()),
        ("counts", "counts", &|it| it.describe().into()),
    ];
    write(args, "events", Event::ALL.iter(), columns)
}

/// `lockwright tables`.
pub fn tables(args: &DocumentArgs) -> Result<(), Error> {
    let predictions = |table| match has_published_predictions(table) {
        true => "published",
        false => "held back",
    };
    let columns: &[ListColumn<'_, &SimulatedTable>] = &[
        ("name", "name", &|it| it.name.into()),
        ("machine", "machine", &|it| it.machine.into()),
        ("predictions", "predictions", &|it| predictions(it).into()),
        ("is", "is", &|it| it.about.into()),
    ];
    write(args, "tables", TABLES.iter().copied(), columns)
}

/// `lockwright clients`.
pub fn clients(args: &DocumentArgs) -> Result<(), Error> {
    let columns: &[ListColumn<'_, (&str, &str)>] =
        &[("name", "name", &|it| it.0.into()), ("checks that", "checks", &|it| it.1.into())];
    write(args, "clients", CLIENTS.lines().filter_map(|line| line.split_once(": ")), columns)
}

/// The names of the clients.
pub fn client_names() -> impl Iterator<Item = &'static str> {
    CLIENTS.lines().filter_map(|line| line.split(": ").next())
}

/// `lockwright bugs`.
pub fn bugs(args: &DocumentArgs) -> Result<(), Error> {
    let columns: &[ListColumn<'_, &Bug>] = &[
        ("bug", "name", &|it| it.row.into()),
        ("name", "title", &|it| it.name.into()),
        ("must be found by", "seen_by", &|it| it.seen.by.iter().map(|by| by.name()).collect()),
        ("what goes wrong", "headline", &|it| it.headline().into()),
        ("", "is", &|it| it.what.into()),
        ("", "source", &|it| it.source.into()),
        ("", "locks", &|it| it.locks.into()),
    ];
    write(args, "bugs", Bug::sorted(), columns)
}

/// Lists what a command takes, for a command line that names nothing.
pub fn instead_of(
    output: &OutputArgs,
    list: fn(&DocumentArgs) -> Result<(), Error>,
) -> Result<ExitCode, Error> {
    if output.plot.is_some() {
        return Err(Error::usage("--plot draws results, and a list has none: name what to run"));
    }
    list(&output.documents).map(|()| ExitCode::SUCCESS)
}

fn write<T>(
    args: &DocumentArgs,
    name: &'static str,
    items: impl IntoIterator<Item = T>,
    columns: &[ListColumn<'_, T>],
) -> Result<(), Error> {
    Outputs::open(args, None)?.finish(&ListReport::of(name, items, columns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_client_is_described_once() {
        let mut all: Vec<_> = lockwright_clients::clients::<lockwright_sim::Sim>()
            .chain(lockwright_clients::disturbed_clients().iter().copied())
            .collect();
        all.sort_unstable();
        all.dedup();
        let mut described: Vec<_> = client_names().collect();
        described.sort_unstable();
        assert_eq!(described, all);
    }
}
