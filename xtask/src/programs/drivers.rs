//! Programs that check their own work, and how long they take.

use crate::limit;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// How waiters of mutexes get them, as `lockwright run --policy` knows it.
pub const POLICIES: [&str; 3] = ["default", "fair", "cna"];
/// The longest that a program may take.
const LIMIT: Duration = Duration::from_secs(60);
/// Repetitions of a measurement; those of glibc and of each policy take turns.
const RUNS: usize = 7;

/// A program that says if it is right, and what it prints then.
struct Driver {
    name: &'static str,
    line: &'static [&'static str],
    prints: &'static str,
}

/// They verify what they read, and end with an error otherwise.
const DRIVERS: [Driver; 4] = [
    Driver {
        name: "kccachetest",
        line: &["kccachetest", "wicked", "-th", "4", "10000"],
        prints: "ok",
    },
    Driver {
        name: "kccachetest, transactions",
        line: &["kccachetest", "tran", "-th", "4", "2000"],
        prints: "ok",
    },
    Driver { name: "tcumttest", line: &["tcumttest", "typical", "4", "5000"], prints: "ok" },
    Driver {
        name: "cache_bench",
        line: &[
            "cache_bench",
            "-threads=8",
            "-num_shard_bits=0",
            "-cache_size=10485760",
            "-value_bytes=100",
            "-ops_per_thread=20000",
        ],
        prints: "Complete in",
    },
];

/// Programs whose locks are shared between processes, cancelled, or taken with real-time priorities.
const OTHERS: [Driver; 3] = [
    Driver {
        name: "fio, processes",
        line: &[
            "fio",
            "--name=shared",
            "--ioengine=null",
            "--rw=randrw",
            "--size=1G",
            "--numjobs=4",
        ],
        prints: "err= 0",
    },
    Driver {
        name: "sysbench mutex",
        line: &["sysbench", "mutex", "--threads=8", "--mutex-num=16", "run"],
        prints: "execution time",
    },
    Driver {
        name: "stress-ng --mutex",
        line: &["stress-ng", "--mutex", "4", "--timeout", "5", "--metrics-brief", "--verify"],
        prints: "successful run completed",
    },
];

/// What is measured: equal work, by 16 threads.
const MEASURED: [(&str, &[&str]); 3] = [
    ("kccachetest wicked", &["kccachetest", "wicked", "-th", "16", "25000"]),
    ("tcumttest typical", &["tcumttest", "typical", "16", "12500"]),
    (
        "cache_bench, one shard",
        &[
            "cache_bench",
            "-threads=16",
            "-num_shard_bits=0",
            "-cache_size=104857600",
            "-value_bytes=100",
            "-ops_per_thread=25000",
        ],
    ),
];

fn with(line: &[&str], library: Option<(&Path, &str)>) -> Command {
    let mut command = Command::new(line[0]);
    command.args(&line[1..]).current_dir(std::env::temp_dir());
    match library {
        Some((library, policy)) => {
            command.env("LD_PRELOAD", library).env("LOCKWRIGHT_POLICY", policy)
        }
        None => command.env_remove("LD_PRELOAD"),
    };
    command
}

/// Runs the drivers with glibc's locks and with each policy. Returns false if one is wrong with ours only.
pub fn check(library: &Path) -> Result<bool, String> {
    check_all(&DRIVERS, library)
}

/// The same for programs of the full half.
pub fn check_others(library: &Path) -> Result<bool, String> {
    check_all(&OTHERS, library)
}

fn check_all(drivers: &[Driver], library: &Path) -> Result<bool, String> {
    let mut is_right = true;
    for driver in drivers {
        if !ends_well(driver, None)? {
            println!("{}: wrong with glibc's locks, so it says nothing", driver.name);
            continue;
        }
        for policy in POLICIES {
            let is = ends_well(driver, Some((library, policy)))?;
            println!("{}, policy {policy}: {}", driver.name, if is { "right" } else { "WRONG" });
            is_right &= is;
        }
    }
    Ok(is_right)
}

fn ends_well(driver: &Driver, library: Option<(&Path, &str)>) -> Result<bool, String> {
    match limit::output_within(&mut with(driver.line, library), LIMIT) {
        Ok(output) => {
            let text = [output.stdout, output.stderr].concat();
            let text = String::from_utf8_lossy(&text).into_owned();
            Ok(output.status.success() && text.contains(driver.prints))
        }
        Err(limit::Stopped::Late(_)) => Ok(false),
        Err(why) => Err(format!("{}: {why}", driver.name)),
    }
}

/// What one run took.
#[derive(Clone, Copy, Default)]
struct Took {
    wall_s: f64,
    cpu_s: f64,
    switches: f64,
}

/// A table of what the drivers take with glibc and with each policy, as medians.
pub fn measure(library: &Path) -> Result<String, String> {
    let mut text = format!(
        "\n{}, {} CPUs, medians of {RUNS} interleaved runs\n\n| program, 16 threads | locks | s | CPU s | switches |\n\
         |---|---|---:|---:|---:|\n",
        processor(),
        std::thread::available_parallelism().map_or(0, usize::from)
    );
    for (name, line) in MEASURED {
        let variants = [None].into_iter().chain(POLICIES.map(|policy| Some((library, policy))));
        let variants: Vec<_> = variants.collect();
        let mut took = vec![Vec::new(); variants.len()];
        for _ in 0..RUNS {
            for (of, variant) in took.iter_mut().zip(&variants) {
                of.push(one(line, *variant)?);
            }
        }
        for (of, variant) in took.iter().zip(&variants) {
            let locks = variant.map_or("glibc", |(_, policy)| policy);
            let median = |field: fn(&Took) -> f64| median(of.iter().map(field).collect());
            text += &format!(
                "| {name} | {locks} | {:.2} | {:.2} | {:.0} |\n",
                median(|it| it.wall_s),
                median(|it| it.cpu_s),
                median(|it| it.switches)
            );
        }
    }
    Ok(text)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The shell says what its child took: CPU time, and how often the child lost its CPU or gave it up.
fn one(line: &[&str], library: Option<(&Path, &str)>) -> Result<Took, String> {
    let mut timed = vec!["python3", "-c", TIMED];
    timed.extend(line);
    let began = Instant::now();
    let output = limit::output_within(&mut with(&timed, library), LIMIT);
    let output = output.map_err(|why| format!("{}: {why}", line[0]))?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let numbers: Vec<f64> = text
        .lines()
        .next_back()
        .into_iter()
        .flat_map(|line| line.split(' ').filter_map(|word| word.parse().ok()))
        .collect();
    match numbers[..] {
        [wall_s, cpu_s, switches] if output.status.success() => {
            Ok(Took { wall_s, cpu_s, switches })
        }
        _ => {
            Err(format!("{} failed after {:.1} s: {text}", line[0], began.elapsed().as_secs_f64()))
        }
    }
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
    fn a_program_that_ends_badly_or_does_not_say_that_it_is_right_is_wrong() {
        let ends = |line: &'static [&'static str]| {
            ends_well(&Driver { name: "sh", line, prints: "ok" }, None).expect("a shell")
        };
        assert!(ends(&["sh", "-c", "echo ok"]));
        assert!(!ends(&["sh", "-c", "echo ok; exit 1"]));
        assert!(!ends(&["sh", "-c", "echo error"]));
    }

    #[test]
    fn a_median_is_the_one_in_the_middle() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]).to_bits(), 2.0_f64.to_bits());
    }
}
