//! What became of a lock in a torture, and the lines of locktorture about it.

use lockwright_measure::native::role::StarveRole;
use lockwright_measure::record::TrialRecord;
use lockwright_measure::stress::{Exercised, Stress};
use lockwright_measure::trial::{On, Trial};
use lockwright_measure::workload::Workload;
use lockwright_measure::workload::locktorture::is_reader;
use lockwright_sheets::{Starving, TrialWaits, count, duration, is_terminal, setting, width};
use lockwright_sim::Preemption;
use serde::Serialize;

/// What was mixed in; 0 is nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Mixed {
    long_hold_ms: f64,
    nested: usize,
    /// On average.
    preemption: Option<Faults>,
    shuffle_s: f64,
    stutter_s: f64,
}

/// When simulated threads lose their CPU.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct Faults {
    every_ns: u64,
    for_ns: u64,
}

impl From<Stress> for Mixed {
    fn from(stress: Stress) -> Self {
        let faults = |Preemption { every_ns, for_ns }| Faults { every_ns, for_ns };
        Self {
            long_hold_ms: stress.long_hold_ms(),
            nested: stress.nested,
            preemption: stress.preemption.map(faults),
            shuffle_s: stress.shuffle_s(),
            stutter_s: stress.stutter_s(),
        }
    }
}

/// Items in lines of at most `width`, each of which begins with `label`.
fn labelled(label: &str, items: impl IntoIterator<Item = String>, width: usize) -> Vec<String> {
    let mut lines = vec![label.to_string()];
    for item in items {
        let last = lines.len() - 1;
        match lines[last].len() + item.len() <= width {
            true => lines[last] += &item,
            false => lines.push(format!("{label}{item}")),
        }
    }
    lines
}

/// One lock with one number of threads.
#[derive(Clone, Debug, Serialize)]
pub struct TortureResult {
    lock: &'static str,
    threads: usize,
    /// How it began, if the threads share simulated CPUs.
    start_state: Option<&'static str>,
    secs: f64,
    /// Acquisitions of the writers.
    #[serde(flatten)]
    writes: Acquired,
    fail: u64,
    /// `SUCCESS` if everything that was checked held, or `FAILURE`.
    verdict: &'static str,
    /// Threads that wrote, and threads that read.
    writers: usize,
    readers: usize,
    /// Acquisitions of the readers.
    #[serde(skip_serializing_if = "Option::is_none")]
    reads: Option<Acquired>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<String>,
    #[serde(flatten)]
    waits: TrialWaits,
    /// Workload `starve`: the waits of its thread that waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    starving: Option<Starving>,
    most_overtakes: Option<u32>,
    exercised: Exercised,
    /// If the threads share simulated CPUs: how often one lost its CPU, and how often it slept.
    #[serde(skip_serializing_if = "Option::is_none")]
    switches: Option<Switches>,
    /// As the kernel writes them.
    #[serde(skip)]
    parameters: String,
    #[serde(skip)]
    is_simulated: bool,
    #[serde(skip)]
    is_guest: bool,
}

/// Acquisitions of all threads of a kind, of the fastest one and of the slowest one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
struct Acquired {
    total: u64,
    max: u64,
    min: u64,
}

impl Acquired {
    fn of(ops: impl Iterator<Item = u64> + Clone) -> Self {
        let (max, min) = (ops.clone().max(), ops.clone().min());
        Self { total: ops.sum(), max: max.unwrap_or(0), min: min.unwrap_or(0) }
    }
    /// The line of statistics, with the kernel's marks.
    fn line(self, label: &str, has_failed: bool) -> String {
        let Self { total, max, min } = self;
        // A thread had less than half of the acquisitions of the fastest one.
        let unfair = if max / 2 > min { "???" } else { "" };
        let (fail, mark) = if has_failed { (1, "!!!") } else { (0, "") };
        format!("{label}  Total: {total}  Max/Min: {max}/{min} {unfair}  Fail: {fail} {mark}")
    }
}

/// How often threads gave up their CPU and how often they lost it.
#[derive(Clone, Copy, Debug, Serialize)]
struct Switches {
    /// Sleeps and, in a guest, exits of vCPUs that spun for too long.
    voluntary: u64,
    involuntary: u64,
    pause_loop_exits: u64,
}

/// True if this thread of `spec` reads.
fn reads(spec: &Trial, thread: usize) -> bool {
    match spec.workload {
        Workload::Starve(it) if it.role == StarveRole::Reader => thread == 0,
        _ => is_reader(thread, spec.threads, spec.purpose.stress().readers),
    }
}

/// Every parameter, in alphabetical order; those of the kernel have its names.
fn parameters(on: &On, spec: &Trial) -> String {
    let Stress { long_hold_ns, stutter_ns, shuffle_ns, nested, preemption, readers } =
        spec.purpose.stress();
    let simulated =
        if on.is_simulated() { format!("simulated-{}", on.machine()) } else { "native".into() };
    let start =
        spec.scheduling.map_or_else(String::new, |it| format!(" start_state={}", it.start.name()));
    let reading = if readers > 0 { format!(" nreaders_stress={readers}") } else { String::new() };
    let vcpus = if on.is_guest() { format!(" vcpus={}", spec.threads) } else { String::new() };
    let time = |ns: u64| match ns {
        0 => "0".to_string(),
        ns => setting(ns as f64).replace(' ', ""),
    };
    format!(
        "faults={} long_hold={} machine={simulated} nested_locks={nested}{reading} nwriters_stress={} \
         shuffle_interval={}{start} stutter={}{vcpus}",
        u8::from(preemption.is_some()),
        time(long_hold_ns),
        spec.threads - readers,
        time(shuffle_ns),
        time(stutter_ns)
    )
}

impl TortureResult {
    /// The result of `spec` on a machine; `failure` says what broke.
    pub fn new(on: &On, spec: &Trial, measured: &TrialRecord, failure: Option<String>) -> Self {
        let readers = spec.purpose.stress().readers;
        let of = |reading: bool| {
            let all = measured.per_thread_ops.iter().copied().enumerate();
            let own = all.filter(move |&(thread, _)| reads(spec, thread) == reading);
            Acquired::of(own.map(|(_, ops)| ops))
        };
        Self {
            lock: spec.lock.name(),
            threads: spec.threads,
            start_state: spec.scheduling.map(|scheduling| scheduling.start.name()),
            secs: measured.window_ns as f64 / 1e9,
            writes: of(false),
            fail: measured.fail,
            verdict: if failure.is_some() { "FAILURE" } else { "SUCCESS" },
            writers: spec.threads - readers,
            readers,
            reads: (readers > 0).then(|| of(true)),
            failure,
            waits: TrialWaits::of(std::iter::once(measured)),
            starving: Starving::of(measured.starved.iter()),
            most_overtakes: measured.most_overtakes,
            exercised: measured.exercised,
            switches: spec.scheduling.map(|_| Switches {
                voluntary: measured.voluntary_switches,
                involuntary: measured.involuntary_switches,
                pause_loop_exits: measured.host.map_or(0, |host| host.pause_loop_exits),
            }),
            parameters: parameters(on, spec),
            is_simulated: on.is_simulated(),
            is_guest: on.is_guest(),
        }
    }
    /// The lock's name.
    pub fn name(&self) -> &'static str {
        self.lock
    }
    /// The lock, the number of threads and, if there is one, the start state.
    pub fn who(&self) -> String {
        let noun = if self.is_guest { "vCPUs" } else { "threads" };
        let start = self.start_state.map_or(String::new(), |start| format!(", {start}"));
        format!("{}, {} {noun}{start}", self.lock, self.threads)
    }
    /// Acquisitions of all threads.
    pub fn acquisitions_per_s(&self) -> f64 {
        (self.writes.total + self.reads.map_or(0, |reads| reads.total)) as f64 / self.secs
    }
    /// What broke, if something did.
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }
    /// What was mixed in and never happened, in words.
    pub fn missing(&self, stress: &Stress) -> Vec<&'static str> {
        self.exercised.missing(stress)
    }
    /// The lines of locktorture, and ours about the stress between them. On a terminal the lines with the
    /// parameters are split, each part with the name of the lock; a program gets them whole.
    pub fn lines(&self) -> Vec<String> {
        let width = width();
        let kept_whole = if is_terminal() { width } else { usize::MAX };
        self.lines_within(width, kept_whole)
    }
    fn lines_within(&self, width: usize, of_parameters: usize) -> Vec<String> {
        let has_failed = self.failure.is_some();
        let tagged = |what: &str| {
            let tag = format!("{}-torture:", self.lock);
            let room = of_parameters.saturating_sub(tag.len() + 4);
            let parts = lockwright_sheets::lines(&format!("{what}: {}", self.parameters), room);
            let mark = |at| if at == 0 { "---" } else { "   " };
            let parts = parts.iter().enumerate();
            parts.map(|(at, part)| format!("{tag}{} {part}", mark(at))).collect::<Vec<_>>()
        };
        let mut lines = tagged("Start of test");
        lines.push(self.writes.line("Writes:", has_failed));
        lines.extend(self.reads.map(|reads| reads.line("Reads :", has_failed)));
        lines.extend(self.stress_lines(width));
        lines.extend(tagged(&format!("End of test: {}", self.verdict)));
        lines
    }
    /// How often what was mixed in happened, and how fair it was, in lines of at most `width`.
    fn stress_lines(&self, width: usize) -> Vec<String> {
        let Exercised { long_holds, nested, stutters, shuffles, preemptions } = self.exercised;
        let label = if self.is_simulated { "Stress (simulated):" } else { "Stress:" };
        let number = |name: &str, number: u64| format!("  {name}: {}", count(number as f64));
        let mut items = vec![
            number("Long holds", long_holds),
            number("Nested", nested),
            number("Stutters", stutters),
        ];
        match (self.switches, self.is_simulated) {
            (Some(Switches { voluntary, involuntary, pause_loop_exits }), _) => {
                items.push(number("Preemptions", involuntary));
                items.push(number("Sleeps", voluntary.saturating_sub(pause_loop_exits)));
                items.extend(self.is_guest.then(|| number("Pause-loop exits", pause_loop_exits)));
            }
            (None, true) => items.push(number("Preemptions", preemptions)),
            (None, false) => items.push(number("Shuffles", shuffles)),
        }
        items.extend(self.most_overtakes.map(|most| number("Most overtakes", most.into())));
        let longest = self.waits.wait_ns.map_or("none".into(), |waits| duration(waits.max as f64));
        items.push(format!("  Longest wait: {longest}"));
        let mut lines = labelled(label, items, width);
        if let Some(starving) = self.starving {
            let items = starving.items().into_iter().map(|(what, it)| format!("  {what}: {it}"));
            lines.extend(labelled("Starve:", items, width));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockwright_measure::stats::Histogram;
    use lockwright_measure::subject::Subject;
    use lockwright_measure::trial::Purpose;
    use lockwright_measure::workload::Workload;
    use lockwright_measure::workload::locktorture::LocktortureParams;

    const STRESS: Stress = Stress {
        long_hold_ns: 100_000_000,
        stutter_ns: 5_000_000,
        shuffle_ns: 0,
        nested: 2,
        preemption: Some(Preemption { every_ns: 10, for_ns: 5 }),
        readers: 0,
    };

    fn result(per_thread_ops: Vec<u64>, failure: Option<&str>) -> TortureResult {
        result_with(0, per_thread_ops, failure)
    }

    fn result_with(
        readers: usize,
        per_thread_ops: Vec<u64>,
        failure: Option<&str>,
    ) -> TortureResult {
        let lock = Subject::find("ticket").expect("a known name");
        let workload = Workload::Locktorture(LocktortureParams::USUAL);
        let trial = Trial::new(lock, workload, per_thread_ops.len(), 1_000_000, 1);
        let purpose = Purpose::Torture(Stress { readers, ..STRESS });
        let spec = Trial { purpose, ..trial };
        let mut waits = Histogram::default();
        waits.record(1_250_000);
        let measured = TrialRecord {
            per_thread_ops,
            window_ns: 1_000_000,
            waits: Some(waits),
            most_overtakes: Some(3),
            exercised: Exercised { long_holds: 5, nested: 70, stutters: 4, ..Exercised::default() },
            ..TrialRecord::default()
        };
        let on = On::Simulated {
            machine: "x".into(),
            description: String::new(),
            cpus: 2,
            numa_nodes: 1,
            scheduled: None,
            placement: None,
            calibration: None,
        };
        TortureResult::new(&on, &spec, &measured, failure.map(String::from))
    }

    #[test]
    fn the_lines_are_those_of_locktorture_and_one_about_the_stress() {
        let lines = result(vec![70, 50], None).lines_within(200, usize::MAX);
        let [start, statistics, stress, end] = &lines[..] else { panic!("four lines") };
        let parameters = "faults=1 long_hold=100ms machine=simulated-x nested_locks=2 \
                          nwriters_stress=2 shuffle_interval=0 stutter=5ms";
        assert_eq!(*start, format!("ticket-torture:--- Start of test: {parameters}"));
        assert_eq!(*statistics, "Writes:  Total: 120  Max/Min: 70/50   Fail: 0 ");
        assert_eq!(
            *stress,
            "Stress (simulated):  Long holds: 5  Nested: 70  Stutters: 4  Preemptions: 0  \
             Most overtakes: 3  Longest wait: 1.25 ms"
        );
        assert_eq!(*end, format!("ticket-torture:--- End of test: SUCCESS: {parameters}"));
    }

    #[test]
    fn narrow_lines_keep_every_parameter_and_the_name_of_the_lock() {
        let whole = result(vec![70_000, 50], None).lines_within(200, usize::MAX);
        let narrow = result(vec![70_000, 50], None).lines_within(60, 60);
        assert!(narrow.iter().all(|line| line.len() <= 60), "{narrow:#?}");
        assert!(narrow.len() > whole.len());
        let mark = |line: &&String| line.contains("-torture:--- ");
        assert_eq!(narrow.iter().filter(mark).count(), 2, "{narrow:#?}");
        let words = |lines: &[String]| -> Vec<String> {
            let words = lines.iter().flat_map(|line| line.split_whitespace());
            let own = |word: &&str| *word != "ticket-torture:" && !word.starts_with("Stress");
            words.filter(own).filter(|word| *word != "(simulated):").map(String::from).collect()
        };
        assert_eq!(words(&narrow), words(&whole));
    }

    #[test]
    fn readers_have_a_line_of_their_own_and_are_no_writers() {
        let result = result_with(2, vec![7, 100, 5, 30], Some("a writer next to a reader"));
        let lines = result.lines_within(200, usize::MAX);
        assert_eq!(lines.len(), 5);
        assert!(lines[0].contains(" nreaders_stress=2 nwriters_stress=2 "), "{}", lines[0]);
        assert_eq!(lines[1], "Writes:  Total: 12  Max/Min: 7/5   Fail: 1 !!!");
        assert_eq!(lines[2], "Reads :  Total: 130  Max/Min: 100/30 ???  Fail: 1 !!!");
        let json = serde_json::to_value(&result).expect("it is plain");
        assert_eq!((&json["total"], &json["threads"]), (&12.into(), &4.into()));
        assert_eq!(json["reads"], serde_json::json!({"total": 130, "max": 100, "min": 30}));
    }

    #[test]
    fn unfair_and_failed_locks_are_marked() {
        let lines = result(vec![100, 49], Some("two owners")).lines_within(200, usize::MAX);
        assert_eq!(lines[1], "Writes:  Total: 149  Max/Min: 100/49 ???  Fail: 1 !!!");
        assert!(lines[3].contains("End of test: FAILURE"));
    }
}
