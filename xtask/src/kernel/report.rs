//! The table, and the document for programs.

use serde::Serialize;
use std::collections::BTreeMap;

/// What one test of a boot has counted.
#[derive(Debug, Serialize)]
pub struct Row {
    pub test: String,
    pub numbers: BTreeMap<String, u64>,
}

/// What became of a boot.
#[derive(Debug, Serialize)]
pub struct BootResult {
    pub name: &'static str,
    pub seconds: f64,
    pub rows: Vec<Row>,
    /// Empty if everything is as it has to be.
    pub complaints: Vec<String>,
}

#[derive(Serialize)]
pub struct Document<'a> {
    /// The release of the kernel.
    pub kernel: &'a str,
    pub boots: &'a [BootResult],
}

/// The numbers that the table shows, in this order, and what it calls them.
const COLUMNS: [(&str, &str); 11] = [
    ("exact", "exact"),
    ("acquired", "acquired"),
    ("reads", "by readers"),
    ("interrupts", "in interrupts"),
    ("softirqs", "in softirqs"),
    ("nmis", "in NMIs"),
    ("same-node-per-mille", "same node, per mille"),
    ("longest-run", "longest run"),
    ("flips", "flips"),
    ("entries-ours", "entries ours"),
    ("entries-kernel", "kernel's"),
];

/// The table of a boot. Counts under an emulator say nothing about speed.
pub fn text(boot: &BootResult) -> String {
    let mut text = String::new();
    for row in &boot.rows {
        let shown = |(name, title): &(&str, &str)| {
            let number = row.numbers.get(*name)?;
            (*number > 0 || !["nmis", "reads", "softirqs"].contains(name))
                .then(|| format!("{title} {number}"))
        };
        let mut numbers: Vec<_> = COLUMNS.iter().filter_map(shown).collect();
        if let Some(done) = row.numbers.get("done") {
            numbers.push(format!("done {done}, all as expected unless said below"));
        }
        if numbers.is_empty() {
            let counted = row.numbers.iter().filter(|(_, count)| **count > 0);
            numbers.extend(counted.map(|(name, count)| format!("{name} {count}")));
        }
        text += &format!("  {:46} {}\n", row.test, numbers.join(", "));
    }
    for complaint in &boot.complaints {
        text += &format!("  WRONG: {complaint}\n");
    }
    let verdict = if boot.complaints.is_empty() { "as it has to be" } else { "WRONG" };
    text + &format!("  {verdict}, {:.0} s", boot.seconds)
}
