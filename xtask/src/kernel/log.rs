//! Reads the log of a guest.

use super::boots::{Boot, Expects};
use super::build::LAWS;
use super::laws;
use super::report::{BootResult, Row};
use std::collections::BTreeMap;

/// What no line of a healthy guest has.
const BAD: &str = "BUG|WARNING|Oops|lockup|stall|Call Trace|corruption|hung|general protection|Kernel panic|\
     is WRONG|-torture: STUCK: |guest: FAILED";
/// A module from outside of the kernel's tree (4096), not signed (8192).
const TAINT: &str = "12288";
/// What a control says before it does what the guest has to die of.
const BROKEN: &str = "guest: broken from here on";
/// How often a slow path was entered while three others of that CPU waited.
const FOURTH: &str = "entries_level3";
/// How many bad lines are shown.
const SHOWN_MAX: usize = 10;

/// What became of a boot that was ended at its limit, or ended by itself.
pub fn read(boot: &Boot, text: &str, seconds: f64, is_late: bool) -> BootResult {
    // The command line names what a panic shall follow on.
    let is_command_line =
        |it: &str| it.contains("ommand line:") || it.contains("softlockup_panic=");
    let lines: Vec<_> = text.lines().map(message).filter(|it| !is_command_line(it)).collect();
    let mut reader = Reader { selected: "stock".into(), ..Reader::default() };
    lines.iter().for_each(|line| reader.take(line));
    let Reader { mut rows, mut complaints, counted, loads, depths, .. } = reader;
    if !depths.is_empty() {
        rows.push(Row { test: "waiters that an entry of ours has found".into(), numbers: depths });
    }
    if !counted.is_empty() {
        // With CPUs that run at the same time it is rare.
        if !boot.machine.is_parallel && counted.get(FOURTH).is_none_or(|count| *count == 0) {
            complaints.push("no CPU has used its fourth queue node".into());
        }
        rows.push(Row { test: "counters".into(), numbers: counted });
    }
    if let Some(count) = loads.get("loads").copied() {
        rows.push(Row { test: format!("flips, in {count} loads of the module"), numbers: loads });
    }
    if boot.machine.is_parallel {
        // Each CPU is a node there, so this says nothing.
        let is_of_nodes = |name: &str| name.contains("node") || name == "longest-run";
        rows.iter_mut().for_each(|row| row.numbers.retain(|name, _| !is_of_nodes(name)));
    }
    rows.extend(laws::rows(&lines));
    let end = format!("guest: end of plan {}", boot.plan);
    let has_ended = lines.contains(&&*end);
    let bad: Vec<_> =
        lines.iter().filter(|line| BAD.split('|').any(|it| line.contains(it))).collect();
    match boot.expects {
        Expects::Death if has_ended => complaints.push("the guest has survived".into()),
        // A guest that dies before has shown nothing.
        Expects::Death if !lines.iter().any(|line| line.starts_with(BROKEN)) => {
            complaints.push("the guest died before it was broken".into());
        }
        Expects::Death if boot.has_laws() && !laws::is_broken(&lines) => {
            complaints.push("the guest died, but not of a law".into());
        }
        Expects::Death => complaints.clear(),
        Expects::Success | Expects::Refusal(_) | Expects::Stuck if !has_ended => {
            let how = if is_late { "was ended at its time limit" } else { "died" };
            complaints.push(format!("the guest {how} before the end of the plan"));
        }
        _ => {}
    }
    match boot.expects {
        Expects::Success => {
            complaints.extend(bad.iter().take(SHOWN_MAX).map(|line| format!("in the log: {line}")));
            if rows.is_empty() {
                complaints.push("nothing was tested".into());
            }
            if boot.has_laws() {
                let times = boot.value("times").and_then(|times| times.parse().ok());
                complaints.extend(laws::missing(times, &rows));
            }
        }
        Expects::Refusal(reason) if !lines.iter().any(|line| line.contains(reason)) => {
            complaints.push(format!("the module has not refused, as it should: {reason}"));
        }
        Expects::Stuck => {
            complaints.retain(|it| it.starts_with("the guest "));
            complaints.extend(boot.not_stuck(&rows));
        }
        _ => {}
    }
    BootResult { name: boot.name, seconds, rows, complaints }
}

impl Boot {
    fn has_laws(&self) -> bool {
        self.variant.contains(&LAWS)
    }
    /// The locks of its plan of which no torture has said that it is stuck.
    fn not_stuck(&self, rows: &[Row]) -> Vec<String> {
        let locks = self.value("torture").unwrap_or_default().split(',');
        let is_not = |lock: &&str| !rows.iter().any(|row| row.test == stuck_row(lock));
        locks.filter(is_not).map(|it| format!("the torture of {it} has not been stuck")).collect()
    }
}

fn stuck_row(lock: &str) -> String {
    format!("torture of {lock} is stuck")
}

/// A line without its time.
fn message(line: &str) -> &str {
    let rest = line.trim_end().trim_start_matches('\0');
    let after = rest.strip_prefix('[').and_then(|it| it.split_once("] "));
    after.map_or(rest, |(_, message)| message)
}

#[derive(Default)]
struct Reader {
    /// Which slow path is in use, as far as the guest has said.
    selected: String,
    torture: Option<Torture>,
    numbers: BTreeMap<String, u64>,
    /// Counters of the module, the highest that were seen: a new load of it begins at zero.
    counted: BTreeMap<String, u64>,
    /// How many entries of our slow path have found how many waiters.
    depths: BTreeMap<String, u64>,
    /// What the loads of the module said when they ended, added up.
    loads: BTreeMap<String, u64>,
    rows: Vec<Row>,
    complaints: Vec<String>,
}

/// A torture that runs.
struct Torture {
    lock: String,
    /// The line with its parameters.
    start: String,
    /// The slow path has changed meanwhile.
    has_flipped: bool,
}

impl Reader {
    fn take(&mut self, line: &str) {
        if let Some((lock, rest)) = line.split_once("-torture:") {
            return self.take_torture(lock, rest);
        }
        if let Some(rest) = line.strip_prefix("lockwright: gave the slow path back: ") {
            let numbers = pairs(rest);
            if numbers.get("wrong") != Some(&0) {
                self.complaints.push(format!("a check of a flip has failed: {rest}"));
            }
            self.selected = "stock".into();
            *self.loads.entry("loads".into()).or_default() += 1;
            add(&mut self.loads, numbers);
        }
        let Some(said) = line.strip_prefix("guest: ") else { return };
        if let Some(lock) = said.strip_prefix("selected ") {
            self.selected = lock.into();
        } else if said.starts_with("flips ") && said.contains(" between ") {
            self.torture.iter_mut().for_each(|torture| torture.has_flipped = true);
        } else if said.starts_with("entries_level") || said.starts_with("event ") {
            for (name, count) in pairs(said.trim_start_matches("event ")) {
                let highest = self.counted.entry(name).or_default();
                *highest = count.max(*highest);
            }
        } else if said.starts_with("depth_") {
            self.depths.extend(pairs(said));
        } else if let Some(rest) = said.strip_prefix("storm ") {
            let (load, rest) = rest.split_once(' ').unwrap_or((rest, ""));
            let numbers = pairs(rest);
            if numbers.get("wrong") != Some(&0) {
                self.complaints.push(format!("a program got a wrong result: {said}"));
            }
            let test = format!("programs: {load}");
            match self.rows.iter_mut().find(|row| row.test == test) {
                Some(row) => add(&mut row.numbers, numbers),
                None => self.rows.push(Row { test, numbers }),
            }
        } else if let Some(taint) = said.strip_prefix("taint ")
            && taint != TAINT
        {
            self.complaints.push(format!("the kernel is tainted: {taint} instead of {TAINT}"));
        }
    }

    fn take_torture(&mut self, lock: &str, rest: &str) {
        if rest.contains("Start of test") {
            let (lock, start) = (lock.into(), rest.into());
            self.torture = Some(Torture { lock, start, has_flipped: false });
            self.numbers.clear();
        } else if let Some((_, stuck)) = rest.split_once("STUCK: ") {
            let words: Vec<_> = stuck.split_whitespace().collect();
            let counted =
                words.windows(2).filter(|pair| ["rounds", "rests", "times"].contains(&pair[1]));
            let number = |pair: &[&str]| Some((pair[1].to_string(), pair[0].parse().ok()?));
            let numbers = counted.filter_map(number).collect();
            self.rows.push(Row { test: stuck_row(lock), numbers });
        } else if let Some((whose, counts)) = rest.split_once("Max/Min: ") {
            let mut counts = counts.split(['/', ' ']).filter_map(|it| it.parse().ok());
            let names = match whose.contains("Reads") {
                true => ["most-per-reader", "least-per-reader"],
                false => ["most-per-writer", "least-per-writer"],
            };
            let counts = names.iter().zip(&mut counts).map(|(name, it)| (name.to_string(), it));
            self.numbers.extend(counts);
        } else if let Some((_, exact)) = rest.split_once("Exact: ") {
            // `counter` and `violations` come several times. They are in the verdict.
            self.numbers.extend(pairs(exact));
        } else if rest.contains("End of test") {
            self.end_torture(lock, rest.contains("SUCCESS"));
        }
    }

    fn end_torture(&mut self, lock: &str, is_exact: bool) {
        let Some(torture) = self.torture.take().filter(|torture| torture.lock == lock) else {
            return self.complaints.push(format!("a torture of {lock} ends that has not begun"));
        };
        let mut numbers = std::mem::take(&mut self.numbers);
        numbers.retain(|name, _| !["counter", "violations"].contains(&name.as_str()));
        let count = |name: &str| numbers.get(name).copied().unwrap_or(0);
        let handovers = count("same-node") + count("other-node");
        let per_mille = (count("same-node") * 1000).checked_div(handovers).unwrap_or(0);
        numbers.insert("same-node-per-mille".into(), per_mille);
        numbers.insert("exact".into(), is_exact.into());
        let is_busted = lock.ends_with("_busted");
        if is_exact == is_busted {
            let what = if is_busted { "is not caught" } else { "is not exact" };
            self.complaints.push(format!("the torture of {lock} {what}"));
        }
        let has = |parameter: &str| torture.start.contains(parameter);
        let has_interrupts = !has(" irq_interval_us=0 ");
        let has_reports = has(" stat_interval=") && !has(" stat_interval=0 ");
        let is_meant = [
            ("acquired", true),
            ("interrupts", has_interrupts),
            ("softirqs", has_interrupts),
            ("nmis", has(" nmis=1 ")),
            ("reads", has(" nreaders_stress=") && !has(" nreaders_stress=0 ")),
            ("reports", has_reports),
            ("pauses", has_reports),
        ];
        for (name, _) in is_meant.iter().filter(|(_, is_meant)| *is_meant) {
            if numbers.get(*name).is_none_or(|count| *count == 0) {
                self.complaints.push(format!("the torture of {lock} has counted no {name}"));
            }
        }
        let slow_path = match (lock.starts_with("spin_lock"), torture.has_flipped) {
            (false, _) => String::new(),
            (true, true) => ", slow path in turns".into(),
            (true, false) => format!(", slow path {}", self.selected),
        };
        let nmis = if has(" nmis=1 ") { ", NMIs" } else { "" };
        // Each thread takes the lock once in a round.
        let rounds = if has(" rounds=1 ") { ", in rounds" } else { "" };
        let test = format!("torture of {lock}{slow_path}{nmis}{rounds}");
        self.rows.push(Row { test, numbers });
    }
}

fn add(sums: &mut BTreeMap<String, u64>, numbers: BTreeMap<String, u64>) {
    numbers.into_iter().for_each(|(name, it)| *sums.entry(name).or_default() += it);
}

/// Words in turns: a name, and a number.
fn pairs(text: &str) -> BTreeMap<String, u64> {
    let words: Vec<_> = text.split_whitespace().collect();
    let pair = |pair: &[&str]| Some((pair[0].to_string(), pair[1].parse().ok()?));
    words.chunks_exact(2).filter_map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::super::boots::Machine;
    use super::*;

    fn boot(expects: Expects) -> Boot {
        let machine = Machine { cpus: 8, absent: 0, nodes: 4, is_parallel: false, is_guest: false };
        let (name, plan) = ("b", "p");
        Boot { name, plan, machine, words: String::new(), expects, seconds_max: 1, variant: &[] }
    }

    const HEALTHY: &str = "[    0.0] Kernel command line: softlockup_panic=1 plan=p
[    1.0] guest: selected cna
[    2.0] spin_lock-torture:--- Start of test: nwriters_stress=8
[    4.0] spin_lock-torture: Writes:  Total: 30  Max/Min: 16/14   Fail: 0
[    4.0] spin_lock-torture: Exact: acquired 30 counter 30 violations 0 interrupts 5 counter 5 violations 0 softirqs 4 counter 4 violations 0 nmis 0 counter 0 violations 0 \
same-node 10 other-node 20 longest-run 3
[    4.0] spin_lock-torture:--- End of test: SUCCESS: nwriters_stress=8
[    4.5] guest: event lock_pending 9
[    4.5] guest: entries_level1 2
[    4.5] guest: entries_level3 6
[    4.6] guest: entries_level1 1
[    5.0] guest: storm fork done 7 wrong 0
[    5.5] guest: storm fork done 8 wrong 0
[    6.0] lockwright: gave the slow path back: flips 3 wrong 0 entries-kernel 4 entries-ours 5
[    7.0] guest: taint 12288
[    7.0] guest: end of plan p
";

    #[test]
    fn a_healthy_log_becomes_rows() {
        let result = read(&boot(Expects::Success), HEALTHY, 1.0, false);
        assert_eq!(result.complaints, Vec::<String>::new());
        let tests: Vec<_> = result.rows.iter().map(|row| &*row.test).collect();
        let expected = [
            "torture of spin_lock, slow path cna",
            "programs: fork",
            "counters",
            "flips, in 1 loads of the module",
        ];
        assert_eq!(tests, expected);
        assert_eq!(result.rows[1].numbers["done"], 15);
        let numbers = &result.rows[0].numbers;
        let of = |name: &str| numbers[name];
        let counted = &result.rows[2].numbers;
        assert_eq!((counted["lock_pending"], counted["entries_level1"]), (9, 2));
        assert_eq!((of("most-per-writer"), of("least-per-writer")), (16, 14));
        assert_eq!((of("same-node-per-mille"), of("exact"), of("interrupts")), (333, 1, 5));
    }

    #[test]
    fn each_thing_that_is_wrong_is_a_complaint() {
        let row = |from: &str, to: &str| HEALTHY.replace(from, to);
        for (log, complaint) in [
            (row("SUCCESS", "FAILURE"), "is not exact"),
            (row("spin_lock-", "lock_busted-"), "is not caught"),
            (row("acquired 30", "acquired 0"), "counted no acquired"),
            (row("nwriters_stress=8", "nmis=1 hold=1"), "counted no nmis"),
            (row("interrupts 5", "interrupts 0"), "counted no interrupts"),
            (row("softirqs 4", "softirqs 0"), "counted no softirqs"),
            (row("entries_level3 6", "entries_level3 0"), "its fourth queue node"),
            (row("nwriters_stress=8", "nreaders_stress=8 hold=1"), "counted no reads"),
            (row("nwriters_stress=8", "stat_interval=1 hold=1"), "counted no pauses"),
            (row("guest: end", "a-torture: STUCK: 1 thread\nguest: end"), "in the log: a-tor"),
            (row("wrong 0 entries", "wrong 1 entries"), "a check of a flip"),
            (row("done 7 wrong 0", "done 7 wrong 2"), "a wrong result"),
            (row("taint 12288", "taint 12800"), "tainted: 12800"),
            (row("guest: end of plan p", ""), "died before the end"),
            (row("guest: end", "WARNING: CPU: 1\nguest: end"), "in the log: WARNING"),
            (row("guest: end", "rcu: INFO: self-detected stall\nguest: end"), "in the log: rcu"),
            (row("guest: end", "guest: FAILED: cna\nguest: end"), "in the log: guest"),
            ("guest: end of plan p\n".into(), "nothing was tested"),
        ] {
            let result = read(&boot(Expects::Success), &log, 1.0, false);
            assert!(result.complaints.iter().any(|it| it.contains(complaint)), "{complaint}");
        }
        let late = read(&boot(Expects::Success), "", 1.0, true);
        assert!(late.complaints.iter().any(|it| it.contains("time limit")));
    }

    #[test]
    fn each_lock_that_loses_wake_ups_has_to_be_stuck() {
        let boot = Boot { words: "torture=a,b".into(), ..boot(Expects::Stuck) };
        let stuck = |lock: &str| format!("{lock}-torture: STUCK: after 7 rounds and 9 times\n");
        let end = "guest: end of plan p\n";
        let complaints = |log: &str| read(&boot, log, 1.0, false).complaints;
        let both = [&stuck("a"), &stuck("b"), end].concat();
        assert_eq!(complaints(&both), Vec::<String>::new());
        let rows = read(&boot, &both, 1.0, false).rows;
        assert_eq!((&*rows[1].test, rows[1].numbers["rounds"]), ("torture of b is stuck", 7));
        let one = complaints(&[&stuck("a"), end].concat());
        assert_eq!(one, ["the torture of b has not been stuck"]);
        let died = complaints(&[stuck("a"), stuck("b")].concat());
        assert_eq!(died, ["the guest died before the end of the plan"]);
    }

    #[test]
    fn a_control_has_to_die_or_to_be_refused() {
        let complaints = |expects, log: &str| read(&boot(expects), log, 1.0, true).complaints.len();
        let dies = "guest: broken from here on: it returns\nKernel panic - not syncing";
        assert_eq!(complaints(Expects::Death, dies), 0);
        assert_eq!(complaints(Expects::Death, "Kernel panic - not syncing"), 1);
        assert_eq!(complaints(Expects::Death, HEALTHY), 1);
        let refused = "lockwright: refused: no\nguest: end of plan p\n";
        assert_eq!(complaints(Expects::Refusal("refused: no"), refused), 0);
        assert_eq!(complaints(Expects::Refusal("refused: no"), HEALTHY), 1);
    }
}
