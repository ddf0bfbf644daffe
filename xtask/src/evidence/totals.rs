//! How much the checkers did, in words.

use super::documents::Documents;
use std::collections::BTreeSet;

/// How much loom explored of the correct code.
pub fn loom(documents: &Documents) -> String {
    let checks = || documents.zoo.clean.iter().filter(|check| check.checker == "loom");
    let locks: BTreeSet<_> = checks().map(|check| &check.lock).collect();
    let executions = checks().map(|check| check.executions).sum();
    let executions = grouped(executions);
    let checks = plural(checks().count() as u64, "check");
    format!("{checks} of {}, with {executions} executions", plural(locks.len() as u64, "lock"))
}

/// How much shuttle sampled.
pub fn shuttle(documents: &Documents) -> String {
    let executions = documents.samples.iter().map(|sample| sample.executions).sum();
    format!("{} schedules", grouped(executions))
}

/// What was explored in the simulator.
pub fn explored(documents: &Documents) -> String {
    let results = &documents.explored.results;
    let locks: BTreeSet<_> = results.iter().map(|it| &it.lock).collect();
    let clients: BTreeSet<_> = results.iter().map(|it| &it.client).collect();
    let threads: BTreeSet<_> = results.iter().map(|it| it.threads.to_string()).collect();
    let schedules: u64 = results.iter().map(|it| it.schedules).sum();
    let steps: u64 = results.iter().map(|it| it.steps).sum();
    format!(
        "{} and {}, {} threads, {} schedules with {} simulated steps from seed {}",
        plural(locks.len() as u64, "lock"),
        plural(clients.len() as u64, "client"),
        threads.into_iter().collect::<Vec<_>>().join(" or "),
        grouped(schedules),
        grouped(steps),
        documents.explored.seed,
    )
}

/// A number with commas.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let is_boundary = |at: usize| at > 0 && (digits.len() - at).is_multiple_of(3);
    let grouped = digits.char_indices().flat_map(|(at, digit)| {
        let comma = is_boundary(at).then_some(',');
        comma.into_iter().chain([digit])
    });
    grouped.collect()
}

fn plural(count: u64, one: &str) -> String {
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}
