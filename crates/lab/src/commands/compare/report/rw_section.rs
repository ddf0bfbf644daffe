//! The section about our lock for any mixture of readers and writers.

use super::document::CompareDocument;
use super::figures::{interval, number};
use crate::commands::compare::rw_section::{RwCell, RwGroup, RwSection};
use lockwright_sheets::{Column, Sheet, digits, hanging, plural, rate};

/// All of it.
pub fn text(document: &CompareDocument, section: &RwSection) -> String {
    let lock = section.lock;
    let throughput = |cell: &RwCell, lock: &str| {
        let found = document.cells.iter().find(|known| known.name == cell.name);
        found.and_then(|cell| cell.lock(lock)).map_or_else(|| "-".into(), |it| rate(it.ops_per_s))
    };
    let row = |cell: &RwCell| {
        vec![
            cell.name.into(),
            throughput(cell, lock),
            cell.best_peer.into(),
            throughput(cell, cell.best_peer),
            digits(cell.ratio),
            interval(Some(cell.ratio_ci95)),
            number(cell.cpu_per_op_ratio),
        ]
    };
    let columns = vec![
        Column::name("cell").means("docs/lab.md says what a name means"),
        Column::number(lock).means("throughput, the median over all repetitions"),
        Column::name("best peer")
            .means("the best reader-writer lock, chosen on one half of the repetitions"),
        Column::number("throughput"),
        Column::number("ratio")
            .means(format!(
                "{lock} divided by the best peer, on the other half; above 1, {lock} does more"
            ))
            .first(),
        Column::number("95 %").means("confidence interval of the ratio"),
        Column::number("CPU/op").means("CPU time for an operation, divided by the best peer's"),
    ];
    let rows = section.cells.iter().map(row).collect();
    let table = Sheet { columns, keys: 1, rows }.text();
    let groups: String = section.groups.iter().map(together).collect();
    format!("{lock} against reader-writer locks of others\n{table}\n{groups}")
}

fn together(group: &RwGroup) -> String {
    hanging(
        &format!(
            "{} {}: geometric mean of the ratios {} {}, worst {} in {}; {} wholly below 0.95, {} wholly below 0.9",
            plural(group.cells as u64, "cell"),
            group.what,
            digits(group.geometric_mean),
            interval(Some(group.geometric_mean_ci95)),
            digits(group.worst),
            group.worst_cell,
            group.below_0_95,
            group.below_0_9
        ),
        "  ",
    )
}
