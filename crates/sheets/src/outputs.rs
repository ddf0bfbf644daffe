//! Where a report goes, and the options that say so.

use crate::progress::{Progress, complain, print};
use crate::svg::Chart;
use crate::table::Grid;
use crate::target::Destination;
use clap::Args;
use lockwright_measure::error::Error;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Something that can be written in every format.
pub trait Report {
    /// For people, with units.
    fn text(&self) -> String;
    /// For people who see several reports: what matters most.
    fn brief(&self) -> String {
        self.text()
    }
    /// For programs: one document, `schema` first.
    fn json(&self) -> String;
    /// For spreadsheets.
    fn grid(&self) -> Grid;
    /// A picture of it, if it has one yet.
    fn chart(&self) -> Option<Chart> {
        None
    }
    /// What the reader of the results should know about them; part of the text.
    fn warnings(&self) -> &[String] {
        &[]
    }
    /// False if the same command prints it again at once.
    fn is_measured(&self) -> bool {
        true
    }
}

/// Documents for programs.
#[derive(Clone, Debug, Default, Args)]
pub struct DocumentArgs {
    /// Write a JSON document; - is standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write CSV; - is standard output
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
}

/// Documents and a picture.
#[derive(Clone, Debug, Args)]
pub struct OutputArgs {
    /// Documents.
    #[command(flatten)]
    pub documents: DocumentArgs,
    /// Draw the results
    #[arg(long, value_name = "FILE.svg")]
    pub plot: Option<PathBuf>,
    /// What is said meanwhile.
    #[command(flatten)]
    pub progress: Progress,
}

impl OutputArgs {
    /// Checks and prepares what was asked for.
    pub fn open(&self) -> Result<Outputs, Error> {
        Outputs::open(&self.documents, self.plot.as_ref())
    }
}

/// A place, and what makes the document that goes there.
type Document = (Destination, fn(&Outputs, &dyn Report) -> String);

/// Where a report goes. Opening it proves that everything can be written.
pub struct Outputs {
    documents: Vec<Document>,
    plot: Option<Destination>,
    is_behind: AtomicBool,
    /// The documents of the machines before this one, if a command has several.
    earlier: Mutex<Vec<(String, Grid)>>,
}

/// What a document of several documents begins with.
const SEVERAL: &str = "{\n  \"schema\": \"lockwright.several/1\",\n  \"documents\": [\n";

impl Outputs {
    /// Checks and prepares the outputs that were asked for.
    pub fn open(args: &DocumentArgs, plot: Option<&PathBuf>) -> Result<Self, Error> {
        if let Some(path) = plot
            && path.extension().is_none_or(|extension| extension != "svg")
        {
            return Err(Error::usage(format!(
                "--plot writes SVG only: name a file that ends in .svg, not `{}`",
                path.display()
            )));
        }
        let mut documents: Vec<Document> = Vec::new();
        if let Some(path) = &args.json {
            documents.push((Destination::open(path)?, Self::json_of));
        }
        if let Some(path) = &args.csv {
            documents.push((Destination::open(path)?, |it, report| it.grid_of(report).to_csv()));
        }
        let plot = plot.map(Destination::open).transpose()?;
        match (&args.json, &args.csv) {
            (Some(json), Some(csv)) if json == csv => Err(Error::usage(match documents[0].0 {
                Destination::Stdout => {
                    "--json and --csv cannot both be `-` (standard output): give one of them a file"
                }
                _ => "--json and --csv name the same file: give two names",
            })),
            _ => Ok(Self {
                documents,
                plot,
                is_behind: AtomicBool::new(false),
                earlier: Mutex::default(),
            }),
        }
    }
    /// Writes the files, each complete or not at all. Standard output has to wait for the end. Returns what goes wrong
    /// first, after it has tried all of them.
    pub fn keep(&self, report: &dyn Report) -> Result<(), Error> {
        let documents = self.write(report, false);
        let kept = documents.and(match (&self.plot, report.chart()) {
            (Some(plot), Some(chart)) => chart.draw().and_then(|text| plot.write(text.as_bytes())),
            _ => Ok(()),
        });
        self.is_behind.store(kept.is_err(), Relaxed);
        kept
    }
    /// As [`keep`](Self::keep), while more is measured: what cannot be written now may be written later.
    pub fn keep_so_far(&self, report: &dyn Report) {
        let was_behind = self.is_behind();
        if let Err(error) = self.keep(report)
            && !was_behind
            && !matches!(error, Error::OutputClosed)
        {
            complain(&format!("warning: {error}; the run goes on"));
        }
    }
    /// True if a file does not have what it should have.
    pub fn is_behind(&self) -> bool {
        self.is_behind.load(Relaxed)
    }
    /// Tells people `text`, a part of the report, unless a document takes standard output. A run that writes a file
    /// goes on without a reader.
    pub fn tell(&self, report: &dyn Report, text: &str) -> Result<(), Error> {
        match self.show(text) {
            Err(Error::OutputClosed) if self.targets().any(|it| !it.is_stdout()) => Ok(()),
            shown => self.saved(report, Ok(()), shown),
        }
    }
    fn show(&self, text: &str) -> Result<(), Error> {
        if self.stdout_is_for_people() { print(text) } else { Ok(()) }
    }
    /// Ends the report of one machine, after which others follow: tells people, if `tells`, and keeps it. From here on
    /// documents begin with it.
    pub fn finish_part(&self, report: &dyn Report, tells: bool) -> Result<(), Error> {
        self.keep_so_far(report);
        if tells {
            self.tell(report, &format!("{}\n", report.text()))?;
        }
        self.earlier().push((report.json(), report.grid()));
        Ok(())
    }
    fn earlier(&self) -> MutexGuard<'_, Vec<(String, Grid)>> {
        self.earlier.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// The document of a report, after those of the machines before it.
    fn json_of(&self, report: &dyn Report) -> String {
        let earlier = self.earlier();
        let all = earlier.iter().map(|(json, _)| json.clone()).chain([report.json()]);
        let all: Vec<String> = all.map(|json| json.trim_end().into()).collect();
        match &all[..] {
            [only] => format!("{only}\n"),
            all => format!("{SEVERAL}{}\n  ]\n}}\n", all.join(",\n")),
        }
    }
    /// The same as rows.
    fn grid_of(&self, report: &dyn Report) -> Grid {
        let earlier = self.earlier();
        let all = earlier.iter().map(|(_, grid)| grid.clone()).chain([report.grid()]);
        all.reduce(Grid::and).unwrap_or_default()
    }
    /// Writes everything: the files, and on standard output the document that was asked for, or
    /// the text for people.
    pub fn finish(&self, report: &dyn Report) -> Result<(), Error> {
        self.saved(report, self.write_all(report), self.show(&report.text()))
    }
    /// As [`finish`](Self::finish), for a command that has told people everything already. If a document
    /// takes standard output, the warnings go to standard error.
    pub fn finish_documents(&self, report: &dyn Report) -> Result<(), Error> {
        self.saved(report, self.write_all(report), Ok(()))
    }
    fn write_all(&self, report: &dyn Report) -> Result<(), Error> {
        let written = self.keep(report);
        let written = written.and(self.write(report, true));
        if !self.stdout_is_for_people() {
            report.warnings().iter().for_each(|warning| complain(&format!("warning: {warning}")));
        }
        written
    }
    /// Says where the results are if one of the outputs could not be written; on standard error if nowhere else.
    fn saved(
        &self,
        report: &dyn Report,
        written: Result<(), Error>,
        shown: Result<(), Error>,
    ) -> Result<(), Error> {
        let is_shown = shown.is_ok() && self.stdout_is_for_people();
        let Err(error) = written.and(shown) else { return Ok(()) };
        let file = self.targets().find_map(Destination::path).filter(|_| !self.is_behind());
        Err(match file {
            _ if !report.is_measured() || matches!(error, Error::OutputClosed) => error,
            _ if is_shown => error.instead("on standard output"),
            Some(file) => error.instead(format_args!("in {}", file.display())),
            None => {
                complain(&report.text());
                error.instead("above")
            }
        })
    }
    /// True if no document goes to standard output.
    pub fn stdout_is_for_people(&self) -> bool {
        !self.targets().any(Destination::is_stdout)
    }
    fn targets(&self) -> impl Iterator<Item = &Destination> {
        self.documents.iter().map(|(target, _)| target)
    }
    /// Tries all documents that go to standard output, or all others.
    fn write(&self, report: &dyn Report, to_stdout: bool) -> Result<(), Error> {
        let chosen = self.documents.iter().filter(|(it, _)| it.is_stdout() == to_stdout);
        let written = chosen.map(|(target, make)| target.write(make(self, report).as_bytes()));
        written.fold(Ok(()), Result::and)
    }
}
