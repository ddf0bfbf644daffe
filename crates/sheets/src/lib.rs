//! The results of a command, in each format: text, JSON, CSV and pictures; and where they go.

mod number;
mod outputs;
mod page;
mod progress;
mod provenance;
mod svg;
mod table;
mod target;
mod waits;

pub use number::{
    count, digits, duration, interval, known, percent, plural, rate, setting, signed,
};
pub use outputs::{DocumentArgs, OutputArgs, Outputs, Report};
pub use page::{command, command_within, hanging, is_terminal, lines, quoted, width, wrapped};
pub use progress::{Progress, complain, end_progress, print};
pub use provenance::provenance;
pub use svg::{Bar, Chart, ChartShape, Point, Series};
pub use table::{Column, Grid, Sheet, SheetOf, text_table};
pub use target::Destination;
pub use waits::{OneWait, Starving, TrialWaits, Waits};

use serde::Serialize;

/// Warnings for people, a paragraph each.
pub fn warned(warnings: &[String]) -> String {
    let paragraphs = warnings.iter().map(|warning| wrapped(&format!("warning: {warning}")));
    let text: String = paragraphs.collect();
    if text.is_empty() { text } else { format!("\n{text}") }
}

/// A warning, if others used the machine as well.
pub fn foreign_load(percent: Option<f64>) -> Option<String> {
    const NOTABLE_PERCENT: f64 = 5.0;
    let percent = percent.filter(|&percent| percent >= NOTABLE_PERCENT)?;
    Some(format!(
        "other processes used {percent:.0} % of the CPUs during the measurement, so the numbers are noisy"
    ))
}

/// A document as JSON text.
pub fn to_json(document: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(document)
        .unwrap_or_else(|error| unreachable!("documents have string keys only: {error}"));
    text.push('\n');
    text
}

/// The name of a variant, as documents have it.
pub fn name_in_documents(variant: &impl Serialize) -> String {
    let name = serde_json::to_value(variant).unwrap_or_default();
    name.as_str().unwrap_or_default().into()
}
