//! The tables of `docs/evidence.md`.

use super::clients::{ids, only_killed_by, short};
use super::documents::{Documents, Finding, Mutant, Row};
use std::collections::{BTreeMap, BTreeSet};

/// Sites by file: `counts` is what the tree has.
pub fn files(documents: &Documents, counts: &BTreeMap<String, usize>) -> String {
    let mut text = head(&["file", "sites", "mutants", "killed", "argued"]);
    for (file, sites) in counts {
        let of_file = || documents.weaken.mutants.iter().filter(|it| short(&it.site) == file);
        let count = |verdict| of_file().filter(|it| it.verdict == verdict).count().to_string();
        let mutants = of_file().count().to_string();
        let (killed, argued) = (count("KILLED"), count("ARGUED"));
        text += &line([format!("`{file}`"), sites.to_string(), mutants, killed, argued]);
    }
    text
}

/// Mutants of one file and one id.
type Alike<'a> = BTreeMap<(&'a str, String), Vec<&'a Mutant>>;

/// Every mutant, those of one id in one file together.
pub fn sites(documents: &Documents) -> String {
    let mut alike = Alike::new();
    for mutant in &documents.weaken.mutants {
        alike.entry((short(&mutant.site), ids(mutant))).or_default().push(mutant);
    }
    let mut text = head(&["in", "id", "made", "mutants", "killed by"]);
    for ((file, ids), mutants) in alike {
        let made = |mutant: &&Mutant| match &*mutant.to {
            "" => format!("{} removed", mutant.from),
            to => format!("{} to {to}", mutant.from),
        };
        let made: BTreeSet<_> = mutants.iter().map(made).collect();
        let made = made.into_iter().collect::<Vec<_>>().join(", ");
        let (count, by) = (mutants.len().to_string(), fate(&mutants));
        text += &line([format!("`{file}`"), ids, made, count, by]);
    }
    text
}

/// What became of mutants that are alike: the least that killed one of them, and what did not die.
fn fate(mutants: &[&Mutant]) -> String {
    let (killed, others): (Vec<&Mutant>, Vec<&Mutant>) =
        mutants.iter().partition(|mutant| mutant.verdict == "KILLED");
    let kills = killed.iter().map(|it| (killers(&it.kills), &it.checker));
    let mut parts = Vec::new();
    if let Some(((checks, clients), checker)) = kills.min() {
        let least = if killed.len() == 1 { "" } else { "at least " };
        parts.push(format!("{checker}: {least}{}", of_clients(checks, clients)));
    }
    let mut verdicts: BTreeMap<_, usize> = BTreeMap::new();
    for mutant in others {
        *verdicts.entry(mutant.verdict.to_lowercase().replace('_', " ")).or_default() += 1;
    }
    parts.extend(verdicts.iter().map(|(verdict, count)| format!("{count} {verdict}")));
    parts.join("; ")
}

/// Why mutants stay that no check kills.
pub fn arguments(documents: &Documents) -> String {
    let mut places: BTreeMap<(&str, &str), BTreeSet<String>> = BTreeMap::new();
    for mutant in documents.weaken.mutants.iter().filter(|mutant| mutant.verdict == "ARGUED") {
        let argument = mutant.argument.as_deref().unwrap_or("no argument is given");
        let bound = mutant.bound.as_deref().unwrap_or("none named");
        let to = if mutant.to.is_empty() { "removed" } else { &mutant.to };
        let place = format!("{} {} of `{}` {to}", ids(mutant), mutant.from, short(&mutant.site));
        places.entry((argument, bound)).or_default().insert(place);
    }
    let item = |((argument, bound), places): (&(&str, &str), &BTreeSet<String>)| {
        let places: Vec<_> = places.iter().map(String::as_str).collect();
        format!("- {}. {} *Bound:* {}\n", places.join(", "), flat(argument), flat(bound))
    };
    let items: String = places.iter().map(item).collect();
    if items.is_empty() { "None.\n".into() } else { items }
}

/// The kill matrix of the zoo.
pub fn zoo(documents: &Documents) -> String {
    let mut text = head(&["bug", "what goes wrong", "in", "found by"]);
    for Row { row, what, locks, verdict, kills, .. } in &documents.zoo.rows {
        let mut by_checker: BTreeMap<&str, Vec<&Finding>> = BTreeMap::new();
        for kill in kills {
            by_checker.entry(&kill.checker).or_default().push(kill);
        }
        let found: Vec<_> =
            by_checker.iter().map(|(checker, kills)| first(checker, kills)).collect();
        let found = if found.is_empty() { verdict.to_lowercase() } else { found.join("; ") };
        let what = what.split(['.', ':']).next().unwrap_or(what).replace('|', "/");
        text += &line([row.clone(), what, locks.join(", "), found]);
    }
    text
}

/// How many checks of a checker found a bug, and the one that needed the fewest executions.
fn first(checker: &str, kills: &[&Finding]) -> String {
    let fewest = kills.iter().min_by_key(|kill| kill.executions);
    let first = fewest.map_or(String::new(), |kill| {
        let seed = kill.seed.map_or(String::new(), |seed| format!(", seed {seed}"));
        let Finding { client, lock, executions, seconds, .. } = kill;
        let executions = plural(*executions, "execution");
        format!("first: {client} on {lock}, {executions}, {seconds:.2} s{seed}")
    });
    let kills: Vec<_> = kills.iter().map(|kill| (*kill).clone()).collect();
    let (checks, clients) = killers(&kills);
    format!("{checker}: {} ({first})", of_clients(checks, clients))
}

/// What survives when a client is deleted, of clients without which something does.
pub fn clients(documents: &Documents) -> String {
    const SHOWN: usize = 3;
    let mut text = head(&["without", "survive", "for instance"]);
    let needed = only_killed_by(documents).into_iter().filter(|(_, mutants)| !mutants.is_empty());
    for (client, mutants) in needed {
        let shown: Vec<_> = mutants.iter().take(SHOWN).map(String::as_str).collect();
        text += &line([client, mutants.len().to_string(), shown.join("; ")]);
    }
    text
}

/// What loom explored of the real code.
pub fn loom(documents: &Documents) -> String {
    let mut by_lock: BTreeMap<&str, Vec<&Finding>> = BTreeMap::new();
    for check in documents.zoo.clean.iter().filter(|check| check.checker == "loom") {
        by_lock.entry(&check.lock).or_default().push(check);
    }
    // Locks whose slow path is one are explored alike.
    let mut alike: BTreeMap<_, (Vec<&str>, f64)> = BTreeMap::new();
    for (lock, checks) in by_lock {
        let clients: BTreeSet<_> = checks.iter().map(|check| &check.client).collect();
        let executions: u64 = checks.iter().map(|check| check.executions).sum();
        let key = (checks.len(), clients.len(), executions);
        let (locks, seconds) = alike.entry(key).or_default();
        locks.push(lock);
        *seconds += checks.iter().map(|check| check.seconds).sum::<f64>();
    }
    let mut lines: Vec<_> = alike.into_iter().collect();
    lines.sort_by(|(_, (one, _)), (_, (other, _))| one.cmp(other));
    let mut text = head(&["lock", "checks", "clients", "executions of each", "seconds of all"]);
    for ((checks, clients, executions), (locks, seconds)) in lines {
        let counts = [checks.to_string(), clients.to_string(), executions.to_string()];
        let [checks, clients, executions] = counts;
        text += &line([locks.join(", "), checks, clients, executions, format!("{seconds:.1}")]);
    }
    text
}

/// What shuttle sampled.
pub fn shuttle(documents: &Documents) -> String {
    let mut by_machine: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for sample in &documents.samples {
        let key = (sample.threads, &sample.on, sample.seed);
        by_machine.entry(key).or_default().push(sample);
    }
    let mut text =
        head(&["threads", "machine", "schedules", "seed", "locks", "clients", "executions"]);
    for ((threads, on, seed), samples) in by_machine {
        let schedulers: BTreeSet<_> =
            samples.iter().map(|sample| sample.scheduler.as_str()).collect();
        let locks: BTreeSet<_> = samples.iter().map(|sample| &sample.lock).collect();
        let clients: BTreeSet<_> = samples.iter().map(|sample| &sample.client).collect();
        let executions: u64 = samples.iter().map(|sample| sample.executions).sum();
        text += &line([
            threads.to_string(),
            on.clone(),
            schedulers.into_iter().collect::<Vec<_>>().join(", "),
            seed.to_string(),
            locks.len().to_string(),
            clients.len().to_string(),
            executions.to_string(),
        ]);
    }
    text
}

/// How much loom explored of the correct code.
pub fn loom_total(documents: &Documents) -> String {
    let checks = || documents.zoo.clean.iter().filter(|check| check.checker == "loom");
    let locks: BTreeSet<_> = checks().map(|check| &check.lock).collect();
    let executions = checks().map(|check| check.executions).sum();
    let executions = grouped(executions);
    let checks = plural(checks().count() as u64, "check");
    format!("{checks} of {}, with {executions} executions", plural(locks.len() as u64, "lock"))
}

/// How much shuttle sampled.
pub fn shuttle_total(documents: &Documents) -> String {
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

/// How many checks, and of how many clients.
fn killers(kills: &[Finding]) -> (usize, usize) {
    let clients: BTreeSet<_> = kills.iter().map(|kill| &kill.client).collect();
    (kills.len(), clients.len())
}

fn of_clients(checks: usize, clients: usize) -> String {
    format!("{} of {}", plural(checks as u64, "check"), plural(clients as u64, "client"))
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

fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn head(cells: &[&str]) -> String {
    format!("| {} |\n|{}\n", cells.join(" | "), "---|".repeat(cells.len()))
}

fn line<const N: usize>(cells: [String; N]) -> String {
    format!("| {} |\n", cells.join(" | "))
}
