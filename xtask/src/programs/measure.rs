//! How long the same work takes with glibc's locks and with ours.

use super::drivers::{LIMIT, POLICIES, with};
use super::mariadb;
use crate::install::succeed;
use crate::limit::{self, tool};
use crate::rounds::{in_turns, median, ratio, sorted};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The same work by some threads.
struct Work {
    name: &'static str,
    threads: usize,
    line: Vec<String>,
    /// Those of our policies that are measured next to glibc.
    policies: &'static [&'static str],
    /// The same work by one thread, if the times are compared with its time.
    by_one: Option<Vec<String>>,
}

impl Work {
    fn title(&self) -> String {
        format!("{}, {} threads", self.name, self.threads)
    }
}

/// Threads that contend, and how many there are.
const THREADS: [usize; 4] = [1, 2, 4, 16];

/// A program of which each thread does its part: what comes before that number, and what all threads do together. One
/// thread needs three seconds or more.
const CONTENDED: [(&str, &[&str], usize); 3] = [
    ("kccachetest wicked", &["kccachetest", "wicked", "-th", "{threads}", "{part}"], 5_120_000),
    ("tcumttest typical", &["tcumttest", "typical", "{threads}", "{part}"], 2_560_000),
    (
        "cache_bench, one shard",
        &[
            "cache_bench",
            "-threads={threads}",
            "-num_shard_bits=0",
            "-cache_size=104857600",
            "-value_bytes=100",
            "-ops_per_thread={part}",
        ],
        640_000,
    ),
];

const PAIR: &str = "a pair that nobody disturbs";
/// Pairs of lock and unlock that nobody disturbs.
const PAIRS: &str = "320000000";

/// What one run took.
#[derive(Clone, Copy, Default)]
struct Took {
    wall_s: f64,
    cpu_s: f64,
    switches: f64,
}

/// Reads a part of the title of a row.
pub fn known(part: &str) -> Result<String, String> {
    let works = works(Path::new("pair"));
    let titles: Vec<_> = works.iter().map(Work::title).chain([mariadb::NAME.into()]).collect();
    match !part.is_empty() && titles.iter().any(|title| title.contains(part)) {
        true => Ok(part.into()),
        false => Err(format!("give a part of one of these: `{}`", titles.join("`, `"))),
    }
}

/// Measures the programs whose title contains `only`, and prints a row as soon as it is known. Makes no claim about the
/// numbers.
pub fn run(folder: &Path, library: &Path, only: &str, rounds: usize) -> Result<(), String> {
    let (processor, cpus) =
        (processor(), std::thread::available_parallelism().map_or(0, usize::from));
    println!(
        "{processor}, {cpus} CPUs, {} interleaved rounds: medians, and the median of the ratios with its 95 % interval\n",
        rounds
    );
    let mut works = works(&compiled(folder, "pair")?);
    works.retain(|work| work.title().contains(only));
    if !works.is_empty() {
        println!(
            "| program | threads | locks | s | CPU s | switches | time, as a part of glibc's | of one thread's with ours |"
        );
        println!("|---|---:|---|---:|---:|---:|---|---|");
    }
    for work in works {
        one_work(&work, library, rounds)?;
    }
    if !mariadb::NAME.contains(only) {
        return Ok(());
    }
    println!(
        "\n| {}, 16 threads | transactions per second | 99 % within, ms | both, as a part of glibc's |",
        mariadb::NAME
    );
    println!("|---|---:|---:|---|");
    mariadb::measure(folder, library, rounds)
}

fn works(pair: &Path) -> Vec<Work> {
    let pair = |threads: usize| Work {
        name: PAIR,
        threads,
        line: vec![pair.to_string_lossy().into(), threads.to_string(), PAIRS.into()],
        policies: &["default"],
        by_one: None,
    };
    let contended = CONTENDED.iter().flat_map(|&(name, line, all)| {
        THREADS.map(|threads| Work {
            name,
            threads,
            line: filled(line, threads, all),
            policies: if threads == 16 { &POLICIES } else { &["default"] },
            by_one: (threads == 16).then(|| filled(line, 1, all)),
        })
    });
    [1, 2].map(pair).into_iter().chain(contended).collect()
}

fn filled(line: &[&str], threads: usize, all: usize) -> Vec<String> {
    let part = (all / threads).to_string();
    let threads = threads.to_string();
    line.iter().map(|word| word.replace("{threads}", &threads).replace("{part}", &part)).collect()
}

/// A program of the folder `crates/pthread/tests`, compiled.
pub fn compiled(folder: &Path, name: &str) -> Result<PathBuf, String> {
    let program = folder.join(name);
    let mut cc = tool("CC", "cc");
    cc.args(["-std=gnu11", "-O2", "-pthread", "-o"]).arg(&program);
    cc.arg(format!("{}/../crates/pthread/tests/{name}.c", env!("CARGO_MANIFEST_DIR")));
    succeed(&mut cc)?;
    Ok(program)
}

fn one_work(work: &Work, library: &Path, rounds: usize) -> Result<(), String> {
    // glibc's, ours with each policy and, if it is asked for, ours with one thread.
    let ours = work.policies.iter().map(|policy| (&work.line, Some((library, *policy))));
    let by_one = work.by_one.iter().map(|line| (line, Some((library, "default"))));
    let sides: Vec<_> = [(&work.line, None)].into_iter().chain(ours).chain(by_one).collect();
    let run = |side: usize| one(sides[side].0, sides[side].1);
    let took = in_turns((&work.title(), sides.len(), rounds), run)?;
    let (took, of_one) = took.split_at(1 + work.policies.len());
    let start = format!("| {} | {} |", work.name, work.threads);
    // Without a run by one thread in the same rounds there is nothing to compare with.
    let to = |of: &[Took], other: Option<&Vec<Took>>| match other {
        None => "-".into(),
        Some(other) => ratio(of.iter().zip(other).map(|(of, other)| of.wall_s / other.wall_s)),
    };
    let of_glibc = &took[0];
    println!("{start} glibc | {} | 1 | {} |", medians(of_glibc), to(of_glibc, of_one.first()));
    for (of, policy) in took[1..].iter().zip(work.policies) {
        let (glibc, one) = (to(of, Some(of_glibc)), to(of, of_one.first()));
        println!("{start} {policy} | {} | {glibc} | {one} |", medians(of));
    }
    Ok(())
}

fn medians(of: &[Took]) -> String {
    let of = |field: fn(&Took) -> f64| median(&sorted(of.iter().map(field)));
    format!("{:.2} | {:.2} | {:.0}", of(|it| it.wall_s), of(|it| it.cpu_s), of(|it| it.switches))
}

/// The shell says what its child took: CPU time, and how often the child lost its CPU or gave it up.
fn one(line: &[String], library: Option<(&Path, &str)>) -> Result<Took, String> {
    let mut timed = vec!["python3", "-c", TIMED];
    timed.extend(line.iter().map(String::as_str));
    let began = Instant::now();
    let output = limit::output_within(&mut with(&timed, library), LIMIT);
    let output = output.map_err(|why| format!("{}: {why}", line[0]))?;
    let text = output.err;
    let words = text.lines().next_back().unwrap_or_default().split(' ');
    let numbers: Vec<f64> = words.filter_map(|word| word.parse().ok()).collect();
    if let ([wall_s, cpu_s, switches], true) = (&numbers[..], output.status.success()) {
        return Ok(Took { wall_s: *wall_s, cpu_s: *cpu_s, switches: *switches });
    }
    Err(format!("{} failed after {:.1} s: {text}", line[0], began.elapsed().as_secs_f64()))
}

/// Runs its arguments, and says what that took.
const TIMED: &str = "\
import resource, subprocess, sys, time
began = time.time()
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
it = resource.getrusage(resource.RUSAGE_CHILDREN)
print(time.time() - began, it.ru_utime + it.ru_stime, it.ru_nvcsw + it.ru_nivcsw, file=sys.stderr)
sys.exit(code)
";

fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("model name")?.split(": ").nth(1));
    name.unwrap_or("a processor without a name").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_threads_together_do_the_same_work() {
        let works = works(Path::new("pair"));
        for (name, _, all) in CONTENDED {
            let done = works.iter().filter(|work| work.name == name).map(|work| {
                let last = work.line.last().expect("the part of a thread");
                let part: usize =
                    last.rsplit('=').next().and_then(|part| part.parse().ok()).expect("a number");
                part * work.threads
            });
            assert_eq!(done.collect::<Vec<_>>(), [all; THREADS.len()], "{name}");
        }
    }
}
