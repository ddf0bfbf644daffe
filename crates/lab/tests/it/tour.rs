//! The tour.

use super::{files_in, has_fields, lockwright_in, stderr, stdout};
use std::path::Path;

#[test]
fn the_tour_shows_this_machine_the_peers_and_a_simulated_machine() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let output = lockwright_in(directory.path(), "tour --json tour.json");
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    for part in [
        "This machine",
        "One thread: a lock/unlock pair of mutex takes",
        "the throughput of mutex is",
        "the throughput of percpu-rwlock is",
        "that of std-rwlock",
        "that of parking_lot-rwlock",
        "wrong choice for a program",
        "Simulated: with 108 vCPUs instead of 36 on 36 CPUs",
        "predicted:",
        "published",
        "error %",
        "The column that the machine was fitted to is off by",
    ] {
        assert!(words(&text).contains(part), "no `{part}` in {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "a line does not fit: {text}");
    are_drawn_and_named(directory.path(), &text);

    let document = std::fs::read(directory.path().join("tour.json")).expect("written");
    let document: serde_json::Value = serde_json::from_slice(&document).expect("JSON");
    let most_threads = |of: &str| {
        let results = document[of]["results"].as_array().expect("results");
        results.iter().filter_map(|result| result["threads"].as_u64()).max()
    };
    let cpus = document["on"]["cpus"].as_u64().expect("a number");
    assert!(most_threads("oversubscribed") > Some(cpus) && most_threads("guest") == Some(108));
    let rows = document["locktorture"]["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 10);
    for row in rows {
        let stock = &row["columns"]["stock_ops_1e7"];
        has_fields(stock, &["simulated", "interval", "published", "error_percent"]);
    }
}

/// A text without its lines.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// All pictures are there, `text` has their paths, and those of simulations say so.
fn are_drawn_and_named(directory: &Path, text: &str) {
    let mut pictures = files_in(&directory.join("plots"));
    pictures.sort();
    assert_eq!(
        pictures,
        [
            "counter.svg",
            "guest_haswell_2s.svg",
            "locktorture_x5_4.svg",
            "oversubscribed.svg",
            "readers.svg",
            "readers_90.svg",
            "uncontended.svg"
        ]
    );
    assert!(text.contains("Pictures of all this are in plots"), "{text}");
    for picture in ["locktorture_x5_4.svg", "guest_haswell_2s.svg"] {
        let picture = std::fs::read_to_string(directory.join("plots").join(picture));
        assert!(picture.expect("readable").contains("simulated"));
    }
}

#[test]
fn a_tour_that_cannot_draw_does_not_begin() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    std::fs::write(directory.path().join("plots"), "in the way").expect("written");
    let output = lockwright_in(directory.path(), "tour");
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty() && stderr(&output).lines().count() <= 2);
}
