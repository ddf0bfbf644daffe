//! What leads through the tour: it measures, tells and draws one stop after the other.

use crate::commands::bench::BenchDocument;
use lockwright_measure::error::Error;
use lockwright_measure::interrupt;
use lockwright_sheets::{Outputs, Progress, Report, print, wrapped};
use std::cell::OnceCell;

/// A stop of the tour: a benchmark and its picture.
pub struct Stop<'a> {
    /// What is to be seen.
    pub about: &'a str,
    pub measure: &'a dyn Fn() -> Result<BenchDocument, Error>,
    /// What the picture shows.
    pub tell: &'a dyn Fn(&BenchDocument) -> Option<String>,
    /// Where it is drawn.
    pub on: &'a Outputs,
}

/// Tells people what there is to see, unless a document goes where they would read it.
pub struct Guide {
    pub talks: bool,
    /// A document is written as well, for which the tour goes on without a reader.
    pub writes: bool,
    /// Why standard output takes no more.
    pub silenced: OnceCell<Error>,
    pub progress: Progress,
    pub seed: u64,
}

impl Guide {
    pub fn say(&self, text: &str) {
        if self.talks && self.silenced.get().is_none() {
            // It was empty.
            let _ = print(text).map_err(|error| self.silenced.set(error));
        }
    }
    /// True if no stop follows.
    pub fn is_over(&self) -> bool {
        interrupt::is_requested() || self.silenced.get().is_some() && !self.writes
    }
    /// Tells and draws a report, says in a sentence what it shows, and returns it.
    pub fn show<R: Report>(&self, report: R, sentence: Option<String>, picture: &Outputs) -> R {
        picture.keep_so_far(&report);
        let sentence = sentence.map(|sentence| format!("\n{}", wrapped(&sentence)));
        let sentence = sentence.unwrap_or_default();
        self.say(&(report.brief() + &sentence + "\n"));
        report
    }
    /// One stop after the other, until Ctrl-C.
    pub fn visit<const N: usize>(
        &self,
        stops: [Stop<'_>; N],
    ) -> Result<[Option<BenchDocument>; N], Error> {
        let mut seen = [const { None }; N];
        for (stop, seen) in stops.into_iter().zip(&mut seen) {
            if self.is_over() {
                break;
            }
            self.say(&format!("{}\n\n", stop.about));
            let document = (stop.measure)()?;
            let sentence = (stop.tell)(&document);
            *seen = Some(self.show(document, sentence, stop.on));
        }
        Ok(seen)
    }
}
