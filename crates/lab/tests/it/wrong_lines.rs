//! Wrong command lines: each answer says what to type instead.

use super::{files_in, lockwright, lockwright_in, stderr, stdout};

/// A wrong command line, and what its answer has to say.
const LINES: &[(&str, &str)] = &[
    ("benhc", "'bench'"),
    ("--list", "write `lockwright locks`"),
    ("bench --list", "write `lockwright locks`"),
    ("bench --xyzzy", "see `lockwright bench --help`"),
    ("bench --treads 1", "'--threads'"),
    ("bench --lock qspinlok", "did you mean `qspinlock`? (`lockwright locks` lists all)"),
    ("bench --lock kna-*", "`lockwright locks` lists all"),
    ("bench --lock busted*", "`lockwright locks` lists all"),
    ("bench --threads two", "write whole numbers from 1 on, such as 1,2,4"),
    ("bench --threads 0", "give at least 1"),
    ("bench --threads -1", "write whole numbers from 1 on, such as 1,2,4"),
    ("bench --threads 99999", "at most 4096"),
    ("bench --workload contuer", "did you mean `counter`? (`lockwright workloads` lists all)"),
    ("bench --runs 0", "write a whole number from 1 to 10000"),
    ("bench --runs many", "write a whole number from 1 to 10000"),
    ("bench --secs soon", "write a time such as 100ms, 2us or 1.5s"),
    ("bench --secs 0", "must be between 1us and 86400 seconds"),
    ("bench --secs -1", "must be between 1us and 86400 seconds"),
    ("bench --secs 1e30", "must be between 1us and 86400 seconds"),
    ("bench --seed one", "write a whole number from 0 on"),
    ("bench --on x5_4", "did you mean `x5-4`? (`lockwright machines` lists all)"),
    ("bench --on ./missing.toml", "lockwright machines show x5-4 > ./missing.toml"),
    ("bench --calibration x.toml", "add --on with one, such as `--on x5-4`"),
    ("bench --placement compact", "leave it out, or add --on x5-4"),
    ("bench --on x5-4 --placement compat", "'compact'"),
    ("bench --vcpus 4", "add --on with one, such as `--on haswell-2s`"),
    ("bench --on haswell-2s --vcpus 4 --threads 2", "--vcpus for a guest, --threads for a program"),
    ("bench --on haswell-2s --vcpus many", "write whole numbers from 1 on, such as 1,2,4"),
    ("bench --on haswell-2s --virtual-numa", "add --vcpus with a number"),
    ("bench --on haswell-2s --vcpus 4 --start-state random", "'random-queue'"),
    ("bench --on haswell-2s --threads 4 --start-state all", "add --vcpus, or more --threads"),
    ("bench --speed", "add --on x5-4"),
    ("bench --numa-spinlock of", "'off'"),
    ("bench --numa-spinlock-threshold 32", "write a whole number from 0 to 31"),
    ("bench --numa-spinlock-threshold-ns soon", "write a time such as 100ms, 2us or 1.5s"),
    ("bench --heavy-barrier-apart-ns -1", "write a time such as 100ms, 2us or 1.5s"),
    ("bench --cs-load 1,,2", "write a whole number from 0 to"),
    ("bench --think-load lots", "write a whole number from 0 to"),
    ("bench --read-percent 101", "write a whole number from 0 to 100"),
    ("bench --readers 50", "write `--read-percent 50`"),
    ("bench --reader-order rnd", "'random'"),
    ("bench --lock ticket --reader-order random", "add --read-percent with 1 to 99"),
    ("bench --empty-section maybe", "[possible values: on, off]"),
    ("bench --workload locktorture --long-hold on", "write 100ms, as in the kernel, or off"),
    ("bench --workload locktorture --long-hold 5ms", "write 100ms or off"),
    ("bench --workload locktorture --long-hold 100", "write `100ms`, or off"),
    ("bench --workload lock2 --read-percent 50", "leave it out, or add --workload counter"),
    ("bench --workload kbuild --units 0", "write a whole number from 1 to"),
    ("bench --workload kbuild --unit-ops x", "write a whole number from 1 to"),
    ("bench --workload kbuild --lock-count 100000", "must be between 1 and 4096"),
    ("bench --workload kbuild --lock-count 3 --hot-locks 4", "must be between 1 and 3"),
    ("bench --workload kbuild --hot-percent 101", "must be between 0 and 100"),
    ("bench --workload kbuild --serial-percent 100", "must be between 0 and 99"),
    ("bench --workload kbuild --compute-ns soon", "write a time such as 100ms, 2us or 1.5s"),
    ("bench --workload kbuild --io-ns -1", "write a time such as 100ms, 2us or 1.5s"),
    ("bench --workload handoff --section slep", "'sleep'"),
    ("bench --workload handoff --section-ns 2s", "must be between 0 and"),
    ("bench --workload uncontended --threads 2", "leave out --threads"),
    ("bench --json - --csv -", "give one of them a file"),
    ("bench --json out --csv out", "name the same file: give two names"),
    ("bench --json missing/out.json", "make it, or name another file"),
    ("bench --plot out.png", "name a file that ends in .svg"),
    ("torture --readers -1", "write a whole number from 0 on"),
    ("torture --lock ticket --readers 1", "leave out --readers, or name a reader-writer lock"),
    ("torture --lock busted-rw --threads 4,2 --readers 2", "give a smaller number, or use more"),
    ("torture --long-hold 5", "write `5ms`, or off"),
    ("torture --long-hold 1h", "write 10s or less"),
    ("torture --stutter soon", "write a time such as 100ms, 2us or 1.5s, or off"),
    ("torture --stutter 5", "make it shorter, or --secs longer, or write --stutter off"),
    ("torture --shuffle NaN", "must be a time such as 5ms, or off"),
    ("torture --on x5-4 --shuffle 1ms", "leave it out"),
    ("torture --nested 9", "write a whole number from 0 to 8"),
    ("torture --faults", "add --on x5-4"),
    ("explore --client exclusoin", "did you mean `exclusion`? (`lockwright clients` lists all)"),
    ("explore --threads 1", "must be between 2 and 26"),
    ("explore --schedules 0", "write a whole number from 1 to"),
    ("explore --bug 9999", "unknown bug `9999`; `lockwright bugs` lists all"),
    ("explore --bug 999", "unknown bug `999`; `lockwright bugs` lists all"),
    ("explore --lock mutex,,cna", "there is an empty name among the locks"),
    ("explore --client exclusion,", "there is an empty name among the clients"),
    (
        "explore --lock qspinlock --client rwsem-handoff",
        "`rwsem-handoff` does not fit `qspinlock`: it is for rwsem",
    ),
    (
        "explore --lock cna,mcs --client shared,condvar",
        "`shared` and `condvar` do not fit these locks: leave out --client",
    ),
    ("explore --lock mutex --bug 45 --client shared", "leave out --client"),
    (
        "explore --lock cna --client exclusion --replay 0:a2zz9",
        "there is no thread `z`: with --threads 4 they are `a` to `d`",
    ),
    (
        "explore --lock cna --client exclusion --replay 0:a3.b",
        "move 4 (`.b`) is not possible there",
    ),
    (
        "explore --lock cna --client exclusion --replay 0:a3!",
        "`!` (character 5) does not belong in a schedule",
    ),
    ("explore --bug 9 --lock cna", "run `cargo xtask zoo --only 9`"),
    ("explore --lock ticket --bug 48", "--lock can be cna"),
    ("explore --lock busted-relaxed", "run `cargo test -p lockwright-model"),
    ("explore --policy rnadom", "'random'"),
    ("explore --policy dfs --depth 3", "leave one of the two out"),
    ("explore --depth 0", "write a whole number from 1 to 64"),
    ("explore --preemptions 5000", "write a whole number from 0 to 1000"),
    ("explore --rounds 0", "write a whole number from 1 to 1000"),
    ("explore --on native", "leave out --on"),
    ("explore --lock std", "leave it out"),
    ("explore --lock cna --client exclusion --replay garbled", "copy it from the line"),
    ("explore --lock cna --replay 0:a", "give one --lock and one --client"),
    ("compare --peer usnyc", "did you mean `usync`?"),
    ("compare --peer floor", "--peer takes std"),
    ("compare --ours mutx", "did you mean `mutex`?"),
    ("compare --ours std", "leave it out, or name one such as `mutex`"),
    ("compare --ours mutex,qspinlock", "leave out one of them"),
    ("compare --cell cs1-t9", "--cell takes `pair`"),
    (
        "compare --kind readers",
        "[possible values: pair, exclusive, rw, queue, blocking, work, sleep]",
    ),
    ("compare --cell cs1-t2 --kind rw", "leave out one of the two"),
    ("compare --only mutex", "[possible values: rwlock]"),
    ("compare --only rwlock --ours percpu-rwlock", "'--ours <LOCK,...>'"),
    ("compare --kind queue --ours rwlock,ticket", "name a lock that has one, such as `mutex`"),
    ("compare --cell timed-t8 --peer std", "name one that has it, such as `parking_lot`"),
    ("compare --cell cs1-t2 --neighbours with", "leave out --neighbours"),
    ("compare --runs 1", "write a whole number from 2 to 10000"),
    ("compare --on x5-4 --peer std", "leave it out, or leave out --on"),
    ("compare --on x5-4 --set pause", "write a name and a number, such as pause=45"),
    ("compare --set pause=45", "add --on with one, such as --on x5-4"),
    ("reproduce cna_v10_locktortur_x5_4", "did you mean `cna_v10_locktorture_x5_4`?"),
    ("reproduce --all cna_v10_locktorture_x5_4", "name a table or say --all, not both"),
    ("reproduce --all --plot out.svg", "say --plot-dir DIR"),
    ("reproduce --plot out.svg", "name what to run"),
    ("reproduce --all --shard 9/8", "write --shard 3/8 for the third of eight parts"),
    ("explore --shard 3", "write --shard 3/8 for the third of eight parts"),
    ("explore --lock mcs --client exclusion --shard 3/9", "use fewer parts in --shard"),
    ("bench --threads 2 --shard 1/2", "add --on x5-4"),
    ("bench --role reader", "add --workload starve"),
    ("bench --workload starve --role raeder", "'reader'"),
    ("bench --workload starve --role reader --lock mutex", "take another --role, such as owner"),
    ("bench --workload starve --role upgrader --lock std-rwlock", "leave it out"),
    ("bench --workload starve --role notified --lock rwlock", "leave it out"),
    ("bench --workload starve --threads 1", "2 to 65 threads"),
    ("bench --workload starve --section-ns 2s", "between 1us and 1s"),
    ("bench --workload starve --priority high", "write normal, nice:10 (-20 to 19), fifo:1"),
    (
        "bench --workload starve --waiter-priority nice:20",
        "write normal, nice:10 (-20 to 19), fifo:1",
    ),
    ("bench --workload starve --priority rr --section spin --threads 65", "or --section sleep"),
    ("bench --workload starve --forked maybe", "[possible values: on, off]"),
    ("bench --workload starve --on x5-4", "leave out --on"),
    ("torture --workload strave", "did you mean `starve`?"),
    ("torture --section spin", "add --workload starve"),
    ("torture --section-ns 2ms", "add --workload starve"),
    ("torture --role reader", "add --workload starve"),
    ("torture --priority idle", "add --workload starve"),
    ("torture --waiter-priority idle", "add --workload starve"),
    ("torture --forked on", "add --workload starve"),
    ("torture --workload starve --nested 1", "leave out --workload"),
    ("calibrate x5_4", "did you mean `x5-4`?"),
    ("calibrate", "see `lockwright calibrate --help`"),
    ("calibrate x5-4 --json -", "add --out FILE.toml"),
    ("calibrate x5-4 --force", "--out <FILE.toml>"),
    ("machines x5-4", "write `lockwright machines show x5-4`"),
    ("machines show x5_4", "did you mean `x5-4`?"),
    ("machines show native", "lockwright machines probe --out here.toml"),
    ("machines probe --out missing/x.toml", "make it, or name another file"),
    ("machines check", "see `lockwright machines check --help`"),
    ("machines check missing.toml", "lockwright machines probe --out missing.toml"),
    ("completions bsh", "'bash'"),
    ("locks --json missing/out.json", "make it, or name another file"),
    ("tour --plot-dir /dev/null/x", "cannot write /dev/null/x"),
];

#[test]
fn each_wrong_line_is_refused_with_what_to_type_instead() {
    for (line, instead) in LINES {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let output = lockwright_in(directory.path(), line);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "`{line}` said: {said}");
        assert!(output.stdout.is_empty(), "`{line}` wrote to standard output");
        assert_eq!(said.lines().count(), 1, "`{line}` said: {said}");
        assert!(said.contains(instead), "`{line}` said: {said}");
        assert!(files_in(directory.path()).is_empty(), "`{line}` left a file behind");
    }
}

#[test]
fn each_option_with_a_value_has_a_wrong_line() {
    let commands = ["tour", "bench", "compare", "torture", "explore", "reproduce", "calibrate"];
    for command in commands {
        let help = stdout(&lockwright(&format!("{command} --help")));
        let options = help.lines().filter_map(|line| {
            let option = line.trim_start().strip_prefix("--")?;
            let (name, value) = option.split_once(' ')?;
            value.trim_start().starts_with(['<', '[']).then(|| format!("--{name} "))
        });
        for option in options {
            let is_there = LINES.iter().any(|(line, _)| format!("{line} ").contains(&option));
            assert!(is_there, "no wrong line has {option}of `{command}`");
        }
    }
}
