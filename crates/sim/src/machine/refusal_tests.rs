//! Each way in which a machine file can be wrong is refused with file, key and reason.

use super::{Machine, MachineFile, Problem, read_text};
use std::path::Path;

const X5_4: &str = include_str!("../../machines/x5-4.toml");

/// The complaint about the X5-4 with one passage replaced, without the name of the file.
fn refusal(old: &str, new: &str) -> String {
    assert!(X5_4.contains(old), "the file has no `{old}`");
    refused(&X5_4.replacen(old, new, 1))
}

/// The complaint about a machine file, without its name.
fn refused(text: &str) -> String {
    let said = parse(text).expect_err("it must be refused").to_string();
    said.strip_prefix("machines/foo.toml: ").expect("it names the file").to_string()
}

/// Each passage is refused that is replaced like this; `...` stands for the end of a complaint.
fn are_refused(cases: &[(&str, &str, &str)]) {
    for (old, new, expected) in cases {
        let said = refusal(old, new);
        match expected.strip_suffix("...") {
            Some(begin) => assert!(said.starts_with(begin), "{said}"),
            None => assert_eq!(said, *expected),
        }
    }
}

fn parse(text: &str) -> Result<Machine, super::MachineError> {
    MachineFile::parse("machines/foo.toml", "foo", text).map(|file| file.machine)
}

/// The entry of one cost, header included.
fn entry(key: &str) -> &'static str {
    let header = format!("[costs.{key}]");
    let start = X5_4.find(&header).expect("the cost is in the file");
    let length = X5_4[start + 1..].find("\n[").map_or(X5_4.len() - start, |end| end + 1);
    &X5_4[start..start + length]
}

#[test]
fn a_missing_number_is_refused() {
    are_refused(&[
        (entry("transfer_local"), "", "costs.transfer_local: is missing"),
        ("ns = 48.0\n", "", "costs.transfer_local.ns: is missing"),
        (
            "[topology.distance]\n",
            "[topology.distances]\n",
            "topology.distances: is not a key of this file, and `topology.distance` is missing",
        ),
        ("description", "#", "description: is missing"),
    ]);
    assert_eq!(refused("description = \"x\""), "topology: is missing");
}

#[test]
fn a_calibration_is_borrowed_from_a_built_in_machine_by_a_key_above_the_sections() {
    let with = |line: &str| [line, X5_4].join("\n");
    let file = MachineFile::parse("foo.toml", "foo", &with("calibrated_as = \"dl980\""));
    assert_eq!(file.expect("it is built in").calibrated_as, Some("dl980"));
    let unknown = refused(&with("calibrated_as = \"x5_4\""));
    let expected = "calibrated_as: is `x5_4`, and must be a built-in machine: x5-4, ";
    assert!(unknown.starts_with(expected), "{unknown}");
    for value in ["4", "\"\""] {
        let said = refused(&with(&format!("calibrated_as = {value}")));
        assert_eq!(said, "calibrated_as: must be a text that is not empty");
    }
    assert_eq!(
        refused(&[X5_4, "calibrated_as = \"x5-4\""].join("\n")),
        "scheduler.pause_loop_gap.calibrated_as: belongs above the first section of the file"
    );
}

#[test]
fn every_cost_is_mandatory() {
    let is_mandatory = |key| !super::costs::OPTIONAL.contains(&key);
    for scalar in super::costs::SCALARS.iter().filter(|scalar| is_mandatory(scalar.key)) {
        assert_eq!(refusal(entry(scalar.key), ""), format!("costs.{}: is missing", scalar.key));
    }
}

#[test]
fn a_number_without_a_source_is_refused() {
    const SOURCE: &str = "source = \"guess: one cycle into the store buffer\"";
    for new in ["", "source = \"  \"", "source = 7"] {
        let expected = "costs.store_issue: has no source: add `source = \"...\"`";
        assert_eq!(refusal(SOURCE, new), expected);
    }
    assert!(
        refusal("count = 4, source", "count = 4, sauce").contains("sockets.sauce: is not a key")
    );
    // One that does not say of what kind it is.
    for vague in ["somebody said so", "guess", "guess:", "guess: ", "measured inside"] {
        let expected = "costs.store_issue: has a source that does not begin with...";
        are_refused(&[(SOURCE, &format!("source = \"{vague}\""), expected)]);
    }
}

#[test]
fn a_number_out_of_its_range_is_refused() {
    for (key, old, new, expected) in [
        ("transfer_local", "ns = 48.0", "ns = -48.0", "is -48 but must be a finite number above 0"),
        ("transfer_local", "ns = 48.0", "ns = 0", "is 0 but must be a finite number above 0"),
        ("transfer_local", "ns = 48.0", "ns = nan", "is NaN but must be a finite number above 0"),
        ("transfer_local", "ns = 48.0", "ns = inf", "is inf but must be a finite number above 0"),
        ("transfer_remote", "ns = [128.0]", "ns = [-inf]", "is -inf but must be a finite number"),
        ("remote_inflation", "fraction = 0.0", "fraction = -0.1", "is -0.1 but must be a finite"),
        ("smt", "factor = 1.1", "factor = 0.9", "is 0.9 but must be a finite number, 1 or more"),
        ("owner_retention", "fraction = 0.5", "fraction = 1.5", "is 1.5 but must be from 0 to 1"),
        ("owner_retention", "fraction = 0.5", "fraction = -0.5", "is -0.5 but must be from 0 to 1"),
        ("arbitration", "fraction = 0.0", "fraction = 1.5", "is 1.5 but must be from 0 to 1"),
        ("arbitration_remote", "factor = 1.0", "factor = 2", "is 2 but must be from 0 to 1"),
        ("transfer_jitter", "fraction = 0.25", "fraction = 1", "is 1 but must be from 0 to less"),
        ("work_jitter", "fraction = 0.1", "fraction = 1.1", "is 1.1 but must be from 0 to less"),
    ] {
        let expected = format!("costs.{key}: {expected}...");
        are_refused(&[(entry(key), &entry(key).replacen(old, new, 1), &expected)]);
    }
}

#[test]
fn a_value_of_the_wrong_type_or_unit_is_refused() {
    are_refused(&[
        ("ns = 48.0", "ns = \"48\"", "costs.transfer_local.ns: must be a number..."),
        (
            "ns = 48.0",
            "factor = 48.0",
            "costs.transfer_local.factor: is not a key of this file, and \
             `costs.transfer_local.ns` is missing...",
        ),
        ("ns = [128.0]", "ns = 128.0", "costs.transfer_remote.ns: must be a list of numbers..."),
        ("count = 4", "count = 4.0", "topology.sockets.count: must be a whole number..."),
        ("count = 4", "count = -4", "topology.sockets.count: must be a whole number..."),
        ("[0, 1, 1, 1]", "[0, 1, 1, -1]", "topology.distance.classes: must be a list of lists..."),
    ]);
    let bare = X5_4.replacen(entry("pause"), "", 1);
    let bare = bare.replacen("[costs.load_hit]", "[costs]\npause = 4.0\n\n[costs.load_hit]", 1);
    assert_eq!(refused(&bare), "costs.pause: must be a table");
}

#[test]
fn an_unknown_key_is_refused_wherever_it_is() {
    for (old, new, key) in [
        ("description", "colour = \"beige\"\ndescription", "colour"),
        ("[costs.pause]", "[costs.sleepiness]\nns = 1.0\n\n[costs.pause]", "costs.sleepiness"),
        ("ns = 48.0", "ns = 48.0\nps = 48000", "costs.transfer_local.ps"),
        ("count = 4,", "count = 4, spare = 1,", "topology.sockets.spare"),
        ("[topology.distance]", "[topology.dies]\n\n[topology.distance]", "topology.dies"),
    ] {
        assert_eq!(refusal(old, new), format!("{key}: is not a key of this file"));
    }
}

#[test]
fn a_mistyped_key_is_named_with_what_it_leaves_missing() {
    are_refused(&[
        (
            "[costs.pause]",
            "[costs.pausse]",
            "costs.pausse: is not a key of this file, and `costs.pause` is missing",
        ),
        (
            "count = 4, source",
            "count = 4, sauce",
            "topology.sockets.sauce: is not a key of this file, and `topology.sockets.source` is missing",
        ),
        (
            "description",
            "descripton",
            "descripton: is not a key of this file, and `description` is missing",
        ),
    ]);
    let two = X5_4.replacen("[costs.pause]", "[costs.pausse]", 1);
    let said = refused(&two.replacen(entry("smt"), "", 1));
    assert!(said.ends_with("and `costs.pause`, `costs.smt` are missing"), "{said}");
}

#[test]
fn a_cost_above_one_second_is_refused() {
    for (key, old, new) in [
        ("transfer_local", "ns = 48.0", "ns = 1e30"),
        ("transfer_remote", "ns = [128.0]", "ns = [1.5e9]"),
    ] {
        let refusal = refusal(entry(key), &entry(key).replacen(old, new, 1));
        assert!(refusal.starts_with(&format!("costs.{key}: is ")), "{refusal}");
        assert!(refusal.ends_with("must be at most 1000000000 ns, a second"), "{refusal}");
    }
}

#[test]
fn a_machine_without_sockets_cores_or_threads_is_refused() {
    for (old, new, key) in [
        ("count = 4", "count = 0", "sockets"),
        ("count = 18", "count = 0", "cores_per_socket"),
        ("count = 2", "count = 0", "threads_per_core"),
    ] {
        assert_eq!(refusal(old, new), format!("topology.{key}: is 0 but must be 1 or more"));
    }
}

#[test]
fn a_machine_too_large_to_simulate_is_refused() {
    let refusal = refusal("count = 18", "count = 65");
    assert!(
        refusal.ends_with("makes 260 cores, more than the 256 that can be simulated"),
        "{refusal}"
    );
}

#[test]
fn a_distance_matrix_that_is_no_distance_is_refused() {
    for (old, new, expected) in [
        ("    [1, 1, 1, 0],\n", "", "must be 4 rows of 4, one per socket"),
        ("[1, 1, 1, 0]", "[1, 1, 0]", "must be 4 rows of 4, one per socket"),
        ("[0, 1, 1, 1]", "[1, 1, 1, 1]", "socket 0 is not at distance 0 from itself"),
        ("[0, 1, 1, 1]", "[0, 0, 1, 1]", "sockets 0 and 1 are at distance 0"),
        ("[0, 1, 1, 1]", "[0, 1, 1, 2]", "sockets 0 and 3 are not equally far from each other"),
    ] {
        assert_eq!(refusal(old, new), format!("topology.distance.classes: {expected}"));
    }
}

#[test]
fn a_distance_class_without_a_cost_is_refused_and_a_cost_without_a_class_too() {
    are_refused(&[
        (
            "ns = [128.0]",
            "ns = []",
            "costs.transfer_remote: has no cost for distance class 1, which two sockets have",
        ),
        (
            "ns = [128.0]",
            "ns = [128.0, 190.0]",
            "costs.transfer_remote: has a cost for distance class 2, which no two sockets have",
        ),
    ]);
}

#[test]
fn what_is_farther_must_not_be_cheaper() {
    are_refused(&[
        (
            "ns = [128.0]",
            "ns = [40.0]",
            "costs.transfer_remote: costs 40 ns, less than the 48 ns of the nearer `transfer_local`",
        ),
        (
            "ns = 48.0",
            "ns = 10.0",
            "costs.transfer_local: costs 10 ns, less than the 20 ns of the nearer `shared_load`",
        ),
        (
            "ns = 200.0",
            "ns = 100.0",
            "costs.dram_remote: costs 100 ns, less than the 135 ns of the nearer `dram_local`",
        ),
    ]);
}

#[test]
fn what_is_not_toml_is_refused_in_one_line_with_its_line_number() {
    let refusal = refusal("[topology]\n", "[topology\n");
    let line = X5_4.lines().position(|line| line == "[topology]").expect("it is there") + 1;
    assert!(refusal.starts_with(&format!("line {line} is not TOML: ")), "{refusal}");
    assert!(refusal.ends_with(": `[topology`"), "{refusal}");
    assert!(!refusal.contains('\n'), "{refusal}");
    assert!(parse(&format!("{X5_4}\n[topology]\n")).is_err(), "a table given twice");
}

#[test]
fn a_machine_built_by_hand_is_checked_by_the_same_rules() {
    let mut machine = Machine::builtin("x5-4").expect("it is built in");
    machine.costs.transfer_remote_ns[0] = f64::NAN;
    let error = machine.validate().expect_err("not a number");
    assert_eq!(
        (error.file.as_str(), error.key.as_str()),
        ("machine x5-4", "costs.transfer_remote")
    );
    assert!(matches!(error.problem, Problem::OutOfRange { .. }));
}

#[test]
fn a_machine_may_do_without_a_scheduler_but_not_with_a_part_of_one() {
    let start = X5_4.find("[scheduler.slice]").expect("the X5-4 has one");
    let machine = parse(&X5_4[..start]).expect("the section is optional");
    assert_eq!(machine.scheduler, None);
    let error = machine.scheduler().expect_err("there is none");
    assert_eq!(
        error.to_string(),
        "machine foo: scheduler: is missing, and without it there are no guests and no more \
         threads than CPUs: add the section to the machine's file"
    );
    let is_mandatory = |key| !super::costs::OPTIONAL.contains(&key);
    for scalar in super::costs::SCHEDULER.iter().filter(|scalar| is_mandatory(scalar.key)) {
        let (old, new) = (format!("[scheduler.{}]", scalar.key), "[scheduler.surprise]");
        let expected = "scheduler.surprise: is not a key of this file, and";
        assert_eq!(refusal(&old, new), format!("{expected} `scheduler.{}` is missing", scalar.key));
    }
}

#[test]
fn some_numbers_may_be_left_out_and_switch_nothing_on_then() {
    let without = parse(X5_4).expect("the file is right");
    assert_eq!((without.costs.migratory, without.costs.rmw_shield), (0.0, 0.0));
    assert_eq!(without.costs.width_mismatch_ns, 0.0);
    let more = "\n[costs.migratory]\nfraction = 1.0\nsource = \"guess: it does\"\n\
                \n[costs.width_mismatch]\nns = 6.0\nsource = \"guess: one that waits\"\n\
                \n[scheduler.steal_after]\nns = 500000.0\nsource = \"guess: half a millisecond\"\n";
    let with = parse(&format!("{X5_4}{more}")).expect("the keys are known");
    assert_eq!((with.costs.migratory, with.costs.width_mismatch_ns), (1.0, 6.0));
    assert_eq!(with.scheduler().expect("it has one").steal_after_ns, 500_000.0);
    let wrong = refused(&format!("{X5_4}{}", more.replace("1.0", "1.5")));
    assert!(wrong.contains("costs.migratory: is 1.5"), "{wrong}");
}

#[test]
fn a_scheduler_that_cannot_be_is_refused() {
    for (old, new, expected) in [
        ("ns = 3000000.0", "ns = 0", "slice: is 0 but must be a finite number above 0"),
        ("ns = 3000000.0", "ns = 2e9", "slice: is 2000000000 but must be at most 1000000000 ns"),
        (
            "ns = 2000.0\nsource = \"guess: a switch",
            "ns = -1\nsource = \"guess: a switch",
            "context_switch: is -1",
        ),
        (
            "ns = 2000.0\nsource = \"guess: a switch",
            "ns = 2000.0\nsauce = \"guess: a switch",
            "context_switch.sauce: is not a key",
        ),
        (
            "ns = 100000.0",
            "ns = 3e6",
            "noise: takes 3000000 ns, which leaves nothing of a slice of",
        ),
    ] {
        are_refused(&[(old, new, &format!("scheduler.{expected}..."))]);
    }
}

#[test]
fn a_file_without_an_end_is_refused() {
    let error = read_text(Path::new("/dev/zero")).expect_err("it has no end");
    assert!(error.to_string().contains("more than 16 MiB"), "{error}");
}
