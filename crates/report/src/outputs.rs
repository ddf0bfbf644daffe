//! Where a report goes.

use crate::options::{DocumentArgs, OutputArgs};
use crate::progress::{complain, print};
use crate::svg::Chart;
use crate::table::Grid;
use crate::target::Destination;
use lockwright_cells::error::Error;
use std::path::PathBuf;

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
}

impl OutputArgs {
    /// Checks and prepares what was asked for.
    pub fn open(&self) -> Result<Outputs, Error> {
        Outputs::open(&self.documents, self.plot.as_ref())
    }
}

/// Where a report goes. Opening it proves that everything can be written.
pub struct Outputs {
    json: Option<Destination>,
    csv: Option<Destination>,
    plot: Option<Destination>,
}

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
        let open = |path: Option<_>| path.map(Destination::open).transpose();
        let (json, csv) = (open(args.json.as_ref())?, open(args.csv.as_ref())?);
        let outputs = Self { json, csv, plot: open(plot)? };
        if outputs.documents().filter(|target| target.is_stdout()).count() > 1 {
            return Err(Error::usage(
                "--json and --csv cannot both be `-` (standard output): give one of them a file",
            ));
        }
        let files = [&args.json, &args.csv].into_iter().flatten().filter(|p| p.as_os_str() != "-");
        if let [json, csv] = files.collect::<Vec<_>>()[..]
            && json == csv
        {
            return Err(Error::usage("--json and --csv name the same file: give two names"));
        }
        Ok(outputs)
    }
    /// Writes the files, each complete or not at all. Standard output has to wait for the end.
    pub fn keep(&self, report: &dyn Report) -> Result<(), Error> {
        self.write(report, |target| !target.is_stdout())?;
        match (&self.plot, report.chart()) {
            (Some(plot), Some(chart)) => plot.write(chart.draw()?.as_bytes()),
            _ => Ok(()),
        }
    }
    /// Writes everything: the files, and on standard output the document that was asked for, or
    /// the text for people.
    pub fn finish(&self, report: &dyn Report) -> Result<(), Error> {
        self.finish_documents(report)?;
        if self.stdout_is_for_people() { print(&report.text()) } else { Ok(()) }
    }
    /// As [`finish`](Self::finish), for a command that has told people everything already. If a document
    /// takes standard output, the warnings go to standard error.
    pub fn finish_documents(&self, report: &dyn Report) -> Result<(), Error> {
        self.keep(report)?;
        self.write(report, Destination::is_stdout)?;
        if !self.stdout_is_for_people() {
            report.warnings().iter().for_each(|warning| complain(&format!("warning: {warning}")));
        }
        Ok(())
    }
    /// True if no document goes to standard output.
    pub fn stdout_is_for_people(&self) -> bool {
        !self.documents().any(Destination::is_stdout)
    }
    fn documents(&self) -> impl Iterator<Item = &Destination> {
        self.json.iter().chain(&self.csv)
    }
    fn write(
        &self,
        report: &dyn Report,
        chosen: impl Fn(&Destination) -> bool,
    ) -> Result<(), Error> {
        if let Some(json) = self.json.as_ref().filter(|target| chosen(target)) {
            json.write(report.json().as_bytes())?;
        }
        if let Some(csv) = self.csv.as_ref().filter(|target| chosen(target)) {
            csv.write(report.grid().to_csv().as_bytes())?;
        }
        Ok(())
    }
}
