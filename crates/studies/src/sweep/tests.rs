//! Questions, their trials and their parts. What trials come to is tested with the lab's command.

use crate::sweep::{Question, SweepCost, Trials};
use lockwright_parts::Part;
use std::collections::BTreeSet;
use std::path::Path;

const QUESTION: &str = r#"asks = "When does it pay?"
samples = 8
seeds = 2

[machine]
name = "x5-4"
[machine.set]
sockets = [2, 4]
transfer_remote = { from = 60, to = 300, scale = "log" }

[[lock]]
name = "qspinlock"
[[lock]]
name = ["cna"]
set.numa_spinlock_threshold = [8, 16]

[workload]
name = "counter"
cs_load = { from = 0, to = 100 }

[run]
threads = [2, "50%", "all", 100]
"#;

fn question(text: &str) -> Result<Question, String> {
    Question::parse("q.toml", text, Path::new("")).map_err(|error| error.to_string())
}

fn trials() -> Trials {
    Trials::of(&question(QUESTION).expect("it makes sense")).expect("it has trials")
}

#[test]
fn trials_are_all_combinations_at_each_point_that_fit_on_the_machine() {
    let trials = trials();
    // 8 points, 2 machines, 3 locks, 2 seeds; 100 threads fit on one of the machines.
    assert_eq!((trials.len(), trials.left_out()), (8 * 3 * 2 * (3 + 4), 8 * 3 * 2));
    let first = trials.iter().next().expect("there are some").description();
    assert!(
        first.starts_with(r#"{"machine":"x5-4","set":{"sockets":2,"transfer_remote":"#),
        "{first}"
    );
    assert!(first.contains(r#""lock":"qspinlock","workload":"counter","#), "{first}");
    assert!(first.ends_with(
        r#""threads":2,"scheduling":"own-cpu","warmup_us":200,"window_us":1000,"seed":1}"#
    ));
    let keys: BTreeSet<_> = trials.iter().map(|trial| trial.key()).collect();
    assert_eq!(keys.len() as u64, trials.len());
    assert!(SweepCost::of(&trials).cpu_s > 0.0);
}

#[test]
fn numbers_of_a_range_are_drawn_once_for_each_point() {
    let trials = trials();
    let numbers: BTreeSet<_> =
        trials.iter().map(|trial| trial.machine.about.numbers[1].1.to_bits()).collect();
    assert_eq!(numbers.len(), 8, "all locks see the same machines");
    let numbers = || numbers.iter().map(|&bits| f64::from_bits(bits));
    assert!(numbers().all(|ns| (60.0..300.0).contains(&ns)));
    let below_mean = numbers().filter(|&ns| ns < (60.0_f64 * 300.0).sqrt()).count();
    assert_eq!(below_mean, 4, "each factor is as likely as each other one");
}

#[test]
fn parts_are_disjoint_and_complete_and_have_about_the_same_to_do() {
    let trials = trials();
    for of in [1, 2, 3, 7] {
        let mut keys = BTreeSet::new();
        let mut costs = Vec::new();
        for number in 1..=of {
            let part = trials.of_part(Part::new(number, of).expect("a part"));
            costs.push(part.iter().map(|(_, trial)| trial.cost()).sum::<u64>());
            for (key, _) in part {
                assert!(keys.insert(key), "a trial has one part");
            }
        }
        assert_eq!(keys.len() as u64, trials.len());
        let longest = trials.iter().map(|trial| trial.cost()).max().expect("there are some");
        let [least, most] = [costs.iter().min(), costs.iter().max()].map(|it| *it.expect("parts"));
        assert!(most - least <= longest, "{of} parts: {costs:?}");
    }
}

#[test]
fn the_key_follows_from_everything_that_decides_the_result() {
    let keys = |text: &str| -> BTreeSet<String> {
        let trials = Trials::of(&question(text).expect("it makes sense")).expect("trials");
        trials.iter().map(|trial| trial.key()).collect()
    };
    let all = keys(QUESTION);
    for (from, to) in [
        ("x5-4", "haswell-2s"),
        ("60", "61"),
        ("\"qspinlock\"", "\"mcs\""),
        ("[8, 16]", "[9, 17]"),
        ("\"cna\"", "\"cna-v11\""),
        ("to = 100", "to = 90"),
        ("threads", "window_us = 999\nthreads"),
        ("threads", "warmup_us = 199\nthreads"),
        ("threads", "scheduling = \"program\"\nthreads"),
        ("samples", "sampling_seed = 2\nsamples"),
    ] {
        assert_ne!(keys(&QUESTION.replacen(from, to, 1)), all, "{from} -> {to}");
    }
    let more = keys(&QUESTION.replacen("seeds = 2", "seeds = 3", 1));
    assert!(all.is_subset(&more), "what is there need not run again");
    assert_eq!(keys(&QUESTION.replacen("When", "Where", 1)), all);
}

#[test]
fn what_makes_no_sense_is_refused_with_its_line_and_what_to_type() {
    for (from, to, line, said) in [
        ("asks", "ask", 1, "add `asks`"),
        ("= 2\n", "= 0\n", 3, "`seeds` must be a whole number from 1 on"),
        ("[workload]", "[workloads]", 1, "add `workload`"),
        ("x5-4", "x5-5", 6, "did you mean `x5-4`"),
        ("x5-4", "./none.toml", 6, "cannot be read"),
        ("sockets", "socket", 8, "did you mean `sockets`"),
        ("[2, 4]", "[2, \"4\"]", 8, "must be a number"),
        ("[2, 4]", "[]", 8, "needs a value"),
        ("scale = \"log\"", "scale = \"ln\"", 9, "\"linear\" or \"log\""),
        ("from = 60", "from = 600", 9, "less than its `to`"),
        ("from = 60", "form = 60", 9, "a range such as"),
        ("samples = 8\n", "", 8, "add `samples = 256`"),
        ("samples = 8", "samples = 100000", 2, "at most 65536"),
        ("qspinlock", "qspinlok", 12, "did you mean `qspinlock`"),
        ("[8, 16]", "[8, 32]", 15, "from 0 to 31"),
        ("threshold", "treshold", 15, "is no tunable"),
        ("counter", "countr", 18, "must be one of counter, "),
        ("cs_load", "cs_lod", 19, "it has cs_load"),
        ("to = 100", "to = 100.5", 19, "whole numbers"),
        ("\"50%\"", "\"half\"", 22, "\"all\" or a part"),
        ("threads", "treads", 21, "add `threads` to [run]"),
        ("threads", "start = \"now\"\nthreads", 22, "everybody-running"),
        ("threads", "scheduling = \"mine\"\nthreads", 22, "own-cpu, program"),
        ("[run]", "[run", 21, "this is not TOML"),
        ("seeds", "seds", 3, "did you mean `seeds`"),
    ] {
        let text = QUESTION.replacen(from, to, 1);
        assert_ne!(text, QUESTION, "{from}");
        let error = question(&text).expect_err(to);
        assert!(
            error.starts_with(&format!("q.toml:{line}: ")) && error.contains(said),
            "{to}: {error}"
        );
        assert!(!error.contains('\n'), "{error}");
    }
    let contradiction = QUESTION.replacen("from = 60", "from = 1", 1);
    let trials = Trials::of(&question(&contradiction).expect("each number is fine"));
    let said = trials.expect_err("what is farther is not cheaper").to_string();
    assert!(said.contains("[machine.set]"), "{said}");
    let too_many = QUESTION.replacen("[2, \"50%\", \"all\", 100]", "200", 1);
    let said = Trials::of(&question(&too_many).expect("sound")).expect_err("none fits").to_string();
    assert!(said.contains("use fewer threads"), "{said}");
}

#[test]
fn the_software_of_a_workload_takes_what_the_question_says() {
    let set = "[machine.software.counter]\ninside = [10, 20]\noutside = 5\n";
    let text = QUESTION.replacen("[[lock]]", &format!("{set}[[lock]]"), 1);
    let trials = Trials::of(&question(&text).expect("it makes sense")).expect("it has trials");
    let described = r#""software":{"counter.inside":20,"counter.outside":5},"placement""#;
    let slow = trials.iter().find(|trial| trial.description().contains(described));
    let parameters = slow.expect("a trial of it").machine.simulated.parameters();
    assert_eq!(parameters.software_ns("counter", "inside"), 20.0);
    for (wrong, said) in [
        (
            "software.counter.lunch = 5",
            "`lunch` is not a part of the software; its parts are outside, inside",
        ),
        (
            "software.counter.inside = -5",
            "`inside` must be a time in nanoseconds, from 0 to 1000000000",
        ),
        ("software.counter.inside = 1e18", "from 0 to 1000000000"),
        ("software.locktorture.inside = 5", "`locktorture` is not a workload of this question"),
        ("software = 5", "write [machine.software.locktorture] above its keys"),
        ("software.kbuild.inside = 5", "`kbuild` has no software whose time can be set"),
        ("software.counter = 5", "write [machine.software.counter]"),
    ] {
        let text = QUESTION.replacen("[machine.set]", &format!("{wrong}\n[machine.set]"), 1);
        let complaint = question(&text).expect_err(wrong);
        assert!(complaint.starts_with("q.toml:7: ") && complaint.contains(said), "{complaint}");
    }
}
