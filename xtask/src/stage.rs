//! Stages: commands with a time limit, run one after the other until one is red.
//!
//! Everything said here goes to stderr, so that what a test runner prints last on stdout stays
//! readable.

use crate::limit::{output_within, status_within};
use crate::minutes;
use std::process::Command;
use std::time::{Duration, Instant};

/// One thing to check.
pub struct Stage {
    name: &'static str,
    seconds_max: u64,
    step: Step,
    /// What the command has to print, which is wrong on purpose and has to fail.
    report: Option<&'static str>,
    env: Vec<(&'static str, String)>,
    needs: Vec<Need>,
}

/// What a stage does.
pub enum Step {
    /// Runs a command; green if it exits with 0.
    Command(Vec<String>),
    /// Calls a function; green if it says so.
    Call(fn() -> bool),
}

/// Something a stage needs that may not be installed.
pub struct Need {
    /// A command of the shell that succeeds if it is there.
    pub probe: &'static str,
    /// How to get it.
    pub get: &'static str,
}

/// What became of a stage.
#[derive(Debug, PartialEq, Eq)]
pub enum Verdict {
    Green,
    Red(String),
    /// Not run; how to get what it needs.
    Missing(&'static str),
}

impl Stage {
    /// A stage that may take this many seconds.
    pub fn new(name: &'static str, seconds_max: u64, step: Step) -> Self {
        Self { name, seconds_max, step, report: None, env: Vec::new(), needs: Vec::new() }
    }
    /// A stage that runs a command: between two words is one blank, and between two blanks an empty word.
    pub fn command(name: &'static str, seconds_max: u64, line: &str) -> Self {
        let words = line.split(' ').map(String::from).collect();
        Self::new(name, seconds_max, Step::Command(words))
    }
    /// A stage that shows that a tool sees what it is there to see: the command has to fail and to print `text`.
    pub fn that_reports(self, text: &'static str) -> Self {
        Self { report: Some(text), ..self }
    }
    /// The same with an environment variable set.
    pub fn with_env(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.env.push((name, value.into()));
        self
    }
    /// The same, if `need` is there.
    pub fn needing(mut self, need: Need) -> Self {
        self.needs.push(need);
        self
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.name
    }
    /// Runs it, for as long as it may take and no longer than `left`.
    fn run(&self, left: Duration) -> Verdict {
        if let Some(need) = self.needs.iter().find(|need| !need.is_met()) {
            return Verdict::Missing(need.get);
        }
        let limit = Duration::from_secs(self.seconds_max).min(left);
        let command = match &self.step {
            Step::Call(call) if call() => return Verdict::Green,
            Step::Call(_) => return Verdict::Red("see above".into()),
            Step::Command(command) => command,
        };
        let mut process = Command::new(&command[0]);
        process.current_dir(crate::root());
        process.args(&command[1..]).envs(self.env.iter().cloned());
        let done = match self.report {
            None => match status_within(&mut process, limit) {
                Ok(status) if status.success() => Ok(()),
                Ok(status) => Err(status.to_string()),
                Err(stopped) => Err(stopped.to_string()),
            },
            Some(text) => reports(process, limit, text),
        };
        done.map_or_else(Verdict::Red, |()| Verdict::Green)
    }
    /// What a person types to run the stage.
    fn shown(&self) -> String {
        let Step::Command(command) = &self.step else {
            return format!("cargo xtask {}", self.name);
        };
        let quoted = |value: &String| match value.is_empty() || value.contains(' ') {
            true => format!("'{value}'"),
            false => value.clone(),
        };
        let env = self.env.iter().map(|(name, value)| format!("{name}={}", quoted(value)));
        env.chain(command.iter().map(quoted)).collect::<Vec<_>>().join(" ")
    }
}

impl Need {
    /// True if it is installed.
    pub fn is_met(&self) -> bool {
        let probed = Command::new("sh").args(["-c", self.probe]).output();
        probed.is_ok_and(|output| output.status.success())
    }
}

/// Runs the stages in order up to the first red one. Returns true if all are green. A stage that was not run
/// because something is missing counts as red unless `allow_missing`.
pub fn run_all(stages: &[Stage], allow_missing: bool) -> bool {
    run_all_within(stages, allow_missing, Duration::MAX)
}

/// The same; the stage that runs when `limit` is over is red. At the end a table says how many minutes each took.
pub fn run_all_within(stages: &[Stage], allow_missing: bool, limit: Duration) -> bool {
    let begin = Instant::now();
    let mut ended = Vec::new();
    for stage in stages {
        eprintln!("== {}: {}", stage.name, stage.shown());
        let start = Instant::now();
        let verdict = stage.run(limit.saturating_sub(begin.elapsed()));
        let took = start.elapsed();
        let after = format!("after {:.1} s", took.as_secs_f64());
        let said = match &verdict {
            Verdict::Green => format!("green {after}"),
            Verdict::Red(reason) => {
                format!("RED {after}: {reason}\n== to reproduce: {}", stage.shown())
            }
            Verdict::Missing(get) => format!(
                "not run, because something that it needs is not here. Type `{get}`: it gets it, or says why it cannot"
            ),
        };
        eprintln!("== {}: {said}", stage.name);
        if !cfg!(test) {
            minutes::write(stage.name, took, verdict.word());
        }
        let is_red = matches!(verdict, Verdict::Red(_));
        ended.push((stage.name, took, verdict));
        if is_red {
            break;
        }
    }
    eprint!("{}", table(&ended, begin.elapsed()));
    ended.iter().all(|(_, _, verdict)| match verdict {
        Verdict::Green => true,
        Verdict::Red(_) => false,
        Verdict::Missing(_) => allow_missing,
    })
}

/// How many minutes each stage took, and what became of it.
fn table(ended: &[(&str, Duration, Verdict)], all: Duration) -> String {
    let minutes = |took: &Duration| took.as_secs_f64() / 60.0;
    let row = |(name, took, verdict): &(&str, Duration, Verdict)| {
        format!("{:8.1}  {name}: {}\n", minutes(took), verdict.word())
    };
    let rows: String = ended.iter().map(row).collect();
    format!("== minutes\n{rows}{:8.1}  in all\n", minutes(&all))
}

impl Verdict {
    fn word(&self) -> &'static str {
        match self {
            Self::Green => "green",
            Self::Red(_) => "RED",
            Self::Missing(_) => "not run",
        }
    }
}

/// Runs a command that has to fail by itself and to print `text`; shows what it printed if it does
/// not.
fn reports(mut command: Command, limit: Duration, text: &str) -> Result<(), String> {
    let output = output_within(&mut command, limit).map_err(|stopped| stopped.to_string())?;
    let printed = output.out + &output.err;
    match (output.status.success(), printed.contains(text)) {
        (true, _) => Err(format!("the tool did not report: {text}")),
        (false, true) => Ok(()),
        (false, false) => {
            eprint!("{printed}");
            Err(format!("failed without the report: {text}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Stage {
        let words = ["sh", "-c", script].map(String::from);
        Stage::new("test", 60, Step::Command(words.into())).with_env("COLOUR", "blue")
    }

    #[test]
    fn a_stage_is_as_green_as_its_command() {
        let verdict = |stage: Stage| stage.run(Duration::MAX);
        assert_eq!(verdict(shell("test \"$COLOUR\" = blue")), Verdict::Green);
        let nothing = Stage::command("test", 60, "no-such-command-anywhere");
        let late = Stage::command("test", 0, "sleep 60");
        let report = |script| shell(script).that_reports("a race");
        assert_eq!(verdict(report("echo there was a race >&2; exit 1")), Verdict::Green);
        let hung = Stage { seconds_max: 1, ..shell("echo a race; sleep 60") };
        for (red, why) in [
            (shell("exit 3"), "3"),
            (nothing, ""),
            (late, "still running"),
            (report("echo there was a race"), "did not report"),
            (report("echo cannot be compiled; exit 1"), "without the report"),
            (hung.that_reports("a race"), "still running"),
        ] {
            assert!(matches!(verdict(red), Verdict::Red(reason) if reason.contains(why)), "{why}");
        }
    }

    #[test]
    fn the_first_red_stage_and_the_end_of_the_time_end_the_run() {
        let unreachable = Stage::new("test", 60, Step::Call(|| panic!("ran after a red stage")));
        assert!(!run_all(&[shell("exit 0"), shell("exit 1"), unreachable], false));
        assert!(run_all(&[shell("exit 0")], false));
        let limit = Duration::from_millis(500);
        assert!(!run_all_within(&[shell("exit 0"), shell("sleep 30")], false, limit));
    }

    #[test]
    fn a_stage_that_lacks_something_is_not_green_unless_that_is_allowed() {
        let needs = |probe| [shell("exit 0").needing(Need { probe, get: "install it" })];
        assert!(run_all(&needs("echo one two | grep ^one"), false));
        assert!(!run_all(&needs("echo one two | grep ^two"), false));
        assert!(run_all(&needs("echo one two | grep ^two"), true));
    }
}
