//! Random programs over the safe public interface of the locks, on this machine and on simulated ones, compared with a
//! model of what is allowed.

#[macro_use(eprintln, print, println)]
extern crate lockwright_parts;

mod actor;
mod coverage;
mod extras;
mod generate;
mod guards;
mod locks;
mod native;
mod once;
mod print;
mod program;
mod resilient;
mod rules;
mod shrink;
mod simulated;
mod stage;
mod watched;
mod world;

use clap::{Parser, ValueEnum};
use generate::{ProgramLimits, generate};
use lockwright_parts::{Part, Parted};
use lockwright_sim::machine::read_text;
use program::Program;
use simulated::Simulated;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

/// Runs random programs over the safe public interface of the locks until one does what is not allowed. The program is
/// then made smaller and printed as Rust.
#[derive(Clone, Parser)]
struct Arguments {
    /// Where the programs run.
    #[arg(long, value_enum, default_value_t = On::Simulated)]
    on: On,
    /// How many programs to run.
    #[arg(long, conflicts_with = "minutes")]
    count: Option<u64>,
    /// How long to run programs, in minutes [default: 1]
    #[arg(long)]
    minutes: Option<f64>,
    /// The seed of the first program; the others follow.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Runs one part of the programs: 3/8 is the third of eight, so it begins with the third seed and takes each eighth
    /// one. auto takes the part that Slurm, Kubernetes or GNU parallel has given this process, and auto/8 where they do
    /// not say how many there are.
    #[arg(long, value_name = "K/N", default_value = "1/1", value_parser = Part::of_process)]
    shard: Parted,
    /// Leaves out programs that fork, as a thread sanitizer needs it. Simulated programs never do.
    #[arg(long)]
    no_forks: bool,
    /// Leaves out what a second generator adds: ends of threads, priorities, pairs of kinds and most forks.
    #[arg(long)]
    plain: bool,
    /// No step of a program reads more often than this.
    #[arg(long, default_value_t = 70_000)]
    reads: u32,
    /// Counts calls of each method on locks in each state, and prints the cells with less than this.
    #[arg(long, value_name = "CALLS")]
    coverage: Option<u64>,
    /// Runs one program from a file that a failure has left, as often as --count says.
    #[arg(long, value_name = "FILE")]
    replay: Option<PathBuf>,
    /// Prints the program of --seed as Rust instead.
    #[arg(long)]
    show: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum On {
    /// Simulated machines: one seed, one history.
    Simulated,
    /// The machine at hand.
    Native,
}

impl Arguments {
    fn limits(&self) -> ProgramLimits {
        let has_forks = self.on == On::Native && !self.no_forks && !cfg!(miri);
        ProgramLimits { has_forks, has_extras: !self.plain, steps: 10, reads: self.reads }
    }
    fn ends(&self) -> Ends {
        let minutes = self.minutes.unwrap_or(1.0);
        match self.count {
            Some(count) => Ends { count, at: None },
            None => Ends {
                count: u64::MAX,
                at: Some(Instant::now() + Duration::from_secs_f64(minutes * 60.0)),
            },
        }
    }
}

/// When to end.
#[derive(Clone, Copy)]
struct Ends {
    count: u64,
    at: Option<Instant>,
}

impl Ends {
    fn is_over(self, done: u64) -> bool {
        done >= self.count || self.at.is_some_and(|at| Instant::now() >= at)
    }
}

/// A program that has done what is not allowed.
struct Found {
    seed: u64,
    program: Program,
    why: String,
}

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let text = error.render().to_string();
            if !error.use_stderr() {
                print!("{text}");
                return ExitCode::SUCCESS;
            }
            eprintln!("{}; see --help", text.lines().next().unwrap_or_default());
            return ExitCode::from(2);
        }
    };
    match work(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::from(2)
        }
    }
}

/// Does what is asked for. Returns true if all that ran was allowed.
fn work(arguments: &Arguments) -> Result<bool, String> {
    coverage::begin();
    if let Some(found) = &arguments.shard.found {
        eprintln!("{found}");
    }
    if arguments.on == On::Simulated {
        // The simulator tells of threads that panic.
        std::panic::set_hook(Box::new(|_| {}));
    }
    if arguments.show {
        print!("{}", print::print(&generate(arguments.seed, arguments.limits())));
        return Ok(true);
    }
    if let Some(file) = &arguments.replay {
        return replay(arguments, file);
    }
    let begin = Instant::now();
    let done = AtomicU64::new(0);
    let found = match arguments.on {
        On::Simulated => simulate(arguments, &done)?,
        On::Native => natively(arguments, &done),
    };
    let seconds = begin.elapsed().as_secs_f64();
    let done = done.load(Relaxed);
    if let Some(least) = arguments.coverage {
        println!("{}", coverage::text(least));
        println!("\n{}", coverage::uses(least, arguments.on == On::Native));
    }
    let Some(found) = found else {
        println!("{done} programs {}, {seconds:.0} s: nothing found", place(arguments.on));
        return Ok(true);
    };
    report(arguments, &found)?;
    Ok(false)
}

fn place(on: On) -> &'static str {
    match on {
        On::Simulated => "simulated",
        On::Native => "run natively",
    }
}

/// Simulates programs, on each CPU.
fn simulate(arguments: &Arguments, done: &AtomicU64) -> Result<Option<Found>, String> {
    let ends = arguments.ends();
    let next = AtomicU64::new(0);
    let is_over = AtomicBool::new(false);
    let worker = || -> Result<Option<Found>, String> {
        let mut simulated = Simulated::new()?;
        while !is_over.load(Relaxed) {
            let number = next.fetch_add(1, Relaxed);
            if ends.is_over(number) {
                break;
            }
            let seed = arguments.seed + arguments.shard.part.nth(number);
            let program = generate(seed, arguments.limits());
            if let Err(why) = simulated.run(&program, seed) {
                is_over.store(true, Relaxed);
                let fails = |program: &Program| simulated.run(program, seed).is_err();
                let program = shrink::shrink(&program, fails);
                return Ok(Some(Found { seed, program, why }));
            }
            tell(done.fetch_add(1, Relaxed) + 1);
        }
        Ok(None)
    };
    let cpus = thread::available_parallelism().map_or(1, usize::from);
    let found = thread::scope(|scope| {
        let workers: Vec<_> = (0..cpus).map(|_| scope.spawn(worker)).collect();
        let join = |worker: thread::ScopedJoinHandle<'_, _>| {
            worker.join().map_err(|_| "a simulation has panicked: see above".to_string())?
        };
        workers.into_iter().map(join).collect::<Result<Vec<Option<Found>>, String>>()
    });
    Ok(found?.into_iter().flatten().min_by_key(|found| found.seed))
}

fn tell(done: u64) {
    if done.is_multiple_of(10_000) {
        eprintln!("{done} programs");
    }
}

/// Runs programs on this machine, one at a time.
fn natively(arguments: &Arguments, done: &AtomicU64) -> Option<Found> {
    let ends = arguments.ends();
    let watched = Watched::default();
    thread::scope(|scope| {
        scope.spawn(|| watched.watch(|seed| hangs(arguments, seed)));
        let found = loop {
            let number = done.load(Relaxed);
            if ends.is_over(number) {
                break None;
            }
            let seed = arguments.seed + arguments.shard.part.nth(number);
            let program = generate(seed, arguments.limits());
            watched.begins(seed);
            if let Err(why) = native::run(&program) {
                break Some(Found { seed, program, why });
            }
            tell(done.fetch_add(1, Relaxed) + 1);
        };
        watched.is_over.store(true, Relaxed);
        found
    })
}

/// The program that runs, for a person who sees that it hangs.
#[derive(Default)]
struct Watched {
    seed: AtomicU64,
    is_over: AtomicBool,
}

/// A program that takes longer hangs.
const SECONDS_MAX: u64 = if cfg!(miri) { 1200 } else { 60 };

impl Watched {
    fn begins(&self, seed: u64) {
        self.seed.store(seed, Relaxed);
    }
    /// Ends the process if one program takes too long, after it has told so.
    fn watch(&self, tell: impl Fn(u64)) {
        let (mut seed, mut since) = (self.seed.load(Relaxed), Instant::now());
        while !self.is_over.load(Relaxed) {
            thread::sleep(Duration::from_millis(100));
            let now = self.seed.load(Relaxed);
            if now != seed {
                (seed, since) = (now, Instant::now());
            }
            if since.elapsed() > Duration::from_secs(SECONDS_MAX) {
                tell(seed);
                std::process::exit(1);
            }
        }
    }
}

/// Reports a program that hangs.
fn hangs(arguments: &Arguments, seed: u64) {
    let program = generate(seed, arguments.limits());
    let why = format!("it was still running after {SECONDS_MAX} s");
    if let Err(why) = report(arguments, &Found { seed, program, why }) {
        eprintln!("{why}");
    }
}

/// Prints what was found, as small as it gets.
fn report(arguments: &Arguments, found: &Found) -> Result<(), String> {
    let Found { seed, program, why } = found;
    println!("seed {seed}, {}: {why}", place(arguments.on));
    let file = std::env::temp_dir().join(format!("lockwright-program-{seed}.json"));
    let small = match arguments.on {
        On::Simulated => program.clone(),
        On::Native if cfg!(miri) => program.clone(),
        On::Native => shrink::shrink(program, |program| fails_again(&file, program)),
    };
    save(&file, &small)?;
    let on = format!("{:?}", arguments.on).to_lowercase();
    println!("\n{}", print::print(&small));
    println!(
        "{} steps and changes; run it again: cargo run -p lockwright-programs -- --on {on} --seed {seed} --replay {}",
        small.len(),
        file.display()
    );
    Ok(())
}

fn save(file: &Path, program: &Program) -> Result<(), String> {
    let text = serde_json::to_string(program).map_err(|error| error.to_string())?;
    std::fs::write(file, text).map_err(|error| format!("{}: {error}", file.display()))
}

/// True if a program fails in one of several runs, in a process of its own, because a failure may leave locks in any
/// state.
fn fails_again(file: &Path, program: &Program) -> bool {
    const TIMES: &str = "20";
    let Ok(myself) = std::env::current_exe() else { return false };
    if save(file, program).is_err() {
        return false;
    }
    let mut command = Command::new(myself);
    command.args(["--on", "native", "--count", TIMES, "--replay"]).arg(file);
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    command.status().is_ok_and(|status| !status.success() && status.code() != Some(2))
}

fn replay(arguments: &Arguments, file: &Path) -> Result<bool, String> {
    let text = read_text(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let program: Program = serde_json::from_str(&text).map_err(|error| {
        format!("{} is no program that a failure has left: {error}", file.display())
    })?;
    let watched = Watched::default();
    thread::scope(|scope| {
        scope.spawn(|| watched.watch(|_| println!("it was still running after {SECONDS_MAX} s")));
        for number in 0..arguments.count.unwrap_or(1) {
            watched.begins(number);
            let outcome = match arguments.on {
                On::Simulated => Simulated::new()?.run(&program, arguments.seed),
                On::Native => native::run(&program),
            };
            if let Err(why) = outcome {
                println!("{why}");
                watched.is_over.store(true, Relaxed);
                return Ok(false);
            }
        }
        watched.is_over.store(true, Relaxed);
        println!("nothing found");
        Ok(true)
    })
}
