//! The tour.

use super::{files_in, has_fields, lockwright_in, stderr, stdout};

#[test]
fn the_tour_shows_this_machine_the_peers_and_a_simulated_machine() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let output = lockwright_in(directory.path(), "--json tour.json");
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    for part in ["This machine", "floor", "parking_lot", "simulated x5-4", "published", "error %"] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
    let mut pictures = files_in(&directory.path().join("plots"));
    pictures.sort();
    assert_eq!(pictures, ["counter.svg", "locktorture_x5_4.svg", "uncontended.svg"]);
    for picture in &pictures {
        assert!(text.contains(picture.as_str()), "the path of {picture} is printed: {text}");
    }
    let picture = directory.path().join("plots/locktorture_x5_4.svg");
    assert!(std::fs::read_to_string(picture).expect("readable").contains("simulated"));

    let document = std::fs::read(directory.path().join("tour.json")).expect("written");
    let document: serde_json::Value = serde_json::from_slice(&document).expect("JSON");
    let rows = document["locktorture"]["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 10);
    for row in rows {
        let stock = &row["columns"]["stock_ops_1e7"];
        has_fields(stock, &["simulated", "interval", "published", "error_percent"]);
    }
}

#[test]
fn a_tour_that_cannot_draw_does_not_begin() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    std::fs::write(directory.path().join("plots"), "in the way").expect("written");
    let output = lockwright_in(directory.path(), "");
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty() && stderr(&output).lines().count() <= 2);
}
