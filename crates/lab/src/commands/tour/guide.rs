//! What leads through the tour: it measures, tells and draws one stop after the other.

use crate::commands::bench::BenchDocument;
use lockwright_cells::error::Error;
use lockwright_cells::interrupt;
use lockwright_report::{Outputs, Progress, Report, print, wrapped};

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
    pub progress: Progress,
    pub seed: u64,
}

impl Guide {
    pub fn say(&self, text: &str) -> Result<(), Error> {
        if self.talks { print(text) } else { Ok(()) }
    }
    /// Tells and draws a report, says in a sentence what it shows, and returns it.
    pub fn show<R: Report>(
        &self,
        report: R,
        sentence: Option<String>,
        picture: &Outputs,
    ) -> Result<R, Error> {
        picture.keep(&report)?;
        let sentence = sentence.map(|sentence| format!("\n{}", wrapped(&sentence)));
        let sentence = sentence.unwrap_or_default();
        self.say(&(report.brief() + &sentence + "\n"))?;
        Ok(report)
    }
    /// One stop after the other, until Ctrl-C.
    pub fn visit<const N: usize>(
        &self,
        stops: [Stop<'_>; N],
    ) -> Result<[Option<BenchDocument>; N], Error> {
        let mut seen = [const { None }; N];
        for (stop, seen) in stops.into_iter().zip(&mut seen) {
            if interrupt::is_requested() {
                break;
            }
            self.say(&format!("{}\n\n", stop.about))?;
            let document = (stop.measure)()?;
            let sentence = (stop.tell)(&document);
            *seen = Some(self.show(document, sentence, stop.on)?);
        }
        Ok(seen)
    }
}
