//! Programs of the folder `crates/pthread/tests` that take too long for a test.

use super::drivers::{LIMIT, POLICIES, with};
use super::measure::compiled;
use crate::limit;
use std::path::Path;

/// What each is for, its name, and its arguments.
const PROGRAMS: [(&str, &str, &[&str]); 3] = [
    // glibc's condition variables lose wake-ups before 2.41 (BZ 25847): a search for them, and a story that loses one.
    ("lost wake-ups", "lost_wakeup", &["30"]),
    ("a lost wake-up", "late_waiter", &[]),
    ("10,000 threads", "crowd", &["10000", "100000"]),
];

/// Runs them with glibc's locks and with each policy. Returns false if one was wrong with ours.
pub fn run(folder: &Path, library: &Path) -> Result<bool, String> {
    let mut is_right = true;
    for (what, name, arguments) in PROGRAMS {
        let program = compiled(folder, name)?.to_string_lossy().into_owned();
        let line: Vec<&str> = [program.as_str()].iter().chain(arguments).copied().collect();
        for policy in [None].into_iter().chain(POLICIES.map(Some)) {
            let mut it = with(&line, policy.map(|policy| (library, policy)));
            let output = limit::output_within(&mut it, LIMIT);
            let output = output.map_err(|why| format!("{name}: {why}"))?;
            // glibc's own may be wrong.
            is_right &= output.status.success() || policy.is_none();
            let (of, said) = (policy.unwrap_or("glibc"), output.out);
            let last = said.lines().next_back().unwrap_or("nothing was printed");
            let is = if output.status.success() { "right" } else { "WRONG" };
            println!("{what}, {of}: {is}: {last}");
        }
    }
    Ok(is_right)
}
