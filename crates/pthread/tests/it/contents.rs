//! What is in the library, as `objdump` and `nm` of binutils show it.

use crate::{library, run};
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// Which functions call which, or jump to them. A call through a register is not seen.
fn calls() -> BTreeMap<String, BTreeSet<String>> {
    let mut objdump = Command::new("objdump");
    objdump.args(["--disassemble", "--no-show-raw-insn"]).arg(library());
    let mut calls: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut function = String::new();
    for line in run(objdump).lines() {
        let named = line.rsplit_once('<').and_then(|(before, name)| {
            let name = name.trim_end_matches(':').strip_suffix('>')?;
            // Behind the name there may be a distance, or a version.
            let name = name.split(['+', '@']).next().unwrap_or_default();
            Some((before, name.strip_suffix(".cold").unwrap_or(name).to_owned()))
        });
        let Some((before, name)) = named else { continue };
        if line.ends_with(">:") {
            function = name;
        } else if ["call", "jmp", "bl ", "b "].iter().any(|call| before.contains(call)) {
            calls.entry(function.clone()).or_default().insert(name);
        }
    }
    calls
}

/// What is reached from these functions. What looks up the functions of glibc is not: that has been done.
fn reached_from(names: &[&str]) -> BTreeSet<String> {
    let calls = calls();
    let mut reached = BTreeSet::new();
    let mut next: Vec<String> = names.iter().map(|&name| name.into()).collect();
    while let Some(name) = next.pop() {
        if name.starts_with("find_") || !reached.insert(name.clone()) {
            continue;
        }
        next.extend(calls.get(&name).into_iter().flatten().cloned());
    }
    reached
}

/// The functions behind those that are exported, which only call them.
const LOCKS: [&str; 14] = [
    "lw_mutex_lock",
    "lw_mutex_trylock",
    "lw_mutex_timedlock",
    "lw_mutex_unlock",
    "lw_rwlock_rdlock",
    "lw_rwlock_wrlock",
    "lw_rwlock_tryrdlock",
    "lw_rwlock_trywrlock",
    "lw_rwlock_timedrdlock",
    "lw_rwlock_timedwrlock",
    "lw_rwlock_unlock",
    "lw_condvar_wait",
    "lw_condvar_signal",
    "lw_condvar_broadcast",
];

#[test]
fn no_lock_allocates_looks_up_a_symbol_or_panics() {
    let reached = reached_from(&LOCKS);
    let is_more = |name: &str| reached.contains(name);
    assert!(is_more("syscall") && is_more("lw_glibc_mutex_lock"), "{reached:?}");
    let forbidden = [
        "__tls_get_addr",
        "alloc",
        "posix_memalign",
        "dlsym",
        "dlvsym",
        "dl_iterate_phdr",
        "panic",
        "getenv",
    ];
    let is_forbidden = |name: &&String| forbidden.iter().any(|word| name.contains(word));
    let found: Vec<_> = reached.iter().filter(is_forbidden).collect();
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn the_search_sees_what_it_looks_for() {
    let reached = reached_from(&["prepare"]);
    assert!(reached.contains("dlsym") && reached.contains("lw_glibc_cond_init"), "{reached:?}");
}

#[test]
fn nothing_but_functions_of_glibc_is_exported() {
    let mut nm = Command::new("nm");
    nm.args(["--dynamic", "--defined-only"]).arg(library());
    // The last one is a version that hides everything else.
    let of_glibc = ["pthread_", "__pthread_", "mtx_", "cnd_", "GLIBC_", "LOCKWRIGHT"];
    let (mut count, text) = (0, run(nm));
    for name in text.lines().filter_map(|line| line.split_whitespace().next_back()) {
        assert!(of_glibc.iter().any(|prefix| name.starts_with(prefix)), "{name}");
        count += usize::from(name.contains("@@"));
    }
    assert!(count > 40, "{text}");
}
