//! What is in the library, as `objdump` of binutils shows it.

use crate::{installed, run};
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

fn objdump(options: &[&str]) -> String {
    let mut objdump = Command::new("objdump");
    objdump.args(options).arg(installed("lib/liblockwright.so.0"));
    run(objdump)
}

/// Where the library has the addresses of functions of others.
fn addresses() -> BTreeMap<String, String> {
    let named = |line: &str| {
        let mut words = line.split_whitespace();
        let (address, name) = (words.next()?, words.nth(1)?);
        Some((address.trim_start_matches('0').to_owned(), name.split('@').next()?.to_owned()))
    };
    objdump(&["--dynamic-reloc"]).lines().filter_map(named).collect()
}

/// Which functions call which, jump to them, or read their addresses. A call of a function of this library through a
/// register is not seen.
fn calls() -> BTreeMap<String, BTreeSet<String>> {
    let addresses = addresses();
    let mut calls: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut function = String::new();
    for line in objdump(&["--disassemble", "--no-show-raw-insn"]).lines() {
        let Some((before, name)) = line.rsplit_once('<') else { continue };
        if let Some(name) = name.strip_suffix(">:") {
            function = name.to_owned();
            calls.entry(name.to_owned()).or_default();
            continue;
        }
        let is_call = ["call", "jmp", "bl ", "b "].iter().any(|call| before.contains(call));
        // Behind the name there may be a distance, or a version.
        let name = name.split(['+', '@', '>']).next().unwrap_or_default();
        let read = before.rsplit_once("# ").and_then(|(_, address)| addresses.get(address.trim()));
        let called = read.cloned().or_else(|| is_call.then(|| name.to_owned()));
        calls.entry(function.clone()).or_default().extend(called);
    }
    calls
}

/// What is reached from these functions, but for functions whose names have one of these words.
fn reached_from(names: impl Iterator<Item = String>, without: &[&str]) -> BTreeSet<String> {
    let (calls, mut reached) = (calls(), BTreeSet::new());
    let mut next: Vec<String> = names.collect();
    while let Some(name) = next.pop() {
        if without.iter().any(|word| name.contains(word)) || !reached.insert(name.clone()) {
            continue;
        }
        next.extend(calls.get(&name).into_iter().flatten().cloned());
    }
    reached
}

/// What ends the process.
const ENDS: [&str; 4] = ["panic", "slice_index_fail", "assert_failed", "abort"];

/// What no lock operation calls.
fn forbidden_in(reached: &BTreeSet<String>) -> Vec<&String> {
    let forbidden =
        ["__tls_get_addr", "alloc", "posix_memalign", "dlsym", "dl_iterate_phdr", "getenv"];
    reached.iter().filter(|name| forbidden.iter().any(|word| name.contains(word))).collect()
}

#[test]
fn no_lock_allocates_or_asks_the_dynamic_linker() {
    if !cfg!(target_arch = "x86_64") {
        println!("addresses of functions are not read on this processor");
        return;
    }
    let all = calls().into_keys().filter(|name| name.starts_with("lw_") && name != "lw_prepare");
    let reached = reached_from(all, &ENDS);
    assert!(reached.contains("syscall") && reached.contains("lw_mutex_lock"), "{reached:?}");
    let found = forbidden_in(&reached);
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn the_search_sees_what_it_looks_for() {
    // What runs after a panic allocates.
    let reached =
        reached_from(calls().into_keys().filter(|name| name.contains("begin_unwind")), &[]);
    let found = forbidden_in(&reached);
    assert!(cfg!(not(target_arch = "x86_64")) || !found.is_empty(), "{reached:?}");
}
