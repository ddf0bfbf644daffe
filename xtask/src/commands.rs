//! The commands of `cargo xtask`: their options, their help, and what they run.

use crate::mutants::{weaken, zoo};
use crate::options::not_an_option;
use crate::suites::Of;
use crate::{
    alone, ci, evidence, features, fidelity, full, fuzz, install, kernel, new_lock, price,
    programs, promela, quick, record, release, root, rows, sanitize, stage, suites, sweeps,
    targets, tidy,
};
use std::path::Path;

/// Why a command did not run to its end.
#[derive(Debug, PartialEq, Eq)]
pub enum Failure {
    /// It was called with wrong options: a sentence that says what to type.
    Usage(String),
    /// Something cannot be run, read or written.
    Broken(String),
}

/// `Ok(false)` if it found something wrong.
type Outcome = Result<bool, Failure>;

/// A command.
struct Command {
    name: &'static str,
    /// As they stand in the help.
    options: &'static str,
    /// Lines of at most 74 columns.
    about: &'static [&'static str],
    run: fn(&[&str]) -> Outcome,
}

const COMMANDS: &[(&str, &[Command])] = &[
    ("Before a commit", BEFORE_A_COMMIT),
    ("A new lock", NEW),
    ("For programs in other languages", PROGRAMS),
    ("Checks that take longer", LONGER),
    ("Checks of the checks", OF_CHECKS),
    ("Generated documents", DOCUMENTS),
];

const PROGRAMS: &[Command] = &[Command {
    name: "install",
    options: install::OPTIONS,
    about: &[
        "Build two libraries and put them into DIR. liblockwright is for programs",
        "in C and C++. liblockwright-pthread.so takes the place of glibc's mutexes,",
        "condition variables and reader-writer locks in a program that is started",
        "with it in LD_PRELOAD. Needs a C compiler. The texts of the licences go to",
        "share/doc/lockwright.",
    ],
    run: |given| tool(install::Request::of(given), install::run),
}];

const NEW: &[Command] = &[Command {
    name: "new-lock",
    options: new_lock::OPTIONS,
    about: &[
        "Make a lock from a template: a module that works, its declaration, and its",
        "row in the registry. docs/adding-a-lock.md says how to go on; --check does",
        "what it says in a copy of the repository. Some minutes.",
    ],
    run: |given| match given {
        ["--check"] => Ok(new_lock::is_as_described()),
        _ => tool(new_lock::Request::of(given), new_lock::run),
    },
}];

const BEFORE_A_COMMIT: &[Command] = &[
    Command {
        name: "tidy",
        options: "[--errors]",
        about: &[
            "Check the rules of STYLE.md that a program can check. Errors are printed",
            "last; --errors prints nothing else. A few seconds.",
        ],
        run: |given| {
            let errors_only = at_most_one(given, &["--errors"])?.is_some();
            Ok(tidy::run(&root(), errors_only))
        },
    },
    Command {
        name: "quick",
        options: quick::OPTIONS,
        about: &[
            "Check what a change usually breaks: format, lints, tidy, unit tests, and",
            "the clients of the locks that it touches under loom, explored, and on",
            "real threads. Without a file or a lock, it takes the files that differ",
            "from the last commit. Two minutes after a change in one lock.",
        ],
        run: |given| tool(quick::Request::of(given), quick::run),
    },
    Command {
        name: "ci",
        options: "",
        about: &[
            "Run what continuous integration runs: format, lints, all tests, checks of",
            "the checks, other targets. A check in xtask/record.txt whose sources have",
            "not changed does not run; one in ten of these runs all the same.",
        ],
        run: |given| {
            at_most_one(given, &[])?;
            // Other targets and tools of a release may be missing: this installs nothing.
            Ok(stage::run_all_within(&ci::stages(ci::Scope::Changed), true, ci::TIME_MAX))
        },
    },
    Command {
        name: "features",
        options: "",
        about: &[
            "Compile each package alone, and the packages with locks with every set of",
            "their features. Two minutes.",
        ],
        run: |given| {
            at_most_one(given, &[])?;
            features::all_compile(&root(), usize::MAX).map_err(Failure::Broken)
        },
    },
];

const LONGER: &[Command] = &[
    Command {
        name: "full",
        options: full::OPTIONS,
        about: &[
            "Run all stages of ci, with all checks of the record and deeper tests, and",
            "those that take too long for each change. Hours. --stage runs one, and",
            "--list names them, with the minutes that each took when it ran last.",
            "--allow-missing skips a stage whose tool is not installed.",
        ],
        run: |given| Ok(full::run(&full::Request::of(given).map_err(Failure::Usage)?)),
    },
    Command {
        name: "targets",
        options: "",
        about: &[
            "Check the lock crate with the oldest compiler and for other targets, and",
            "run its tests with musl and, in an emulator, on AArch64. Says what is not",
            "installed. Some minutes; a part of ci.",
        ],
        run: |given| {
            at_most_one(given, &[])?;
            Ok(stage::run_all(&targets::stages(), true))
        },
    },
    Command {
        name: "release",
        options: "",
        about: &[
            "Check the packages, the licences of dependencies, and that the interface",
            "is compatible with the last release. Says what is not installed. A part",
            "of ci.",
        ],
        run: |given| {
            at_most_one(given, &[])?;
            Ok(stage::run_all(&release::stages(), true))
        },
    },
    Command {
        name: "miri",
        options: "",
        about: &[
            "Run all test clients on real threads under Miri, and broken programs",
            "that Miri must report. tsan and asan do the same.",
        ],
        run: |given| plain(given, &sanitize::miri()),
    },
    Command {
        name: "tsan",
        options: "",
        about: &["The same under ThreadSanitizer."],
        run: |given| plain(given, &sanitize::tsan()),
    },
    Command {
        name: "asan",
        options: "",
        about: &["The same under AddressSanitizer."],
        run: |given| plain(given, &sanitize::asan()),
    },
    Command {
        name: "sweeps",
        options: sweeps::OPTIONS,
        about: &[
            "Run a sweep with GNU parallel, Slurm and Ray, if they are installed, and",
            "with 64 processes that are killed at random times for 10 minutes, on a",
            "disk that fills up once. All have to make the same bytes.",
        ],
        run: |given| tool(sweeps::Request::of(given), sweeps::run),
    },
    Command {
        name: "promela",
        options: "",
        about: &["Search the Promela model of the waiting policies that sleep, with spin."],
        run: |given| plain(given, &[promela::stage()]),
    },
    Command {
        name: "fuzz",
        options: fuzz::OPTIONS,
        about: &[
            "Run random programs over the safe interface of the locks, for 2 minutes",
            "unless --minutes says otherwise. --batches runs the ones of ci, and writes",
            "down in xtask/record.txt which ones pass.",
        ],
        run: |given| tool(fuzz::Request::of(given), fuzz::run),
    },
    Command {
        name: "history",
        options: "[--changed]",
        about: &[
            "Check the locks that stand for a state of the kernel's history, which the",
            "test suites leave out, and write down in xtask/record.txt which ones",
            "hold. --changed checks those whose sources have changed, and a tenth of",
            "the others.",
        ],
        run: |given| {
            let changed = at_most_one(given, &[record::OPTION])?.is_some();
            rows::history(&root(), changed).map_err(Failure::Broken)
        },
    },
    Command {
        name: "kernel",
        options: kernel::OPTIONS,
        about: &[
            "Build the locks as a module for Debian's kernel, boot that kernel in an",
            "emulator, torture the locks there, and let them take over all of its",
            "spinlocks while it runs, and give them back. Says which packages of Debian",
            "are missing. --quick is the part of ci; --replace names the lock that",
            "takes over, --kernel the release of the kernel, if several are installed.",
            "--json writes a document, to standard output for `-`.",
        ],
        run: |given| tool(kernel::Request::of(given), kernel::run),
    },
    Command {
        name: "programs",
        options: programs::OPTIONS,
        about: &[
            "Run programs of Debian with our locks in the place of glibc's, and glibc's",
            "own tests of its locks, with the library and without. Fails if one ends in",
            "another way with it. Says which packages of Debian are missing. --quick is",
            "the part of ci, two minutes. --measure says how long programs take with",
            "glibc's locks and with ours, in N rounds (21), about 3 minutes each; with",
            "--only, those whose name has a part such as MariaDB.",
        ],
        run: |given| tool(programs::Request::of(given), programs::run),
    },
    Command {
        name: "peer-tests",
        options: Of::Peer.options(),
        about: &[
            "Run parking_lot's own tests with our package `parking_lot` and with",
            "parking_lot's, five times each, and the examples of its documentation with",
            "ours. Fails if one fails with ours, and names the tests that take longer.",
            "The tests come from parking_lot's package, which every build of the",
            "workspace fetches. --only names a part of a test's name. About three",
            "minutes.",
        ],
        run: |given| tool(suites::Request::of(Of::Peer, given), suites::run),
    },
    Command {
        name: "price",
        options: price::OPTIONS,
        about: &[
            "Say what the locks cost in this tree, as a part of what they cost at",
            "COMMIT: the time of each lock without contention, as a reader, and with",
            "two threads. Builds both labs and lets them take turns, in 21 rounds or as",
            "many as --runs says. Names what is dearer. Twenty minutes.",
        ],
        run: |given| tool(price::Request::of(given), price::run),
    },
    Command {
        name: "alone",
        options: alone::OPTIONS,
        about: &[
            "Run each test on real threads in a process of its own. One fails that",
            "needs what another test did before it. --shuffle also runs each test",
            "program as a whole, in a random order that SEED decides. --nodes runs",
            "the tests of locks with COUNT queue nodes in the process, such as 0. A",
            "minute and, at first, some to compile; a part of ci and of full.",
        ],
        run: |given| tool(alone::Request::of(given), alone::run),
    },
    Command {
        name: "std-tests",
        options: Of::Std.options(),
        about: &[
            "Run the tests of std's locks, once, lazy value and barrier with",
            "Lockwright's types. They come from the source of the standard library,",
            "which rustup adds to a toolchain; if it is missing, says how to install",
            "it. --library names a copy elsewhere, --only a part of a test's name. A",
            "minute; a part of ci.",
        ],
        run: |given| tool(suites::Request::of(Of::Std, given), suites::run),
    },
    Command {
        name: "dependents",
        options: Of::Dependents.options(),
        about: &[
            "Run the tests of crates that use parking_lot (tokio is one of them) with",
            "our package `parking_lot` in its place. Fetches their packages. Fails if a",
            "test fails that does not fail with parking_lot's own locks as well, which",
            "--without-patch shows. About 15 minutes. --bench measures tokio's",
            "scheduler and blocking pool with both libraries in turns, and runs no",
            "test: use a computer that does nothing else.",
        ],
        run: |given| tool(suites::Request::of(Of::Dependents, given), suites::run),
    },
];

const OF_CHECKS: &[Command] = &[
    Command {
        name: "weaken",
        options: weaken::OPTIONS,
        about: &[
            "Weaken every memory ordering of the locks by one step, one at a time, and",
            "see if a check fails. --matrix runs all checks of each mutant, not only",
            "up to the first that fails; --full uses wider bounds; --new leaves out",
            "those that the list of survivors has an argument for. Kills are written",
            "into xtask/record.txt, but for those with wide bounds. --changed runs the",
            "mutants whose sources have changed, and a tenth of the others.",
        ],
        run: |given| tool(weaken::request(&root(), given), weaken::run),
    },
    Command {
        name: "zoo",
        options: zoo::OPTIONS,
        about: &[
            "Seed each bug of the zoo (`lockwright bugs`) in the locks, one at a time,",
            "and see if the checkers find it. It has --full and --changed as weaken.",
        ],
        run: |given| tool(zoo::request(given), zoo::run),
    },
    Command {
        name: "explore",
        options: "ARGUMENT...",
        about: &["Run `lockwright explore` where the locks have the bug of its --bug."],
        run: |given| {
            let code = zoo::explore(&root(), given).map_err(Failure::Usage)?;
            std::process::exit(code.into())
        },
    },
];

const DOCUMENTS: &[Command] = &[
    Command {
        name: "evidence",
        options: "[--fresh | --count | --check]",
        about: &[
            "Write the numbers of docs/evidence.md into docs/evidence.json, from the",
            "results of weaken, zoo, sample and explore. Results that are missing or",
            "old are made first, which takes hours; --fresh makes all of them. --count",
            "counts again what the tree has and keeps the results. --check compares the",
            "committed files with each other and with the tree, in seconds.",
        ],
        run: |given| match at_most_one(given, &["--fresh", "--count", "--check"])? {
            Some("--check") => Ok(evidence::check(&root())),
            Some("--count") => evidence::count(&root()).map_err(Failure::Broken),
            option => evidence::generate(&root(), option.is_some()).map_err(Failure::Broken),
        },
    },
    Command {
        name: "fidelity",
        options: fidelity::OPTIONS,
        about: &[
            "Write the numbers of docs/fidelity.md into docs/fidelity.json, published",
            "tables next to simulated ones into docs/predictions, and this computer",
            "next to its own machine file into docs/fidelity-computer.csv. About 30",
            "minutes on an idle machine. --keep uses the results in target/fidelity",
            "again; --keep-computer leaves the part about a computer as it is.",
        ],
        run: |given| tool(fidelity::request(given), fidelity::generate),
    },
];

fn all() -> impl Iterator<Item = &'static Command> {
    COMMANDS.iter().flat_map(|(_, commands)| commands.iter())
}

/// What was asked for on the command line.
pub enum Asked {
    /// This text.
    Help(String),
    /// What became of the command.
    Ran(Outcome),
}

/// Runs the command that the arguments name.
pub fn run(arguments: &[&str]) -> Asked {
    let is_help = |argument: &&str| ["--help", "-h"].contains(argument);
    let (name, options) = match arguments {
        [] | ["help"] => return Asked::Help(help()),
        [first, ..] if is_help(first) => return Asked::Help(help()),
        ["help", name] => (*name, &["--help"][..]),
        [name, options @ ..] => (*name, options),
    };
    let Some(command) = all().find(|command| command.name == name) else {
        let names: Vec<_> = all().map(|command| command.name).collect();
        let message = format!("`{name}` is not a command; the commands are {}", names.join(", "));
        return Asked::Ran(Err(Failure::Usage(message)));
    };
    if options.iter().any(is_help) {
        return Asked::Help(help_of(command));
    }
    Asked::Ran((command.run)(options))
}

fn help() -> String {
    let mut text =
        "Checks, tests and generated documents of Lockwright.\n\nUsage: cargo xtask COMMAND [OPTIONS]\n"
            .to_string();
    for (title, commands) in COMMANDS {
        text += &format!("\n{title}:\n");
        text.extend(commands.iter().map(help_of));
    }
    text
}

/// How wide the help is.
const COLUMNS: usize = 80;

fn help_of(command: &Command) -> String {
    let mut head = format!("  {}", command.name);
    for option in command.options.split_inclusive("] ").map(str::trim_end) {
        let column = head.len() - head.rfind('\n').map_or(0, |end| end + 1);
        head += if column + 1 + option.len() > COLUMNS { "\n         " } else { " " };
        head += option;
    }
    let about = command.about.iter().map(|line| format!("      {line}\n"));
    format!("{}\n{}", head.trim_end(), about.collect::<String>())
}

/// The option that is given, if one is.
fn at_most_one<'a>(given: &[&'a str], options: &[&str]) -> Result<Option<&'a str>, Failure> {
    match given {
        [] => Ok(None),
        [option] if options.contains(option) => Ok(Some(option)),
        [first, second, ..] if options.contains(first) => Err(Failure::Usage(format!(
            "`{second}` cannot be given with `{first}`; give one option"
        ))),
        [other, ..] => Err(Failure::Usage(not_an_option(other, &options.join(", ")))),
    }
}

/// Runs the stages of a command without options.
fn plain(given: &[&str], stages: &[stage::Stage]) -> Outcome {
    at_most_one(given, &[])?;
    Ok(stage::run_all(stages, false))
}

/// Runs a command that reads its own options.
fn tool<R>(request: Result<R, String>, run: fn(&Path, &R) -> Result<bool, String>) -> Outcome {
    run(&root(), &request.map_err(Failure::Usage)?).map_err(Failure::Broken)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaint(arguments: &[&str]) -> String {
        match run(arguments) {
            Asked::Ran(Err(Failure::Usage(message))) => message,
            Asked::Ran(other) => panic!("{arguments:?} ran: {other:?}"),
            Asked::Help(_) => panic!("{arguments:?} printed help"),
        }
    }

    #[test]
    fn nothing_and_a_question_print_help_that_fits_a_terminal() {
        for arguments in [&[][..], &["--help"], &["help"], &["-h"]] {
            let Asked::Help(text) = run(arguments) else { panic!("{arguments:?} ran something") };
            assert!(all().all(|command| text.contains(&format!("\n  {}", command.name))), "{text}");
            assert!(text.lines().all(|line| line.chars().count() <= COLUMNS), "{text}");
        }
        for arguments in [&["tidy", "--help"][..], &["help", "tidy"]] {
            let Asked::Help(text) = run(arguments) else { panic!("{arguments:?} ran something") };
            assert!(text.starts_with("  tidy [--errors]\n"), "{text}");
        }
    }

    #[test]
    fn a_wrong_call_is_answered_with_one_sentence_that_says_what_to_type() {
        for (arguments, expected) in [
            (&["tydi"][..], "the commands are tidy, quick, ci"),
            (&["ci", "--fast"], "this command has none"),
            (&["tidy", "--error"], "the options are --errors"),
            (&["evidence", "--check", "--fresh"], "give one option"),
            (&["install"], "--prefix /usr/local"),
            (&["install", "--prefix"], "needs a folder"),
            (&["install", "--fast"], "--destdir DIR"),
            (&["new-lock"], "one name, such as"),
            (&["new-lock", "Polite"], "small letters and digits"),
            (&["fidelity", "--kept"], "--keep-computer"),
            (&["fuzz", "--minutes", "-1"], "--minutes 3"),
            (&["fuzz", "--under", "gdb"], "miri, tsan or asan"),
            (&["fuzz", "--all"], "--under miri|tsan|asan"),
            (&["peer-tests", "--runs", "0"], "--runs 5"),
            (&["peer-tests", "--only"], "--only rwlock"),
            (&["peer-tests", "--fast"], "--runs N"),
            (&["alone", "--shuffle"], "--shuffle 1"),
            (&["alone", "--shuffle", "-1"], "--shuffle 1"),
            (&["alone", "--fast"], "--shuffle SEED"),
            (&["alone", "--nodes"], "--nodes 0"),
            (&["price"], "price HEAD~1"),
            (&["price", "HEAD", "--runs", "1"], "--runs 21"),
            (&["std-tests", "--only"], "--only rwlock"),
            (&["std-tests", "--library"], "the folder `library`"),
            (&["std-tests", "--fast"], "--library FOLDER"),
            (&["dependents", "--only"], "the crates are tokio, prometheus"),
            (&["dependents", "--only", "tokyo"], "the crates are tokio, prometheus"),
            (&["dependents", "--bench", "--runs", "5"], "from 6 on, such as `--runs 21`"),
            (&["dependents", "--runs", "9"], "give both"),
            (&["dependents", "--bench", "--without-patch"], "give it alone"),
            (&["dependents", "--fast"], "--only CRATE"),
            (&["weaken", "--only", "no.rs"], "--only qspinlock/queue.rs"),
            (&["weaken", "--checker", "spin"], "loom or miri"),
            (&["weaken", "--fast"], "--matrix"),
            (&["zoo", "--only", "0"], "`lockwright bugs` lists them"),
            (&["zoo", "--json"], "--json FILE"),
            (&["zoo", "--fast"], "--only BUG"),
            (&["quick", "mutec"], "such as `mutex` or"),
            (&["full", "--stage", "weakness"], "such as `--stage weaken`"),
            (&["full", "--fast"], "--stage NAME"),
            (&["history", "--fast"], "--changed"),
            (&["fuzz", "--batches", "--minutes", "2"], "--batches [--changed]"),
        ] {
            let message = complaint(arguments);
            assert!(message.contains(expected), "{arguments:?}: {message}");
            assert!(!message.contains('\n') && message.len() < 600, "{arguments:?}: {message}");
        }
    }
}
