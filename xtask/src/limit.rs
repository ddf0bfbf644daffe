//! Running a program for a limited time.

use signal_hook::consts::{SIGINT, SIGTERM};
use std::fmt;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::{Duration, Instant};

/// Why there is no exit status.
#[derive(Debug, PartialEq, Eq)]
pub enum Stopped {
    /// It could not be started or waited for.
    Failed(String),
    /// It took longer than it may.
    Late(Duration),
    /// Ctrl-C, or a request to end.
    Interrupted,
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(why) => write!(f, "cannot be run: {why}"),
            Self::Late(limit) => write!(f, "was still running after {} s", limit.as_secs_f64()),
            Self::Interrupted => write!(f, "was interrupted"),
        }
    }
}

/// True after Ctrl-C, or after a request to end.
pub fn is_interrupted() -> bool {
    static FLAG: LazyLock<Arc<AtomicBool>> = LazyLock::new(|| {
        let flag = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // Without a handler the signal ends this process, which is what it asks for.
            let _ = signal_hook::flag::register(signal, flag.clone());
        }
        flag
    });
    FLAG.load(Relaxed)
}

/// A command, with one blank between two of its words.
pub fn command(line: &str) -> Command {
    let mut words = line.split(' ');
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words);
    command
}

/// A tool, or the one that the environment names in its place.
pub fn tool(variable: &str, name: &str) -> Command {
    Command::new(std::env::var_os(variable).unwrap_or_else(|| name.into()))
}

/// The words of a command, for a reader.
pub fn line_of(command: &Command) -> String {
    let words = [command.get_program()].into_iter().chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// Runs a command; if it takes longer than `limit`, or at Ctrl-C, kills it and everything it has
/// started.
pub fn status_within(command: &mut Command, limit: Duration) -> Result<ExitStatus, Stopped> {
    wait(&mut spawn(command)?, limit)
}

/// The same for what it prints, which is read while it runs: a pipe holds less than some print. Also kills what it has
/// started if that still has its pipes when it ends.
pub fn output_within(command: &mut Command, limit: Duration) -> Result<Printed, Stopped> {
    let mut child = spawn(command.stdout(Stdio::piped()).stderr(Stdio::piped()))?;
    let (out, err) = (child.stdout.take(), child.stderr.take());
    thread::scope(|scope| {
        let (out, err) = (scope.spawn(|| all_of(out)), scope.spawn(|| all_of(err)));
        let status = wait(&mut child, limit);
        if !(out.is_finished() && err.is_finished()) {
            kill_group(&mut child);
        }
        let [out, err] = [out, err].map(|it| it.join().expect("no reader panics").map_err(failed));
        Ok(Printed { status: status?, out: out?, err: err? })
    })
}

/// What a program printed, and how it ended.
#[derive(Debug, PartialEq, Eq)]
pub struct Printed {
    pub status: ExitStatus,
    pub out: String,
    pub err: String,
}

/// What a program printed that has to succeed.
pub fn printed(command: &mut Command, limit: Duration) -> Result<String, String> {
    let name = format!("`{}`", line_of(command));
    let Printed { status, out, err } =
        output_within(command, limit).map_err(|why| format!("{name} {why}"))?;
    if status.success() { Ok(out) } else { Err(format!("{name} fails: {out}{}", err.trim_end())) }
}

fn failed(error: io::Error) -> Stopped {
    Stopped::Failed(error.to_string())
}

fn all_of(pipe: Option<impl Read>) -> io::Result<String> {
    let mut bytes = Vec::new();
    pipe.map_or(Ok(0), |mut pipe| pipe.read_to_end(&mut bytes))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn spawn(command: &mut Command) -> Result<Child, Stopped> {
    // Handles signals before there is something that has to be killed.
    is_interrupted();
    // A process group of its own, so that there is something to kill as a whole.
    command.process_group(0).spawn().map_err(failed)
}

fn wait(child: &mut Child, limit: Duration) -> Result<ExitStatus, Stopped> {
    let start = Instant::now();
    let why = loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status),
            Ok(None) if is_interrupted() => break Stopped::Interrupted,
            Ok(None) if start.elapsed() < limit => thread::sleep(pause(start.elapsed())),
            Ok(None) => break Stopped::Late(limit),
            Err(error) => break failed(error),
        }
    };
    kill_group(child);
    Err(why)
}

/// How long to wait before the next look at a program that runs for this time: it is measured to a fiftieth.
fn pause(elapsed: Duration) -> Duration {
    (elapsed / 50).clamp(Duration::from_micros(100), Duration::from_millis(5))
}

fn kill_group(child: &mut Child) {
    // An error means that no process is left.
    let mut kill = Command::new("sh");
    let _ = kill.args(["-c", &format!("kill -9 -{}", child.id())]).stderr(Stdio::null()).status();
    let _ = child.wait();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn what_takes_too_long_is_killed_with_its_children() {
        let directory = std::env::temp_dir().join(format!("xtask-{}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("a temporary directory");
        let mark = directory.join("survivor");
        let script = format!("(sleep 1; touch {}) & sleep 60", mark.display());
        let limit = Duration::from_millis(100);
        assert_eq!(output_within(&mut shell(&script), limit), Err(Stopped::Late(limit)));
        thread::sleep(Duration::from_millis(1500));
        assert!(!mark.exists(), "a child has survived");
        std::fs::remove_dir_all(directory).expect("the directory made above");
    }

    #[test]
    fn a_program_that_ends_before_its_children_is_not_waited_for_any_longer() {
        // Without the end of the child this test hangs: only the program has a limit.
        let mut command = shell("sleep 3600 & echo done; exit 3");
        let output = output_within(&mut command, Duration::from_secs(60)).expect("an end");
        assert_eq!((output.status.code(), &*output.out), (Some(3), "done\n"));
    }

    #[test]
    fn a_program_that_prints_more_than_a_pipe_holds_ends() {
        let script = "head -c 300000 /dev/zero; head -c 200000 /dev/zero >&2; exit 3";
        let output = output_within(&mut shell(script), Duration::from_secs(60)).expect("an end");
        assert_eq!((output.out.len(), output.err.len()), (300_000, 200_000));
        assert_eq!(output.status.code(), Some(3));
    }
}
