//! The commands of `cargo xtask`. Those with options describe themselves in their modules.

use crate::mutants::{rules, weaken, zoo};
use crate::stage::{run_all, run_all_within};
use crate::suites::{Dependents, PeerTests, StdTests};
use crate::{
    alone, ci, evidence, features, fidelity, full, fuzz, goals, install, kernel, new_lock, pages,
    programs, promela, quick, release, root, rows, sanitize, suites, sweeps, targets, tidy,
};
use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser};
use std::ffi::OsString;

/// Checks, tests and generated documents of Lockwright.
#[derive(Parser)]
#[command(bin_name = "cargo xtask", no_binary_name = true, max_term_width = 80)]
pub enum Command {
    /// Check the rules of STYLE.md that a program can check.
    ///
    /// A few seconds.
    Tidy {
        /// Print the errors only, and not what is no error.
        #[arg(long)]
        errors: bool,
    },
    Quick(quick::Request),
    /// Run what continuous integration runs.
    ///
    /// That is: format, lints, all tests, checks of the checks, other targets. A check in xtask/record.txt whose
    /// sources have not changed does not run; one in ten of these runs all the same.
    Ci,
    /// Compile each package alone, and locks with each set of features.
    ///
    /// Two minutes.
    Features,
    NewLock(new_lock::Request),
    /// Do what the pages about adding something say.
    ///
    /// In a copy of the repository. Five minutes the first time; a part of full.
    Pages,
    Install(install::Request),
    Full(full::Request),
    /// Check the oldest compiler, and other targets.
    ///
    /// The lock crate is checked for each, and its tests run with musl and, in an emulator, on AArch64. Says what is
    /// not installed. Some minutes; a part of ci.
    Targets,
    /// Check the packages, the licences, and that no interface breaks.
    ///
    /// The licences are those of dependencies, and the interface is compared with the last release. Says what is not
    /// installed. A part of ci.
    Release,
    /// Run all test clients on real threads under Miri.
    ///
    /// Broken programs run as well: Miri must report them.
    Miri,
    /// Run all test clients on real threads under ThreadSanitizer.
    ///
    /// Broken programs run as well: it must report them.
    Tsan,
    /// Run all test clients on real threads under AddressSanitizer.
    ///
    /// Broken programs run as well: it must report them.
    Asan,
    Sweeps(sweeps::Request),
    /// Search the Promela model of the policies that sleep, with spin.
    Promela,
    Fuzz(fuzz::Request),
    /// Check the locks that stand for states of the kernel's history.
    ///
    /// The test suites leave them out. Writes down in xtask/record.txt which ones hold.
    History {
        /// Check those whose sources have changed, and a tenth of the others.
        #[arg(long)]
        changed: bool,
    },
    Kernel(kernel::Request),
    Programs(programs::Request),
    PeerTests(PeerTests),
    Goals(goals::Request),
    Alone(alone::Request),
    StdTests(StdTests),
    Dependents(Dependents),
    Weaken(weaken::Request),
    Zoo(zoo::Request),
    Rules(rules::Request),
    /// Run `lockwright explore` where the locks have the bug of its --bug.
    Explore {
        /// What `lockwright explore` is given, such as --bug 45.
        #[arg(value_name = "ARGUMENT", trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Write the numbers of docs/evidence.md into docs/evidence.json.
    ///
    /// They come from the results of weaken, zoo, sample and explore. Results that are missing or old are made first,
    /// which takes hours.
    Evidence {
        /// Make all results anew.
        #[arg(long, exclusive = true)]
        fresh: bool,
        /// Count again what the tree has, and keep the results.
        #[arg(long, exclusive = true)]
        count: bool,
        /// Compare the committed files with each other and with the tree, in seconds.
        #[arg(long, exclusive = true)]
        check: bool,
    },
    Fidelity(fidelity::Request),
}

impl Command {
    /// Runs the command. `Ok(false)` if it found something wrong; an error says what cannot be run, read or written.
    pub fn run(&self) -> Result<bool, String> {
        let root = &root();
        match self {
            Self::Tidy { errors } => Ok(tidy::run(root, *errors)),
            Self::Quick(request) => quick::run(root, request),
            // Other targets and tools of a release may be missing: this installs nothing.
            Self::Ci => Ok(run_all_within(&ci::stages(ci::Scope::Changed), true, ci::TIME_MAX)),
            Self::Features => features::all_compile(root, usize::MAX),
            Self::NewLock(request) => new_lock::run(root, request),
            Self::Pages => Ok(pages::are_as_described()),
            Self::Install(request) => install::run(root, request),
            Self::Full(request) => Ok(full::run(request)),
            Self::Targets => Ok(run_all(&targets::stages(), true)),
            Self::Release => Ok(run_all(&release::stages(), true)),
            Self::Miri => Ok(run_all(&sanitize::miri(), false)),
            Self::Tsan => Ok(run_all(&sanitize::tsan(), false)),
            Self::Asan => Ok(run_all(&sanitize::asan(), false)),
            Self::Sweeps(request) => sweeps::run(root, request),
            Self::Promela => Ok(run_all(&[promela::stage()], false)),
            Self::Fuzz(request) => fuzz::run(root, request),
            Self::History { changed } => rows::history(root, *changed),
            Self::Kernel(request) => kernel::run(root, request),
            Self::Programs(request) => programs::run(root, request),
            Self::PeerTests(request) => suites::peer_tests(root, request),
            Self::Goals(request) => goals::run(root, request),
            Self::Alone(request) => alone::run(root, request),
            Self::StdTests(request) => suites::std_tests(root, request),
            Self::Dependents(request) => suites::dependents(root, request),
            Self::Weaken(request) => weaken::run(root, request),
            Self::Zoo(request) => zoo::run(root, request),
            Self::Rules(request) => rules::run(root, request),
            Self::Explore { arguments } => {
                let code = zoo::explore(root, arguments).unwrap_or_else(|why| {
                    eprintln!("explore: {why}");
                    2
                });
                std::process::exit(code)
            }
            Self::Evidence { check: true, .. } => Ok(evidence::check(root)),
            Self::Evidence { count: true, .. } => evidence::count(root),
            Self::Evidence { fresh, .. } => evidence::generate(root, *fresh),
            Self::Fidelity(request) => fidelity::generate(root, request),
        }
    }
}

/// In the help, a title stands above the command that each group begins with.
const GROUPS: [(&str, &str); 6] = [
    ("tidy", "Before a commit"),
    ("new-lock", "A new lock or workload"),
    ("install", "For programs in other languages"),
    ("full", "Checks that take longer"),
    ("weaken", "Checks of the checks"),
    ("evidence", "Generated documents"),
];

fn command() -> clap::Command {
    let command = Command::command();
    let mut help = "{about}\n\nUsage: cargo xtask COMMAND [OPTIONS]\n".to_string();
    for command in command.get_subcommands() {
        let (name, about) = (command.get_name(), command.get_about().into_iter());
        let titles = GROUPS.iter().filter(|(first, _)| *first == name);
        help.extend(titles.map(|(_, title)| format!("\n{title}:\n")));
        help.extend(about.map(|about| format!("  {name:<10} {about}\n")));
    }
    command.help_template(help + "\n`cargo xtask help COMMAND` says more about one of them.\n")
}

/// Why no command is read.
#[derive(Debug)]
pub enum Answer {
    /// This text was asked for.
    Help(String),
    /// A sentence that says what to type.
    Wrong(String),
}

/// Reads the command line.
pub fn read(arguments: &[OsString]) -> Result<Command, Answer> {
    let matches = command().try_get_matches_from(arguments);
    let error = match matches.and_then(|matches| Command::from_arg_matches(&matches)) {
        Ok(command) => return Ok(command),
        Err(error) => error,
    };
    let text = error.to_string();
    if !error.use_stderr() || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return Err(Answer::Help(text));
    }
    let is_told = |line: &&str| !line.starts_with("Usage:") && !line.starts_with("For more");
    let lines = text.lines().map(str::trim).take_while(is_told).filter(|line| !line.is_empty());
    let told = lines.collect::<Vec<_>>().join("; ").replace(":; ", ": ").replace("error: ", "");
    // A refusal of a value says already what to type.
    if matches!(error.kind(), ErrorKind::ValueValidation | ErrorKind::InvalidValue) {
        return Err(Answer::Wrong(told));
    }
    let mut command = command();
    command.build();
    let name = arguments.first().filter(|name| *name != "help");
    let of = name.and_then(|name| command.find_subcommand(name));
    let takes: Vec<_> = match of {
        Some(of) => of.get_arguments().map(ToString::to_string).collect(),
        None => command.get_subcommands().map(|it| it.get_name().to_string()).collect(),
    };
    let (of, takes) = (of.unwrap_or(&command).get_name(), takes.join(", "));
    Err(Answer::Wrong(format!("{told}; `{of}` takes {takes}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(arguments: &[&str]) -> Answer {
        let arguments: Vec<_> = arguments.iter().map(OsString::from).collect();
        read(&arguments).err().unwrap_or_else(|| panic!("{arguments:?} would run"))
    }

    #[test]
    fn nothing_and_a_question_print_help_that_fits_a_terminal() {
        command().debug_assert();
        let command = command();
        let names: Vec<_> = command.get_subcommands().map(clap::Command::get_name).collect();
        let of_one = names.iter().flat_map(|&it| [["help", it], [it, "-h"], [it, "--help"]]);
        let of_all = [vec![], vec!["--help"], vec!["help"], vec!["-h"]].into_iter();
        for arguments in of_all.chain(of_one.map(Vec::from)) {
            let Answer::Help(text) = answer(&arguments) else { panic!("{arguments:?} is wrong") };
            assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
            let is_of_all = names.iter().all(|name| text.contains(&format!("\n  {name} ")));
            assert_eq!(is_of_all, arguments.len() < 2, "{text}");
            assert!(arguments != ["tidy", "--help"] || text.contains("--errors"), "{text}");
        }
    }

    #[test]
    fn a_wrong_call_is_answered_with_one_sentence_that_says_what_to_type() {
        for (arguments, expected) in [
            (&["tydi"][..], "`xtask` takes tidy, quick, ci"),
            (&["ci", "--fast"], "`ci` takes --help"),
            (&["help", "tydi"], "`xtask` takes tidy, quick, ci"),
            (&["tidy", "--error"], "a similar argument exists: '--errors'"),
            (&["evidence", "--check", "--fresh"], "`evidence` takes --fresh, --count, --check"),
            (&["install"], "not provided: --prefix <DIR>"),
            (&["install", "--prefix"], "'--prefix <DIR>'"),
            (&["install", "--fast"], "--destdir <DIR>"),
            (&["new-lock"], "not provided: <NAME>"),
            (&["new-lock", "Polite"], "small letters and digits"),
            (&["fidelity", "--kept"], "--keep-computer"),
            (&["fuzz", "--minutes", "-1"], "--minutes <N>"),
            (&["fuzz", "--minutes", "0"], "--minutes 3"),
            (&["fuzz", "--under", "gdb"], "miri, tsan, asan"),
            (&["fuzz", "--all"], "--under <UNDER>"),
            (&["peer-tests", "--runs", "0"], "--runs 5"),
            (&["peer-tests", "--only"], "--only <TEXT>"),
            (&["peer-tests", "--fast"], "--runs <N>"),
            (&["alone", "--shuffle"], "--shuffle <SEED>"),
            (&["alone", "--shuffle", "-1"], "--shuffle <SEED>"),
            (&["alone", "--fast"], "--shuffle <SEED>"),
            (&["alone", "--nodes"], "--nodes <COUNT>"),
            (&["std-tests", "--only"], "--only <TEXT>"),
            (&["std-tests", "--library"], "--library <FOLDER>"),
            (&["std-tests", "--fast"], "--library <FOLDER>"),
            (&["dependents", "--only"], "tokio, prometheus"),
            (&["dependents", "--only", "tokyo"], "tokio, prometheus"),
            (&["dependents", "--bench", "--runs", "5"], "from 6 on, such as `--runs 21`"),
            (&["dependents", "--runs", "9"], "not provided: --bench"),
            (&["dependents", "--bench", "--without-patch"], "cannot be used with"),
            (&["dependents", "--fast"], "--only <CRATE>"),
            (&["weaken", "--only", "no.rs"], "--only qspinlock/queue.rs"),
            (&["weaken", "--checker", "spin"], "loom, miri"),
            (&["weaken", "--fast"], "--matrix"),
            (&["zoo", "--only", "0"], "`lockwright bugs` lists them"),
            (&["zoo", "--json"], "--json <FILE>"),
            (&["zoo", "--fast"], "--only <BUG>"),
            (&["quick", "mutec"], "such as `mutex` or"),
            (&["full", "--stage", "weakness"], "such as `--stage weaken`"),
            (&["full", "--fast"], "--stage <NAME>"),
            (&["history", "--fast"], "--changed"),
            (&["fuzz", "--batches", "--minutes", "2"], "--batches, --changed"),
        ] {
            let Answer::Wrong(message) = answer(arguments) else { panic!("{arguments:?}: help") };
            assert!(message.contains(expected), "{arguments:?}: {message}");
            assert!(!message.contains('\n') && message.len() < 600, "{arguments:?}: {message}");
        }
    }
}
