//! The command line: its commands and their help.

mod answer;

pub use answer::answer;

use crate::commands::{
    bench, calibrate, compare, completions, diff, explore, lists, machines, man, reproduce, run,
    sweep, torture, tour,
};
use clap::{Arg, CommandFactory, Parser, Subcommand, ValueHint};
use lockwright_core::native;
use lockwright_core::tunables::Tunable;
use lockwright_measure::error::Error;
use lockwright_sheets::{DocumentArgs, print};
use std::process::ExitCode;

/// Locks from the Linux kernel for programs on Linux: measure, torture and simulate them
#[derive(Debug, Parser)]
#[command(name = "lockwright", version, max_term_width = 100, disable_help_subcommand = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    command: Option<Command>,
}

/// A command.
#[derive(Debug, Subcommand)]
enum Command {
    /// See what the locks do, on this computer and simulated, in a minute
    #[command(before_help = "Examples:
  lockwright tour
  lockwright tour --plot-dir pictures
  lockwright tour --json tour.json --quiet")]
    Tour(tour::TourArgs),
    /// Measure locks: throughput, waiting times, fairness
    #[command(before_help = "Examples:
  lockwright bench --lock mutex,std,parking_lot --threads 1,2,4
  lockwright bench --on x5-4 --workload locktorture --lock cna,fifo --threads 36
  lockwright bench --on haswell-2s --vcpus 36,72 --lock park,hybrid,unfair")]
    Bench(bench::BenchArgs),
    /// Compare our mutex and reader-writer locks with other libraries
    #[command(before_help = "Examples:
  lockwright compare --quick
  lockwright compare --cell pair,'cs1-*' --peer std,parking_lot
  lockwright compare --quick --on x5-4 --kind exclusive   (simulated)")]
    Compare(compare::CompareArgs),
    /// Say what got slower or faster between two results
    #[command(before_help = "Examples:
  lockwright diff before.json after.json
  lockwright diff before.json after.json --tolerance 5
  lockwright diff before.json after.json --csv changes.csv")]
    Diff(diff::DiffArgs),
    /// Run a program in C or C++ with our locks in the place of glibc's
    #[command(before_help = "Examples:
  lockwright run -- python3 program.py
  lockwright run --policy fair --verbose -- mariadbd --user=mysql
  lockwright run --check -- memcached")]
    Run(run::RunArgs),
    /// Try to break locks under load
    #[command(before_help = "Examples:
  lockwright torture --lock mutex,rwlock --secs 10
  lockwright torture --on x5-4 --faults
  lockwright torture --lock busted       (a lock that is broken on purpose)")]
    Torture(torture::TortureArgs),
    /// Search thread interleavings for bugs, simulated
    #[command(before_help = "Examples:
  lockwright explore --lock cna --client exclusion
  lockwright explore --lock busted --client exclusion     (broken on purpose)
  lockwright explore --lock mutex --bug 45")]
    Explore(explore::ExploreArgs),
    /// Simulate a published table, next to what was published
    #[command(before_help = "Examples:
  lockwright reproduce
  lockwright reproduce cna_v10_locktorture_x5_4 --quick --plot table.svg
  lockwright reproduce cna_v10_locktorture_x5_4 --lock mcs,cna-v15
  lockwright reproduce --all --json tables.json")]
    Reproduce(reproduce::ReproduceArgs),
    /// Run the trials of a question in a file, on one computer or many
    #[command(before_help = "Examples:
  lockwright sweep examples/sweeps/numa.toml --dry-run
  lockwright sweep numa.toml --out results --shard 1/4
  lockwright sweep merge results --csv numa.csv")]
    Sweep(sweep::SweepArgs),
    /// Fit a built-in machine to published numbers again (some minutes)
    #[command(before_help = "Examples:
  lockwright calibrate x5-4
  lockwright calibrate x5-4 --toml x5-4.calibration.toml --out fits
  lockwright calibrate haswell-2s --json fit.json --toml fit.toml")]
    Calibrate(calibrate::CalibrateArgs),
    /// List the locks, or show one with what was posted
    #[command(before_help = "Examples:
  lockwright locks
  lockwright locks cna-v15
  lockwright locks --json -")]
    Locks(lists::LocksArgs),
    /// List simulated machines, show one, or describe this computer as one
    #[command(before_help = "Examples:
  lockwright machines
  lockwright machines show x5-4 > mine.toml
  lockwright machines probe --out here.toml")]
    Machines(machines::MachinesArgs),
    /// List the workloads and their parameters
    Workloads(DocumentArgs),
    /// List the published tables that `reproduce` simulates
    Tables(DocumentArgs),
    /// List the test clients of `explore`: small programs that use a lock
    Clients(DocumentArgs),
    /// List known bugs that can be put into a lock, and what finds each
    Bugs(DocumentArgs),
    /// List the lock events that are counted
    Events(DocumentArgs),
    /// Print a completion script for a shell
    #[command(before_help = "Examples:
  lockwright completions bash > lockwright.bash
  lockwright completions zsh > _lockwright
  lockwright completions fish > lockwright.fish")]
    Completions(completions::CompletionsArgs),
    /// Print the manual page, or write one for each command
    #[command(before_help = "Examples:
  lockwright man | man -l -
  lockwright man --out man1
  lockwright man > lockwright.1")]
    Man(man::ManArgs),
}

impl Cli {
    /// Runs the command.
    pub fn run(&self) -> Result<ExitCode, Error> {
        let done = |()| ExitCode::SUCCESS;
        if !matches!(self.command, Some(Command::Run(_))) {
            // The first look says which variables are wrong. Of a program that is run, the library says it.
            native::tunable(Tunable::numa_spinlock);
        }
        match &self.command {
            None => first_help().map(done),
            Some(Command::Tour(args)) => tour::run(args),
            Some(Command::Locks(args)) => lists::locks(args).map(done),
            Some(Command::Machines(args)) => machines::run(args),
            Some(Command::Workloads(args)) => lists::workloads(args).map(done),
            Some(Command::Events(args)) => lists::events(args).map(done),
            Some(Command::Tables(args)) => lists::tables(args).map(done),
            Some(Command::Clients(args)) => lists::clients(args).map(done),
            Some(Command::Bugs(args)) => lists::bugs(args).map(done),
            Some(Command::Completions(args)) => completions::run(args, command()).map(done),
            Some(Command::Man(args)) => man::run(args, command()).map(done),
            Some(Command::Bench(args)) => bench::run(args),
            Some(Command::Compare(args)) => compare::run(args),
            Some(Command::Diff(args)) => diff::run(args),
            Some(Command::Run(args)) => run::run(args),
            Some(Command::Torture(args)) => torture::run(args),
            Some(Command::Explore(args)) => explore::run(args),
            Some(Command::Reproduce(args)) => reproduce::run(args),
            Some(Command::Sweep(args)) => sweep::run(args),
            Some(Command::Calibrate(args)) => calibrate::run(args),
        }
    }
}

/// Examples come first: they are what a help text is read for.
const COMMAND_HELP: &str =
    "{about-with-newline}\n{usage-heading} {usage}\n\n{before-help}{all-args}{after-help}";

/// The groups of the first help text, by their first commands.
const GROUPS: [(&str, &str); 6] = [
    ("tour", "Start here"),
    ("bench", "Measure"),
    ("run", "Use the locks in programs that are not recompiled"),
    ("torture", "Find bugs"),
    ("reproduce", "Simulate published work"),
    ("locks", "See what there is"),
];
/// The first command that it does not list.
const LAST: &str = "completions";

/// The last lines of the first help text.
const AFTERWORD: &str = "\
Other: completions, man, --version. Each command has --help with examples.
A TIME is 100ms, 2us or 1.5s. A number alone is in the unit that the name of the
option ends with (--section-ns 500), else in seconds.
Exit codes: 0 done; 1 a lock broke or a measurement failed; 2 the command line
or a file is wrong; 130 interrupted (what was measured until then is kept).
The words used here are explained in docs/glossary.md.";

/// The command line with its help texts.
pub fn command() -> clap::Command {
    let mut command = Cli::command();
    // The lists have the same examples.
    for list in command.get_subcommands_mut().filter(|it| it.get_before_help().is_none()) {
        let name = list.get_name();
        let examples = format!(
            "Examples:\n  lockwright {name}\n  lockwright {name} --csv {name}.csv\n  lockwright {name} --json -"
        );
        *list = std::mem::take(list).before_help(examples);
    }
    let template = grouped(&command);
    with_examples_first(command).help_template(template).after_help(AFTERWORD)
}

/// The command with the layout of a command's help, and so all below it. What looks like a negative number is the
/// value of an option, which says what to write instead; no file is called that.
fn with_examples_first(mut command: clap::Command) -> clap::Command {
    for subcommand in command.get_subcommands_mut() {
        *subcommand = with_examples_first(std::mem::take(subcommand));
    }
    let is_option = |arg: &Arg| arg.get_action().takes_values() && !arg.is_positional();
    let takes_minus = |arg: Arg| match is_option(&arg) && arg.get_value_hint() != ValueHint::AnyPath
    {
        true => arg.allow_negative_numbers(true),
        false => arg,
    };
    command.mut_args(takes_minus).help_template(COMMAND_HELP)
}

/// Prints the first help text, for a command line without a command.
fn first_help() -> Result<(), Error> {
    let text = command().render_help().to_string();
    print(&(text.trim_end().to_string() + "\n"))
}

/// The template of the first help text: the commands by group.
fn grouped(command: &clap::Command) -> String {
    let mut text = String::from("{about}\n\nUsage: lockwright COMMAND [OPTIONS]\n");
    for command in command.get_subcommands().take_while(|it| it.get_name() != LAST) {
        let name = command.get_name();
        if let Some((_, group)) = GROUPS.iter().find(|(first, _)| *first == name) {
            text += &format!("\n{group}:\n");
        }
        let about = command.get_about().map_or_else(String::new, ToString::to_string);
        text += &format!("  {name:<10} {about}\n");
    }
    text + "{after-help}"
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Command as Clap;
    use lockwright_core::tunables::NUMA_OFF;

    const COLUMNS: usize = 80;
    const LINES: usize = 50;

    /// The names of a command and of all below it, as they are typed.
    fn paths(command: &Clap, path: &str) -> Vec<String> {
        let below = command.get_subcommands();
        let below = below.flat_map(|inner| paths(inner, &format!("{path} {}", inner.get_name())));
        std::iter::once(path.to_string()).chain(below).collect()
    }

    /// What `--help` prints, by command; the first one is the first help text.
    fn all_helps() -> Vec<(String, String)> {
        let help = |path: String| {
            let typed = path.split(' ').chain(["--help"]).map(String::from);
            let printed = command().term_width(COLUMNS).try_get_matches_from(typed);
            (path, printed.expect_err("help is printed").to_string())
        };
        paths(&command(), "lockwright").into_iter().map(help).collect()
    }

    #[test]
    fn the_arguments_are_consistent() {
        command().debug_assert();
    }

    #[test]
    fn help_fits_a_screen_before_its_advanced_options() {
        let helps = all_helps();
        assert!(helps.len() > 20, "the commands were not found");
        for (path, text) in &helps {
            let is_heading =
                |line: &&str| line.ends_with(':') && line.starts_with(|c: char| c.is_uppercase());
            let usual = ["Arguments:", "Options:", "Examples:", "Commands:"];
            let is_advanced = |line: &&str| is_heading(line) && !usual.contains(line);
            let screen = match path.as_str() {
                "lockwright" => text.lines().count(),
                _ => text.lines().take_while(|line| !is_advanced(line)).count(),
            };
            assert!(screen <= LINES, "{path}: {screen} lines\n{text}");
            for line in text.lines() {
                assert!(line.chars().count() <= COLUMNS, "{path}: `{line}` is too wide");
            }
        }
    }

    #[test]
    fn each_command_has_three_examples() {
        for (path, text) in all_helps().iter().filter(|(path, _)| path != "lockwright") {
            let examples = text.lines().filter(|line| line.starts_with("  lockwright ")).count();
            assert!(examples >= 3, "{path} has {examples} examples\n{text}");
            let places = ["Usage:", "Examples:", "Options:"].map(|part| text.find(part));
            assert!(places.is_sorted() && places[0].is_some(), "{path}: {text}");
        }
    }

    #[test]
    fn examples_are_command_lines() {
        for (path, text) in all_helps() {
            for line in text.lines().filter(|line| line.starts_with("  lockwright ")) {
                // Up to what the shell does, or a remark.
                let typed =
                    line.split(['>', '|', '(']).next().unwrap_or_default().replace('\'', "");
                let read = command().try_get_matches_from(typed.split_whitespace());
                assert!(read.is_ok(), "{path}: {line}: {}", read.expect_err("refused"));
            }
        }
    }

    #[test]
    fn the_first_help_names_every_command() {
        let (_, text) = all_helps().swap_remove(0);
        for subcommand in command().get_subcommands() {
            assert!(text.contains(subcommand.get_name()), "{}: {text}", subcommand.get_name());
        }
        for (name, _) in GROUPS {
            assert!(command().find_subcommand(name).is_some(), "{name} is a command");
        }
    }

    #[test]
    fn blanks_around_names_and_numbers_do_not_matter() {
        let line = ["lockwright", "bench", "--on", " x5-4", "--threads", "1, 2 ,4"];
        let Some(Command::Bench(args)) = Cli::parse_from(line).command else {
            panic!("`bench` is a command");
        };
        assert_eq!((&*args.machine.on, &args.threads[..]), ("x5-4", &[1, 2, 4][..]));
    }

    #[test]
    fn tunables_that_were_not_set_are_left_to_the_locks() {
        let line = ["lockwright", "bench", "--numa-spinlock", "off"];
        let Some(Command::Bench(args)) = Cli::parse_from(line).command else {
            panic!("`bench` is a command");
        };
        assert_eq!(args.machine.settings().tunables, [(Tunable::numa_spinlock, NUMA_OFF)]);
    }
}
