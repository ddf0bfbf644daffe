//! A search for lost wake-ups, which glibc's condition variables have before 2.41 (BZ 25847).

use super::drivers::{LIMIT, POLICIES, with};
use super::measure::compiled;
use crate::limit;
use std::path::Path;

/// Of one search.
const SECONDS: &str = "30";

/// Runs the search with glibc's locks and with each policy. Returns false if a wake-up was lost with ours.
pub fn run(folder: &Path, library: &Path) -> Result<bool, String> {
    let program = compiled(folder, "lost_wakeup")?;
    let program = program.to_string_lossy();
    let mut is_right = true;
    for policy in [None].into_iter().chain(POLICIES.map(Some)) {
        let library = policy.map(|policy| (library, policy));
        let mut search = with(&[&program, SECONDS], library);
        let output = limit::output_within(&mut search, LIMIT);
        let output = output.map_err(|why| format!("lost_wakeup: {why}"))?;
        // glibc's own may be lost.
        is_right &= output.status.success() || policy.is_none();
        let (of, said) = (policy.unwrap_or("glibc"), String::from_utf8_lossy(&output.stdout));
        println!("lost wake-ups, {of}: {}", said.trim());
    }
    Ok(is_right)
}
