//! A question: what is in its file.

use crate::records::SCHEDULINGS;
use crate::sweep::axis::AxisValues;
use crate::sweep::reader::{Source, TomlItem, TomlSection};
use crate::sweep::sample::Sampling;
use lockwright_catalog::registry::{self, LOCKS, LockRow};
use lockwright_core::tunables::Tunable;
use lockwright_measure::error::Error;
use lockwright_measure::simulated::SimulatedMachine;
use lockwright_measure::trial::Settings;
use lockwright_measure::workload::{Value, Workload};
use lockwright_sim::machine::{Machine, ThreadPlacement, read_text};
use lockwright_sim::{Scheduling, StartState};
use std::path::Path;

/// A question, with all that it names.
#[derive(Debug)]
pub struct Question {
    /// What is asked, in words.
    pub asks: String,
    pub(crate) machines: Vec<MachineChoice>,
    pub(crate) workloads: Vec<WorkloadChoice>,
    pub(crate) runs: Vec<RunChoice>,
    pub(crate) locks: Vec<LockChoice>,
    pub(crate) seeds: Vec<u64>,
    /// For each point that is drawn, the share of the way of each range.
    pub(crate) drawn: Vec<Vec<f64>>,
    /// How many points there are, at least 1.
    pub(crate) samples: u32,
    /// The column of each range in results.
    pub(crate) ranges: Vec<String>,
    pub(crate) sampling: Sampling,
}

/// A value, or a range of which each point has a number.
#[derive(Clone, Debug)]
pub(crate) enum Slot {
    Fixed(Value),
    Drawn { dimension: usize, range: crate::sweep::axis::Range },
}

/// Settings of one section by key, one of each combination of its lists.
pub(crate) type Settled = Vec<(String, Slot)>;

#[derive(Debug)]
pub(crate) struct MachineChoice {
    pub(crate) name: String,
    pub(crate) base: SimulatedMachine,
    pub(crate) placement: Option<ThreadPlacement>,
    pub(crate) numbers: Settled,
    /// What parts of the software of workloads take, in nanoseconds, such as `locktorture.inside`.
    pub(crate) software: Settled,
}

#[derive(Debug)]
pub(crate) struct WorkloadChoice {
    pub(crate) workload: Workload,
    pub(crate) given: Settled,
}

#[derive(Debug)]
pub(crate) struct LockChoice {
    pub(crate) lock: &'static LockRow,
    pub(crate) tunables: Vec<(Tunable, Slot)>,
}

#[derive(Debug)]
pub(crate) struct RunChoice {
    pub(crate) threads: ThreadsChoice,
    pub(crate) scheduling: Option<Scheduling>,
    pub(crate) warmup_us: u64,
    pub(crate) window_us: u64,
}

/// How many threads.
#[derive(Clone, Debug)]
pub(crate) enum ThreadsChoice {
    Count(Slot),
    /// Percent of the CPUs of the machine.
    Percent(u32),
}

/// The longest run, in simulated microseconds.
const TIME_MAX_US: u64 = 100_000_000;

/// The ranges so far.
#[derive(Default)]
pub(crate) struct Ranges {
    /// The columns of their numbers in results.
    names: Vec<String>,
    /// Where the first one stands.
    first_at: Option<usize>,
}

impl Question {
    /// Reads a question.
    ///
    /// # Errors
    /// If the file cannot be read, or something in it is wrong; the sentence names file and line, and what to write
    /// instead.
    pub fn from_path(path: &Path) -> Result<Self, Error> {
        let file = path.display().to_string();
        let text = read_text(path).map_err(|error| {
            Error::usage(format!("{file} cannot be read: {error}; name the file of a question"))
        })?;
        Self::parse(&file, &text, path.parent().unwrap_or(Path::new("")))
    }

    /// Reads a question from its text. `file` is its name in complaints; files of machines are looked up from `folder`.
    ///
    /// # Errors
    /// If something in it is wrong; the sentence names file and line, and what to write instead.
    pub fn parse(file: &str, text: &str, folder: &Path) -> Result<Self, Error> {
        let source = Source { file, text };
        let table = source.parse()?;
        let root = TomlSection::root(source, &table);
        let asks = root.get("asks")?;
        let asks = asks.text().ok_or_else(|| asks.refuse("must be a text in quotes"))?.to_string();
        let mut ranges = Ranges::default();
        let run = each(&root, "workload", |it| names(it.get("name")?))?;
        let machines = each(&root, "machine", |it| ranges.machines(it, folder, &run))?;
        let workloads = each(&root, "workload", |it| ranges.workloads(it))?;
        let locks = each(&root, "lock", |it| ranges.locks(it))?;
        let runs = each(&root, "run", |it| ranges.runs(it))?;
        let seeds = root.find("seeds").map_or(Ok(vec![1]), seeds)?;
        let (sampling, samples, drawn) = ranges.drawn(&root)?;
        root.finish()?;
        let ranges = ranges.names;
        Ok(Self { asks, machines, workloads, runs, locks, seeds, drawn, samples, ranges, sampling })
    }
}

/// The workloads that a question may have: those that simulated machines run, but for the tasks of a kernel and what
/// needs a number of threads of its own.
pub(crate) fn swept() -> impl Iterator<Item = Workload> + Clone {
    let is_swept = |workload: &Workload| {
        let is_simulated = workload.runs_here_only().is_none();
        is_simulated && !workload.is_in_kernel() && workload.threads().is_none()
    };
    Workload::ALL.iter().copied().filter(is_swept)
}

/// What `read` makes of `[key]`, or of each `[[key]]`.
fn each<'a, T>(
    root: &TomlSection<'a>,
    key: &'a str,
    mut read: impl FnMut(&TomlSection<'a>) -> Result<Vec<T>, Error>,
) -> Result<Vec<T>, Error> {
    let entry = root.get(key)?;
    let sections: Vec<_> = match entry.list() {
        None => vec![entry.section_of_key()?],
        Some(list) => list.map(|item| item.section_of_key()).collect::<Result<_, _>>()?,
    };
    let read = sections.iter().map(&mut read);
    Ok(read.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

/// Runs of each trial: a number of them, or their seeds.
fn seeds(entry: TomlItem<'_>) -> Result<Vec<u64>, Error> {
    const MOST: u64 = 1_000_000;
    match entry.list() {
        Some(list) => list.map(|item| item.whole(0)).collect(),
        None => {
            let count = entry.whole(1)?;
            if count > MOST {
                return Err(entry.refuse(&format!("must be at most {MOST}")));
            }
            Ok((1..=count).collect())
        }
    }
}

/// All combinations of the values of several keys, the last one fastest.
pub(crate) fn combined(axes: &[(String, Vec<Slot>)]) -> Vec<Settled> {
    axes.iter().fold(vec![Vec::new()], |combinations, (key, slots)| {
        let with = |so_far: &Settled, slot: &Slot| {
            so_far.iter().cloned().chain([(key.clone(), slot.clone())]).collect()
        };
        let with_each = |so_far| slots.iter().map(move |slot| with(so_far, slot));
        combinations.iter().flat_map(with_each).collect()
    })
}

/// The names in a list, or the one name.
fn names(entry: TomlItem<'_>) -> Result<Vec<String>, Error> {
    let refusal = || entry.refuse("must be a name in quotes, or a list of names");
    let AxisValues::Listed(values) = AxisValues::read(entry, false)? else { return Err(refusal()) };
    let text = |value| match value {
        Value::Text(text) => Ok(text),
        _ => Err(refusal()),
    };
    values.into_iter().map(text).collect()
}

/// What the names in `entry` are the names of, among `all`.
fn named<T: Copy>(
    entry: TomlItem<'_>,
    all: &[T],
    name: impl Fn(&T) -> &'static str,
) -> Result<Vec<T>, Error> {
    let one = |named: String| {
        all.iter().find(|it| name(it) == named).copied().ok_or_else(|| {
            let known: Vec<_> = all.iter().map(&name).collect();
            entry.refuse(&format!("must be one of {}", known.join(", ")))
        })
    };
    names(entry)?.into_iter().map(one).collect()
}

/// A name that nothing answers to, with the file and line where it stands.
fn unknown<'a>(
    entry: TomlItem<'_>,
    what: &'static str,
    typed: &str,
    known: impl IntoIterator<Item = &'a str>,
    list: &'static str,
) -> Error {
    entry.refuse(&format!("is wrong: {}", Error::unknown(what, typed, known, list)))
}

impl Ranges {
    /// The values of a key; of a range one slot, whose number is drawn.
    /// `within` is what their column begins with.
    fn slots(
        &mut self,
        entry: TomlItem<'_>,
        within: &str,
        is_whole: bool,
    ) -> Result<Vec<Slot>, Error> {
        Ok(match AxisValues::read(entry, is_whole)? {
            AxisValues::Listed(values) => values.into_iter().map(Slot::Fixed).collect(),
            AxisValues::Drawn(range) => {
                self.first_at.get_or_insert(entry.at());
                self.names.push(format!("{within}{}", entry.key));
                vec![Slot::Drawn { dimension: self.names.len() - 1, range }]
            }
        })
    }

    /// The keys of `[section.set]`. `check` says what is wrong with a number.
    fn set(
        &mut self,
        section: &TomlSection<'_>,
        within: &str,
        is_whole: fn(&str) -> bool,
        check: &dyn Fn(&str, f64) -> Result<(), String>,
    ) -> Result<Vec<Settled>, Error> {
        let Some(set) = section.find("set") else { return Ok(vec![Vec::new()]) };
        let mut axes = Vec::new();
        for entry in set.section_of_key()?.entries() {
            let slots = self.numbers(entry, within, is_whole(entry.key), check)?;
            axes.push((entry.key.to_string(), slots));
        }
        Ok(combined(&axes))
    }

    /// The values of a key that must be numbers. `check` says what is wrong with one.
    pub(crate) fn numbers(
        &mut self,
        entry: TomlItem<'_>,
        within: &str,
        is_whole: bool,
        check: &dyn Fn(&str, f64) -> Result<(), String>,
    ) -> Result<Vec<Slot>, Error> {
        let slots = self.slots(entry, within, is_whole)?;
        for value in slots.iter().flat_map(Slot::ends) {
            let Value::Number(number) = value else {
                return Err(entry.refuse("must be a number, a list of numbers, or a range"));
            };
            check(entry.key, number).map_err(|why| entry.refuse(&why))?;
        }
        Ok(slots)
    }

    fn machines(
        &mut self,
        section: &TomlSection<'_>,
        folder: &Path,
        run: &[String],
    ) -> Result<Vec<MachineChoice>, Error> {
        let name = section.get("name")?;
        let placements = match section.find("placement") {
            None => vec![None],
            Some(entry) => {
                named(entry, ThreadPlacement::ALL, |it| it.name())?.into_iter().map(Some).collect()
            }
        };
        let is_known = |key: &str, _| match Machine::number_names().any(|known| known == key) {
            true => Ok(()),
            false => {
                let near = lockwright_measure::suggest::nearest(key, Machine::number_names());
                let near = near.map_or(String::new(), |near| format!(": did you mean `{near}`?"));
                Err(format!("is not a number of a machine{near}"))
            }
        };
        let settings = self.set(section, "set.", counts, &is_known)?;
        let softwares = self.software(section, run)?;
        section.finish()?;
        let mut choices = Vec::new();
        for named in names(name)? {
            let base = open(name, &named, folder)?;
            for &placement in &placements {
                for numbers in &settings {
                    choices.extend(softwares.iter().map(|software| MachineChoice {
                        name: named.clone(),
                        base: base.clone(),
                        placement,
                        numbers: numbers.clone(),
                        software: software.clone(),
                    }));
                }
            }
        }
        Ok(choices)
    }

    fn locks(&mut self, section: &TomlSection<'_>) -> Result<Vec<LockChoice>, Error> {
        let name = section.get("name")?;
        let named = |key: &str| Tunable::ALL.iter().find(|it| it.name() == key).copied();
        let check = |key: &str, number: f64| {
            let Some(tunable) = named(key) else {
                let known: Vec<_> = Tunable::ALL.iter().map(|tunable| tunable.name()).collect();
                return Err(format!("is no tunable of the locks: they are {}", known.join(", ")));
            };
            let is_whole = number.fract() == 0.0 && number >= 0.0;
            match is_whole && tunable.check(number as u64).is_ok() {
                true => Ok(()),
                false => Err(format!("must be a whole number from 0 to {}", tunable.max())),
            }
        };
        let settings = self.set(section, "tunables.", |_| true, &check)?;
        section.finish()?;
        let mut choices = Vec::new();
        for lock in names(name)? {
            let lock = registry::find(&lock).ok_or_else(|| {
                let known = LOCKS.iter().map(|row| row.name);
                unknown(name, "lock", &lock, known, "lockwright locks")
            })?;
            let tunable = |(key, slot): &(String, Slot)| Some((named(key)?, slot.clone()));
            let choice = |settled: &Settled| LockChoice {
                lock,
                tunables: settled.iter().filter_map(tunable).collect(),
            };
            choices.extend(settings.iter().map(choice));
        }
        Ok(choices)
    }

    fn workloads(&mut self, section: &TomlSection<'_>) -> Result<Vec<WorkloadChoice>, Error> {
        let name = section.get("name")?;
        let mut workloads = Vec::new();
        for named in names(name)? {
            let found = swept().find(|workload| workload.name() == named);
            workloads.push(found.ok_or_else(|| {
                let known = swept().map(|known| known.name()).collect::<Vec<_>>().join(", ");
                name.refuse(&format!("must be one of {known}, not {named}"))
            })?);
        }
        let mut axes = Vec::new();
        for entry in section.entries().filter(|entry| entry.key != "name") {
            let slots = self.slots(entry, "parameters.", true)?;
            let param = |it: &&Workload| it.table().iter().find(|param| param.name == entry.key);
            let params: Vec<_> = workloads.iter().filter_map(|it| param(&it)).collect();
            let values: Vec<Value> = slots.iter().flat_map(Slot::ends).collect();
            if let Some(param) =
                params.iter().find(|it| !values.iter().all(|value| it.allows(value)))
            {
                return Err(entry.refuse(&format!("must be {}", param.must_be())));
            }
            if params.is_empty() {
                let known: Vec<_> =
                    workloads.iter().flat_map(|it| it.table()).map(|param| param.name).collect();
                let known = if known.is_empty() { "none".into() } else { known.join(", ") };
                return Err(
                    entry.refuse(&format!("is no parameter of the workload; it has {known}"))
                );
            }
            axes.push((entry.key.to_string(), slots));
        }
        let settings = combined(&axes);
        let choices = workloads.iter().flat_map(|&workload| {
            let own = move |(key, _): &&(String, Slot)| workload.get(key).is_some();
            settings.iter().map(move |settled| WorkloadChoice {
                workload,
                given: settled.iter().filter(own).cloned().collect(),
            })
        });
        Ok(choices.collect())
    }

    fn runs(&mut self, section: &TomlSection<'_>) -> Result<Vec<RunChoice>, Error> {
        let entry = section.get("threads")?;
        let mut threads = Vec::new();
        for slot in self.slots(entry, "", true)? {
            let how = || {
                entry.refuse("must be whole numbers from 1 on, \"all\" or a part such as \"50%\"")
            };
            threads.push(ThreadsChoice::of(slot).ok_or_else(how)?);
        }
        let schedulings = schedulings(section)?;
        let times = |key, usual| section.find(key).map_or(Ok(vec![usual]), whole_list);
        let (warmups, windows) = (times("warmup_us", 200)?, times("window_us", 1_000)?);
        section.finish()?;
        let mut choices = Vec::new();
        for &scheduling in &schedulings {
            for &warmup_us in &warmups {
                for &window_us in &windows {
                    for threads in threads.iter().cloned() {
                        choices.push(RunChoice { threads, scheduling, warmup_us, window_us });
                    }
                }
            }
        }
        Ok(choices)
    }

    /// The points: how many, and for each range the share of the way of each point.
    fn drawn(&self, root: &TomlSection<'_>) -> Result<(Sampling, u32, Vec<Vec<f64>>), Error> {
        let sampling = match root.find("sampling") {
            None => Sampling::Sobol,
            Some(entry) => Sampling::ALL
                .into_iter()
                .find(|sampling| entry.text() == Some(sampling.name()))
                .ok_or_else(|| {
                    entry.refuse("must be \"sobol\", \"latin-hypercube\" or \"saltelli\"")
                })?,
        };
        let seed = root.find("sampling_seed").map_or(Ok(1), |entry| entry.whole(0))? as u32;
        let samples = root.find("samples");
        let (at, entry) = match (self.first_at, samples) {
            (Some(at), Some(entry)) => (at, entry),
            (Some(at), None) => {
                return Err(root.source.refuse(
                    at,
                    "a range needs to know how many numbers to draw: add `samples = 256` above the first section",
                ));
            }
            (None, Some(entry)) => {
                return Err(entry.refuse("is for ranges, and there is none: leave it out"));
            }
            (None, None) => return Ok((sampling, 1, Vec::new())),
        };
        let count = entry.whole(1)?;
        if count > u64::from(sampling.most()) {
            return Err(entry.refuse(&format!(
                "must be at most {} with {}",
                sampling.most(),
                sampling.name()
            )));
        }
        let numbers = self.names.len() as u32;
        let most = if sampling == Sampling::Saltelli { 128 } else { 256 };
        if numbers > most {
            let name = sampling.name();
            return Err(root.source.refuse(at, &format!("use at most {most} ranges with {name}")));
        }
        let columns = sampling.columns(count as u32, numbers, seed);
        Ok((sampling, columns.first().map_or(1, Vec::len) as u32, columns))
    }
}

impl Slot {
    /// The values that have to make sense: the value, or the ends of the range.
    fn ends(&self) -> Vec<Value> {
        match self {
            Self::Fixed(value) => vec![value.clone()],
            Self::Drawn { range, .. } => range.ends().map(Value::Number).to_vec(),
        }
    }

    /// The value at a point.
    pub(crate) fn at(&self, point: usize, drawn: &[Vec<f64>]) -> Value {
        match self {
            Self::Fixed(value) => value.clone(),
            Self::Drawn { dimension, range } => {
                let share = drawn.get(*dimension).and_then(|column| column.get(point));
                Value::Number(range.at(share.copied().unwrap_or(0.0)))
            }
        }
    }
}

impl ThreadsChoice {
    fn of(slot: Slot) -> Option<Self> {
        const MOST: f64 = 65_535.0;
        if let Slot::Fixed(Value::Text(text)) = &slot {
            let percent = match text.as_str() {
                "all" => Some(100),
                text => text.strip_suffix('%')?.trim().parse().ok(),
            };
            return percent.filter(|percent| (1..=10_000).contains(percent)).map(Self::Percent);
        }
        let is_count = |value: Value| match value {
            Value::Number(number) => number.fract() == 0.0 && (1.0..=MOST).contains(&number),
            _ => false,
        };
        slot.ends().into_iter().all(is_count).then_some(Self::Count(slot))
    }
}

/// Whole numbers of microseconds.
fn whole_list(entry: TomlItem<'_>) -> Result<Vec<u64>, Error> {
    let times = match entry.list() {
        None => vec![entry.whole(0)?],
        Some(list) => list.map(|item| item.whole(0)).collect::<Result<Vec<_>, _>>()?,
    };
    match times.iter().all(|&us| us <= TIME_MAX_US) && !times.is_empty() {
        true => Ok(times),
        false => Err(entry.refuse(&format!("must be from 0 to {TIME_MAX_US} us"))),
    }
}

/// Who decides where threads run, and how a run with such a scheduler begins.
fn schedulings(section: &TomlSection<'_>) -> Result<Vec<Option<Scheduling>>, Error> {
    let starts = section.find("start").map_or(Ok(StartState::ALL.to_vec()), |entry| {
        named(entry, StartState::ALL, |start| start.name())
    })?;
    let Some(entry) = section.find("scheduling") else { return Ok(vec![None]) };
    let each_start = |(_, kind)| match kind {
        None => vec![None],
        Some(kind) => starts.iter().map(|&start| Some(Scheduling { kind, start })).collect(),
    };
    Ok(named(entry, &SCHEDULINGS, |it| it.0)?.into_iter().flat_map(each_start).collect())
}

/// Returns true if a number of a machine counts something.
fn counts(key: &str) -> bool {
    ["cpus", "sockets", "cores_per_socket", "threads_per_core", "sockets_per_node"].contains(&key)
}

/// A machine by its name, or its file.
fn open(entry: TomlItem<'_>, named: &str, folder: &Path) -> Result<SimulatedMachine, Error> {
    let opened = match SimulatedMachine::builtin(named, Settings::default()) {
        Some(opened) => opened,
        None if named.contains('/') || named.ends_with(".toml") => {
            SimulatedMachine::from_path(folder.join(named), Settings::default())
        }
        None => {
            let known = Machine::builtin_names();
            return Err(unknown(entry, "machine", named, known, "lockwright machines"));
        }
    };
    opened.map_err(|error| entry.refuse(&format!("cannot be used: {error}")))
}
