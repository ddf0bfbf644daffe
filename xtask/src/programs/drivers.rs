//! Programs that check their own work.

use super::needs::is_there;
use crate::limit;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// How waiters of mutexes get them, as `lockwright run --policy` knows it.
pub const POLICIES: [&str; 3] = ["default", "fair", "cna"];
/// The longest that a program may take.
pub const LIMIT: Duration = Duration::from_secs(60);

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

const NODE: &str = "\
const { Worker } = require('worker_threads');
const work = `let sum = 0; for (let i = 0; i < 3e6; i++) sum += i; \
    require('worker_threads').parentPort.postMessage(sum)`;
let done = 0;
for (let i = 0; i < 8; i++)
    new Worker(work, { eval: true }).on('message', sum => {
        if (sum === 4499998500000 && ++done === 8) console.log('all there');
    });
";

/// Programs that people run: servers, languages, an encoder; and some whose locks are shared between processes,
/// cancelled, or taken with real-time priorities.
const OTHERS: [Driver; 11] = [
    Driver {
        name: "valgrind",
        line: &["valgrind", "--tool=helgrind", "tcumttest", "typical", "2", "200"],
        prints: "ok",
    },
    Driver {
        name: "memcached",
        line: &["sh", "-c", include_str!("memcached.sh")],
        prints: "every answer is right",
    },
    Driver {
        name: "CPython's tests of threads",
        line: &[
            "/usr/bin/python3",
            "-m",
            "test",
            "test_thread",
            "test_threading",
            "test_threading_local",
            "test_queue",
            "test_threadsignals",
            "test_threadedtempfile",
        ],
        prints: "result: SUCCESS",
    },
    Driver { name: "OpenJDK", line: &["sh", "-c", include_str!("java.sh")], prints: "all there" },
    Driver { name: "Node", line: &["node", "-e", NODE], prints: "all there" },
    Driver {
        name: "x264",
        line: &["sh", "-c", include_str!("encoder.sh")],
        prints: "the same bytes",
    },
    Driver {
        name: "db_bench of RocksDB",
        line: &[
            "db_bench",
            "--benchmarks=fillrandom,readwhilewriting,verifychecksum",
            "--threads=8",
            "--num=20000",
            "--db=/tmp/lockwright-db-bench",
        ],
        prints: "verifychecksum",
    },
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
    Driver {
        name: "gcc's ThreadSanitizer and AddressSanitizer",
        line: &[
            "sh",
            "-c",
            include_str!("sanitizers.sh"),
            "sh",
            concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/pthread/tests"),
        ],
        prints: "all is found",
    },
];

/// Each in a sandbox that ends it at a system call that it does not know. They run if they are installed.
const BROWSERS: [Driver; 2] = [
    Driver {
        name: "Chromium",
        line: &["sh", "-c", include_str!("browser.sh"), "sh", "chromium"],
        prints: "all there: 42",
    },
    Driver {
        name: "Firefox",
        line: &["sh", "-c", include_str!("browser.sh"), "sh", "firefox-esr"],
        prints: "all there: 42",
    },
];

/// The command, with glibc's locks or with ours and a policy.
pub fn with(line: &[&str], library: Option<(&Path, &str)>) -> Command {
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
    let mut is_right = check_all(&OTHERS, library)?;
    for browser in &BROWSERS {
        let program = browser.line[browser.line.len() - 1];
        if is_there(program) {
            is_right &= check_all(std::slice::from_ref(browser), library)?;
        } else {
            println!("{}: did not run, because `{program}` is not installed", browser.name);
        }
    }
    Ok(is_right)
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
}
