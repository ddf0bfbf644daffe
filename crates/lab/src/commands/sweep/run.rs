//! Running a sweep, and putting its parts together.

use super::args::{MergeArgs, ReportArgs, SweepArgs, SweepCommand};
use crate::outcome::exit_code;
use lockwright_measure::error::Error;
use lockwright_sheets::{Destination, Outputs, Report, complain, count, plural, print};
use lockwright_studies::records::{CODE, Folder};
use lockwright_studies::sweep::{
    GainReport, LinesAsked, LinesReport, Merged, Question, Ran, SweepCost, Trials, map, merge,
    page, to_csv, to_parquet,
};
use std::fs::File;
use std::io::{BufReader, BufWriter, Seek, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// `lockwright sweep`, and what can be done with its results.
pub fn run(args: &SweepArgs) -> Result<ExitCode, Error> {
    match (&args.command, &args.question) {
        (Some(SweepCommand::Merge(args)), _) => merge_parts(args).map(|()| ExitCode::SUCCESS),
        (Some(SweepCommand::Report(args)), _) => report(args).map(|()| ExitCode::SUCCESS),
        (None, Some(question)) => sweep(args, question),
        (None, None) => {
            Err(Error::usage("name the file of a question: lockwright sweep FILE.toml"))
        }
    }
}

/// Runs a part of the trials.
fn sweep(args: &SweepArgs, file: &Path) -> Result<ExitCode, Error> {
    let question = Question::from_path(file)?;
    let part = args.shard.part()?;
    let trials = Trials::of(&question)?;
    let jobs = args.jobs.map(|jobs| jobs as usize);
    let jobs = jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    if args.dry_run {
        return print(&plan(&question, &trials, jobs)).map(|()| ExitCode::SUCCESS);
    }
    let folder = args.out.clone().unwrap_or_else(|| file.with_extension("sweep"));
    let folder = Folder::open(&folder, part)?;
    let results = folder.own_results();
    args.progress.answer_interrupts();
    let ran = lockwright_studies::sweep::run(&trials, part, folder, jobs, args.progress)?;
    let place = format_args!("in {}", results.display());
    print(&told(ran, &results)).map_err(|error| error.instead(place))?;
    Ok(exit_code(ran.failed > 0, ran.interrupted))
}

/// Says what the results say.
fn report(args: &ReportArgs) -> Result<(), Error> {
    match (&args.map, &args.lines) {
        (None, None) if args.plot.is_some() => {
            return Err(Error::usage("--plot needs a picture to draw: add --map X,Y or --lines X"));
        }
        (Some(_), Some(_)) => {
            return Err(Error::usage("--map and --lines are two pictures: leave one of them out"));
        }
        _ => {}
    }
    let destination = |path: &Option<PathBuf>| path.as_ref().map(Destination::open).transpose();
    let (plot, html) = (destination(&args.plot)?, destination(&args.html)?);
    let outputs = Outputs::open(&args.documents, args.plot.as_ref())?;
    let question = Question::from_path(&args.question)?;
    let trials = Trials::of(&question)?;
    let usual = [args.question.with_extension("sweep")];
    let folders = if args.from.is_empty() { &usual[..] } else { &args.from };
    if args.from.is_empty() && !usual[0].exists() {
        let (question, folder) = (args.question.display(), usual[0].display());
        return Err(Error::usage(format!(
            "there are no results in {folder}: run `lockwright sweep {question}` first, or name their folder with --from"
        )));
    }
    let [of, over] = [&args.of, &args.over].map(|lock| lock.as_deref());
    if let Some(x) = &args.lines {
        let report = LinesReport::new(
            &question,
            &trials,
            folders,
            LinesAsked { x: x.trim(), of, over, show: args.show.as_deref() },
        )?;
        let drawn = report.chart().map(|chart| chart.draw()).transpose()?;
        if drawn.is_none() && args.plot.is_some() {
            return Err(Error::usage(format!(
                "nothing of these lines can be drawn: no row has a number `{x}` above 0 and a result; leave out --plot"
            )));
        }
        if let Some(html) = html {
            html.write(page(&question.asks, &report, drawn.as_slice()).as_bytes())?;
        }
        return outputs.finish(&report);
    }
    let report = GainReport::new(&question, &trials, folders, of, over)?;
    let columns = args.map.as_ref().map(|columns| {
        let how = "--map needs two columns, such as set.transfer_remote,threads";
        columns.split_once(',').ok_or_else(|| Error::usage(how))
    });
    let columns = columns.transpose()?;
    let drawn = columns.map(|(x, y)| map(&report, x.trim(), y.trim())).transpose()?;
    if let (Some(plot), Some(drawn)) = (plot, &drawn) {
        plot.write(drawn.as_bytes())?;
    }
    if let Some(html) = html {
        html.write(page(&question.asks, &report, drawn.as_slice()).as_bytes())?;
    }
    outputs.finish(&report)
}

/// What a sweep would do.
fn plan(question: &Question, trials: &Trials, jobs: usize) -> String {
    const SHOWN: usize = 5;
    let SweepCost { trials: number, cpu_s, longest_s, result_bytes, memory_bytes } =
        SweepCost::of(trials);
    let megabytes = |bytes: u64| count(bytes as f64 / 1e6);
    let mut text = format!(
        "{}\n{} (code {CODE}); about {} s on one CPU, {} s with {jobs} at once; the longest takes about {} s\n\
         results take about {} MB, and each process {} MB of memory\n",
        question.asks,
        plural(number, "trial"),
        count(cpu_s),
        count((cpu_s / jobs as f64).max(longest_s)),
        count(longest_s),
        megabytes(result_bytes),
        megabytes(memory_bytes),
    );
    if trials.left_out() > 0 {
        let left_out = plural(trials.left_out(), "trial");
        text += &format!("{left_out} left out: more threads than the machine has CPUs\n");
    }
    text += "the first:\n";
    for trial in trials.iter().take(SHOWN) {
        text += &format!("{}\n", trial.description());
    }
    text
}

/// What was done, in a line.
fn told(ran: Ran, path: &Path) -> String {
    let Ran { trials, were_there, ran: now, failed, interrupted } = ran;
    let trials = plural(trials as u64, "trial");
    let failed = if failed > 0 { format!(", {failed} of them failed") } else { String::new() };
    let end = if interrupted { "; interrupted: the same command runs the rest" } else { "" };
    format!(
        "{trials}: {were_there} were there, {now} ran now{failed}; results in {}{end}\n",
        path.display()
    )
}

/// Writes the merged results.
fn merge_parts(args: &MergeArgs) -> Result<(), Error> {
    let MergeArgs { folders, jsonl, csv, parquet, any_code } = args;
    let cannot = |path: &Path, source| Error::output(path, source);
    let to_stdout = [jsonl, csv, parquet].iter().all(|path| path.is_none());
    if to_stdout {
        let mut out = BufWriter::new(std::io::stdout().lock());
        let merged = merge(folders, &mut out, *any_code)?;
        out.flush().map_err(|source| cannot(Path::new("standard output"), source))?;
        tell(&merged);
        return Ok(());
    }
    let next_to = [jsonl, csv, parquet].into_iter().flatten().next();
    let next_to = next_to.map_or(Path::new(""), PathBuf::as_path);
    let mut lines = Partial::new(next_to)?;
    let merged = merge(folders, &mut lines.file, *any_code)?;
    lines.file.flush().map_err(|source| cannot(next_to, source))?;
    let open = || {
        let mut file = lines.reopened().map_err(|source| cannot(next_to, source))?;
        file.rewind().map_err(|source| cannot(next_to, source))?;
        Ok(BufReader::new(file))
    };
    if let Some(path) = csv {
        let mut table = Partial::new(path)?;
        to_csv(open, &mut table.file)?;
        table.becomes(path)?;
    }
    if let Some(path) = parquet {
        let mut table = Partial::new(path)?;
        to_parquet(open, &mut table.file)?;
        table.becomes(path)?;
    }
    if let Some(path) = jsonl {
        lines.becomes(path)?;
    }
    tell(&merged);
    Ok(())
}

/// Says what was put together.
fn tell(merged: &Merged) {
    let Merged { results, twice, torn, codes } = merged;
    let of = |count: u64, what: &str| match count {
        0 => String::new(),
        count => format!(", {count} {what}"),
    };
    complain(&format!(
        "{} of code {}{}{}",
        plural(*results, "result"),
        codes.join(" and "),
        of(*twice, "there more than once"),
        of(*torn, "torn and left out"),
    ));
}

/// A file that takes its name when it is complete.
struct Partial {
    file: BufWriter<File>,
    path: tempfile::TempPath,
}

impl Partial {
    /// In the folder of `path`.
    fn new(path: &Path) -> Result<Self, Error> {
        let folder =
            path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mode = std::fs::Permissions::from_mode(0o666);
        let made = tempfile::Builder::new().permissions(mode).tempfile_in(folder);
        let (file, partial) = made.map_err(|source| Error::output(path, source))?.into_parts();
        Ok(Self { file: BufWriter::new(file), path: partial })
    }

    fn reopened(&self) -> std::io::Result<File> {
        File::open(&self.path)
    }

    fn becomes(mut self, path: &Path) -> Result<(), Error> {
        let flushed = self.file.flush();
        flushed.map_err(|source| Error::output(path, source))?;
        self.path.persist(path).map_err(|error| Error::output(path, error.error))
    }
}
