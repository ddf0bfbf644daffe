//! `cargo xtask weaken`: is every ordering needed, and does a check know?
//!
//! Each ordering and each barrier of the lock crate is weakened by one step, all in one build that
//! chooses at run time, and the checks of that lock are run. A mutant is *killed* by a check that
//! it violates and that the unmodified code passes within the same bounds. One that survives is a
//! missing test or a needless ordering, unless an argument in the list of survivors says why not.

pub mod copy;
mod report;
mod run;
mod scan;
mod survivors;
mod table;

use crate::edits;
use crate::limit::is_interrupted;
use crate::options::not_an_option;
use crate::output::{self, Place, say};
use crate::packages::below_sources;
use crate::record::{self, Item, Record};
use crate::tidy::{Source, files};
use crate::workers::on_all;
use report::{Document, MutantReport, Verdict};
use run::{Findings, Runner};
use scan::Complaint;
pub use scan::{Site, scan as sites_of};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::Instant;
use survivors::Survivor;
use table::{Checker, checker_of};

/// As they stand in the help.
pub const OPTIONS: &str = "[--only FILE[:LINE]] [--checker loom|miri] [--json FILE|-] [--matrix] [--full] [--new] [--changed]";

/// What is asked for.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// Only sites at this place.
    only: Option<String>,
    /// Only mutants of this checker.
    checker: Option<String>,
    /// Where the document goes.
    json: Place,
    /// All checks of each mutant, and not only up to the first kill.
    matrix: bool,
    /// Wider bounds.
    full: bool,
    /// Only mutants without an argument: one that survives as argued takes as long as many that are killed.
    unargued: bool,
    /// Only mutants that are due by the record, which is not written.
    changed: bool,
}

impl Request {
    /// Reads the arguments behind `weaken`.
    pub fn of(arguments: &[&str]) -> Result<Self, String> {
        let mut request = Self::default();
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let mut value = |such_as: &str| {
                let value = arguments.next().map(ToString::to_string);
                value.ok_or_else(|| format!("`{argument}` needs a value, such as `{such_as}`"))
            };
            match *argument {
                "--only" => request.only = Some(value("--only qspinlock/queue.rs")?),
                "--json" => request.json = Some(value("--json FILE")?),
                "--checker" => match value("--checker loom")? {
                    name if name == "loom" || name == "miri" => request.checker = Some(name),
                    _ => return Err("`--checker` needs loom or miri".into()),
                },
                "--matrix" => request.matrix = true,
                "--full" => request.full = true,
                "--new" => request.unargued = true,
                record::OPTION => request.changed = true,
                other => return Err(not_an_option(other, OPTIONS)),
            }
        }
        Ok(request)
    }

    /// Says what to name instead if `only` is not a file of the locks.
    pub fn check_place(&self, root: &Path) -> Result<(), String> {
        let all = files::read_all(root);
        let is_there = |only: &String| {
            let file = only.split(':').next().unwrap_or_default();
            let is_file = |it: &Source| it.path == file || it.path.ends_with(&format!("/{file}"));
            scan::lock_files(&all).any(is_file)
        };
        match &self.only {
            Some(only) if !is_there(only) => {
                let such_as = "name one, such as `--only qspinlock/queue.rs`";
                Err(format!("`{only}` is not a file of the locks; {such_as}"))
            }
            _ => Ok(()),
        }
    }

    fn wants(&self, site: &Site) -> bool {
        self.only.as_ref().is_none_or(|only| {
            let ends = |whole: &str| whole == only || whole.ends_with(&format!("/{only}"));
            ends(&site.path) || ends(&site.place())
        })
    }
    fn wants_checker(&self, name: &str) -> bool {
        self.checker.as_ref().is_none_or(|wanted| wanted == name)
    }
}

/// One site, weakened one step.
struct Mutant {
    /// Its name in the record: the file, the number of the site in the file, and what it becomes.
    name: String,
    /// The number of its site.
    site: usize,
    /// What stands there instead; empty if nothing does.
    to: &'static str,
    checker: Checker,
}

impl Mutant {
    /// True if its checks are run: not without a tool for them, and not if it is left out because of its argument.
    fn is_run(&self, site: &Site, survivors: &[Survivor], request: &Request) -> bool {
        let is_argued = || survivors.iter().any(|survivor| survivor.is(site, self.to));
        match self.checker {
            Checker::Loom(_) => request.wants_checker("loom") && !(request.unargued && is_argued()),
            Checker::Miri(_) | Checker::Nobody => false,
        }
    }
    /// What decides whether it is killed.
    fn item(&self, site: &Site) -> Item<'static> {
        let locks = match self.checker {
            Checker::Loom(locks) => locks.to_vec(),
            Checker::Miri(_) | Checker::Nobody => Vec::new(),
        };
        let files = [
            "crates/model/src/",
            "crates/clients/src/",
            "crates/conformance/src/",
            "xtask/src/weaken/",
        ];
        let files = files.map(str::to_string).into_iter().chain([site.path.clone()]).collect();
        Item { name: self.name.clone(), locks: Some(locks), files, text: String::new() }
    }
}

/// What one check may take.
const SECONDS_MAX: u64 = 60;
const SECONDS_MAX_FULL: u64 = 900;

/// Weakens everything that is asked for. Returns true if every mutant is killed or argued for.
///
/// # Errors
/// A sentence that says what cannot be done.
pub fn run(root: &Path, request: &Request) -> Result<bool, String> {
    let all = files::read_all(root);
    let sites = sites(&all)?;
    let text_search = scan::lock_files(&all).map(scan::count_in_lines).sum();
    say(&request.json, &format!("sites: {}; a plain text search finds {text_search}", sites.len()));
    if text_search != sites.len() {
        return Err(
            "the two counts differ, because a site is in a comment, a literal or a form that \
                    one of them does not see; write it in another way"
                .into(),
        );
    }
    let survivors = survivors::read(root)?;
    if let Some(survivor) = survivors::ambiguous(&survivors, &sites).first() {
        let (file, name) = (survivors::FILE, survivor.name());
        return Err(format!("{file}: {name} fits several mutants; write their lines differently"));
    }
    let mut mutants = mutants(&sites, request)?;
    if mutants.is_empty() {
        let only = request.only.as_deref().unwrap_or_default();
        return Err(format!("no ordering is at `{only}`; name a file, or a file and a line"));
    }
    let record = Record::read(root, &all, request.changed)?;
    if request.changed {
        mutants.retain(|it| it.is_run(&sites[it.site], &survivors, request));
    }
    let mutants = record.due("weaken", mutants, |it| it.item(&sites[it.site]));
    if mutants.is_empty() {
        return Ok(true);
    }
    let runner = build(root, &all, &sites, request)?;
    let has_miri = request.wants_checker("miri") && prepare_miri(&mutants, &runner, request)?;
    // Some at the same time; each is reported as soon as it is known.
    let reports = on_all(&mutants, |mutant| {
        let report = judge(mutant, &sites[mutant.site], &survivors, &runner, has_miri, request)?;
        say(&request.json, &report.line());
        // Within the bounds of continuous integration.
        if !request.full && report.verdict != Verdict::NotRun {
            let item = mutant.item(&sites[mutant.site]);
            record.write(&item, report.verdict == Verdict::Killed)?;
        }
        Ok(report)
    })?;
    let stale = stale(&survivors, &sites, &mutants, &reports);
    let bounds = if request.full { "full" } else { "quick" };
    let (schema, sites) = ("lockwright.weaken/1", sites.len());
    let document = Document { schema, bounds, sites, text_search, mutants: reports };
    say(&request.json, &document.summary());
    output::write(&request.json, &document)?;
    for survivor in &stale {
        let name = survivor.name();
        let what = "the ordering is gone, or a check kills the mutant; delete the entry";
        say(&request.json, &format!("{}: {name}: {what}", survivors::FILE));
    }
    Ok(stale.is_empty() && document.is_green(request.full && request.checker.is_none()))
}

/// All sites of the crate.
///
/// # Errors
/// What is wrong with some of them.
pub fn sites(all: &[Source]) -> Result<Vec<Site>, String> {
    let (mut sites, mut complaints) = (Vec::new(), Vec::new());
    for source in scan::lock_files(all) {
        let (of_file, wrong) = scan::scan(source, all);
        sites.extend(of_file);
        complaints.extend(wrong);
    }
    match complaints.as_slice() {
        [] => Ok(sites),
        _ => {
            let line = |Complaint { place, message }: &Complaint| format!("{place}: {message}");
            Err(complaints.iter().map(line).collect::<Vec<_>>().join("\n"))
        }
    }
}

/// True if a checker watches the orderings of the file at `path`, which is below the sources of the lock crate.
pub fn is_watched(path: &str) -> bool {
    checker_of(path).is_some()
}

/// All mutants that are asked for, in the order of their sites.
fn mutants(sites: &[Site], request: &Request) -> Result<Vec<Mutant>, String> {
    let mut mutants = Vec::new();
    let mut in_file = 0;
    for (number, site) in sites.iter().enumerate() {
        in_file = match number.checked_sub(1) {
            Some(before) if sites[before].path == site.path => in_file + 1,
            _ => 1,
        };
        let path = below_sources(&site.path).unwrap_or_default();
        let checker = checker_of(path).ok_or_else(|| {
            let what = "has orderings and no checker; add it to xtask/src/weaken/table.rs";
            format!("{} {what}", site.path)
        })?;
        if request.wants(site) {
            let file = path;
            let becomes = |to: &str| if to.is_empty() { "removed".into() } else { to.to_string() };
            let name = |to| format!("mutant {file} {in_file} {}", becomes(to));
            let mutant = |to| Mutant { name: name(to), site: number, to, checker };
            mutants.extend(site.weaker().into_iter().map(mutant));
        }
    }
    Ok(mutants)
}

/// Writes the copy and builds the programs of its checkers. Returns the folder of the copy.
///
/// # Errors
/// If it cannot be written, an edit does not fit, or it does not build.
pub fn build_copy(
    root: &Path,
    all: &[Source],
    sites: &[Site],
    features: &[&str],
) -> Result<PathBuf, String> {
    let copy = root.join("target").join("weaken");
    let edits = edits::locate(all).map_err(|complaints| complaints.join("\n"))?;
    copy::write(root, &copy, all, sites, &edits)
        .map_err(|error| format!("the copy cannot be written: {error}"))?;
    let mut cargo = Command::new("cargo");
    // Packages that are built one by one are built with other features, and twice.
    cargo.args(["build", "--workspace", "--bins", "--example", copy::FAIRNESS]).args(features);
    cargo.args(hush());
    cargo.arg("--manifest-path").arg(copy.join("Cargo.toml"));
    // The build of the repository is shared: what the copy depends on is compiled once.
    cargo.arg("--target-dir").arg(target_of(root));
    let is_built = cargo.status().is_ok_and(|status| status.success());
    if !is_built {
        return Err("the copy in target/weaken does not build; the errors are above".into());
    }
    Ok(copy)
}

/// What keeps cargo from telling what it compiles, unless a person watches.
pub fn hush() -> Option<&'static str> {
    (!std::io::stderr().is_terminal()).then_some("--quiet")
}

/// The target directory of the repository.
pub fn target_of(root: &Path) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or("target".into(), PathBuf::from);
    root.join(target)
}

/// Writes the copy and builds its checks.
fn build(root: &Path, all: &[Source], sites: &[Site], request: &Request) -> Result<Runner, String> {
    let start = Instant::now();
    let target = target_of(root);
    let copy = build_copy(root, all, sites, &[])?;
    say(&request.json, &format!("built in {:.1} s", start.elapsed().as_secs_f64()));
    let seconds_max = if request.full { SECONDS_MAX_FULL } else { SECONDS_MAX };
    Ok(Runner { copy, target, full: request.full, seconds_max, baseline: Mutex::default() })
}

/// Builds what Miri runs. Returns true if Miri is installed.
fn prepare_miri(mutants: &[Mutant], runner: &Runner, request: &Request) -> Result<bool, String> {
    let tests = |mutant: &Mutant| match mutant.checker {
        Checker::Miri(tests) => tests,
        _ => &[],
    };
    let tests: Vec<_> = mutants.iter().flat_map(tests).copied().collect();
    if tests.is_empty() {
        return Ok(true);
    }
    if !crate::sanitize::MIRI.is_met() {
        let get = crate::sanitize::MIRI.get;
        say(
            &request.json,
            &format!("Miri is missing, so its mutants are not run. To install it, type `{get}`"),
        );
        return Ok(false);
    }
    let start = Instant::now();
    runner.build_for_miri(&tests)?;
    say(&request.json, &format!("built for Miri in {:.1} s", start.elapsed().as_secs_f64()));
    Ok(true)
}

fn judge(
    mutant: &Mutant,
    site: &Site,
    survivors: &[Survivor],
    runner: &Runner,
    has_miri: bool,
    request: &Request,
) -> Result<MutantReport, String> {
    if is_interrupted() {
        return Err("interrupted".into());
    }
    let start = Instant::now();
    let chosen = format!("{}:{}", mutant.site, mutant.to);
    let mut findings = Findings::default();
    let mut is_run = true;
    let argued = survivors.iter().find(|survivor| survivor.is(site, mutant.to));
    match mutant.checker {
        _ if request.unargued && argued.is_some() => is_run = false,
        Checker::Loom(locks) if request.wants_checker("loom") => {
            for check in &runner.checks_of(locks)? {
                runner.loom(check, &chosen, &mut findings);
                if !findings.kills.is_empty() && !request.matrix {
                    break;
                }
            }
        }
        Checker::Miri(tests) if has_miri => {
            tests.iter().for_each(|test| runner.miri(test, &chosen, &mut findings));
        }
        Checker::Nobody => {}
        _ => is_run = false,
    }
    if is_interrupted() {
        return Err("interrupted".into());
    }
    // A check that could not be used has not shown that the mutant survives it.
    let is_as_argued = argued.filter(|_| findings.notes.is_empty());
    let verdict = match (is_run, findings.kills.is_empty(), is_as_argued) {
        (false, _, _) => Verdict::NotRun,
        (true, false, _) => Verdict::Killed,
        (true, true, Some(_)) => Verdict::Argued,
        (true, true, None) => Verdict::Survived,
    };
    let argued = argued.filter(|_| verdict == Verdict::Argued);
    let (to, checker) = (mutant.to, mutant.checker);
    Ok(MutantReport::new(site, to, checker, verdict, findings, argued, start.elapsed()))
}

/// The entries of the list that are not mutants that survive: those of sites that are gone, and
/// those of mutants that were run and killed.
fn stale<'a>(
    survivors: &'a [Survivor],
    sites: &[Site],
    mutants: &[Mutant],
    reports: &[MutantReport],
) -> Vec<&'a Survivor> {
    let is_stale = |survivor: &&Survivor| {
        let has_site =
            sites.iter().any(|site| site.weaker().into_iter().any(|to| survivor.is(site, to)));
        let was_killed = mutants.iter().any(|mutant| {
            let site = &sites[mutant.site];
            let is_killed =
                |it: &MutantReport| it.verdict == Verdict::Killed && it.is(site, mutant.to);
            survivor.is(site, mutant.to) && reports.iter().any(is_killed)
        });
        !has_site || was_killed
    };
    survivors.iter().filter(is_stale).collect()
}
