//! Each list.

use super::args::LocksArgs;
use super::card;
use super::clients::CLIENTS;
use super::report::{ListReport, Rest};
use crate::machines::{self, ListedMachine};
use crate::options::written;
use lockwright_core::events::Event;
use lockwright_core::raw::Order;
use lockwright_measure::error::Error;
use lockwright_measure::native::locks::order_of;
use lockwright_measure::subject::{Subject, SubjectOrigin};
use lockwright_measure::workload::Workload;
use lockwright_sheets::{DocumentArgs, OutputArgs, Outputs, hanging, wrapped};
use lockwright_studies::reproduce::has_published_predictions;
use lockwright_studies::tables::TABLES;
use lockwright_zoo::Bug;
use serde_json::Value;
use std::process::ExitCode;

/// `lockwright locks`.
pub fn locks(args: &LocksArgs) -> Result<(), Error> {
    let columns = [
        ("name", "name"),
        ("aliases", "aliases"),
        ("kind", "kind"),
        ("order", "order"),
        ("", "runs_on"),
        ("is", "is"),
        ("", "card"),
        ("", "rules"),
    ];
    let item = |subject: Subject| {
        [
            subject.name().into(),
            subject.row.aliases.into(),
            subject.kind().into(),
            order(subject).into(),
            subject.worlds().into(),
            subject.row.models.into(),
            card::card(subject.name()),
            card::rules(subject.name()),
        ]
    };
    let (items, rest) = if let Some(name) = &args.name {
        let subject = Subject::find(name)?;
        (vec![item(subject)], Rest { count: 0, words: card::in_words(subject.name()) })
    } else {
        let (combinations, others): (Vec<_>, Vec<_>) =
            Subject::all().partition(|subject| subject.is_combination());
        let rest = Rest { count: combinations.len(), words: combined(&combinations) };
        (others.into_iter().chain(combinations).map(item).collect(), rest)
    };
    let rest = Some(rest);
    write(&args.list, ListReport { schema: "lockwright.locks/1", columns, items, rest })
}

/// The combinations in words, and what the kinds of locks mean.
fn combined(combinations: &[Subject]) -> String {
    let mut text = String::new();
    if !combinations.is_empty() {
        text = wrapped(&format!(
            "\nand {} combinations of a succession and a waiting policy, named after both:",
            combinations.len()
        ));
        let names: Vec<_> = combinations.iter().map(|subject| subject.name()).collect();
        text += &format!("  {}", hanging(&names.join(" "), "  "));
    }
    text + "\n"
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
    let columns = [
        ("name", "name"),
        ("kind", "kind"),
        ("CPUs", "cpus"),
        ("NUMA nodes", "numa_nodes"),
        ("is", "is"),
    ];
    let item = |machine: ListedMachine| {
        [
            machine.name.into(),
            machine.kind.into(),
            machine.cpus.into(),
            machine.numa_nodes.into(),
            machine.description.into(),
        ]
    };
    let items = machines::all().into_iter().map(item).collect();
    write(args, ListReport { schema: "lockwright.machines/1", columns, items, rest: None })
}

/// `lockwright workloads`.
pub fn workloads(args: &DocumentArgs) -> Result<(), Error> {
    let columns = [("name", "name"), ("is", "is"), ("", "parameters"), ("parameters", "defaults")];
    let item = |workload: &Workload| {
        let flags = workload.table().iter().map(|param| param.flag());
        let typed = workload.table().iter().filter_map(|param| {
            Some(format!("{} {}", param.flag(), written(param, &workload.get(param.name)?)))
        });
        let typed = typed.collect::<Vec<_>>().join(" ");
        [workload.name().into(), workload.about().into(), flags.collect(), typed.into()]
    };
    let items = Workload::ALL.iter().map(item).collect();
    write(args, ListReport { schema: "lockwright.workloads/1", columns, items, rest: None })
}

/// `lockwright events`.
pub fn events(args: &DocumentArgs) -> Result<(), Error> {
    let columns = [("name", "name"), ("counts", "counts")];
    let items = Event::ALL.iter().map(|event| [event.name().into(), event.describe().into()]);
    write(
        args,
        ListReport { schema: "lockwright.events/1", columns, items: items.collect(), rest: None },
    )
}

/// `lockwright tables`.
pub fn tables(args: &DocumentArgs) -> Result<(), Error> {
    let columns =
        [("name", "name"), ("machine", "machine"), ("predictions", "predictions"), ("is", "is")];
    let items = TABLES.iter().map(|table| {
        let predictions = if has_published_predictions(table) { "published" } else { "held back" };
        [table.name, table.machine, predictions, table.about].map(Value::from)
    });
    write(
        args,
        ListReport { schema: "lockwright.tables/1", columns, items: items.collect(), rest: None },
    )
}

/// `lockwright clients`.
pub fn clients(args: &DocumentArgs) -> Result<(), Error> {
    let columns = [("name", "name"), ("checks that", "checks")];
    let items = CLIENTS.iter().map(|&(name, checks)| [name, checks].map(Value::from));
    write(
        args,
        ListReport { schema: "lockwright.clients/1", columns, items: items.collect(), rest: None },
    )
}

/// `lockwright bugs`.
pub fn bugs(args: &DocumentArgs) -> Result<(), Error> {
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
    write(args, ListReport { schema: "lockwright.bugs/1", columns, items, rest: None })
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

fn write<const N: usize>(args: &DocumentArgs, list: ListReport<N>) -> Result<(), Error> {
    Outputs::open(args, None)?.finish(&list)
}
