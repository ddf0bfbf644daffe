//! `reproduce`: the documents, and what they may and may not contain.

use super::{json, lockwright, stderr, stdout};
use serde_json::Value;

const LOCK2: &str = "reproduce cna_v10_will_it_scale_lock2_threads_x5_4 --quick --quiet --json -";

fn stdout_of(line: &str) -> Vec<u8> {
    let output = lockwright(line);
    assert!(output.status.success(), "{}", stderr(&output));
    output.stdout
}

#[test]
fn a_table_has_the_names_of_its_file_and_held_back_columns_are_predicted() {
    let text = stdout_of(LOCK2);
    assert_eq!(text, stdout_of(LOCK2), "one seed gives one document");
    let document: Value = serde_json::from_slice(&text).expect("a document");
    assert_eq!(document["schema"], "lockwright.reproduce/1");
    assert_eq!(document["table"], "cna_v10_will_it_scale_lock2_threads_x5_4");
    assert_eq!(document["machine"], "x5-4");
    let calibration = include_str!("../../../../machines/x5-4.calibration.toml");
    let hash = document["calibration"]["hash"].as_str().expect("it is calibrated");
    assert!(calibration.contains(&format!("hash = \"{hash}\"")));
    let rows = document["rows"].as_array().expect("rows");
    let threads: Vec<_> = rows.iter().filter_map(|row| row["key"]["threads"].as_u64()).collect();
    assert_eq!(threads, [1, 2, 4, 8, 16, 32, 36, 72, 108, 142]);
    for row in rows {
        let columns = row["columns"].as_object().expect("columns");
        let names: Vec<_> = columns.keys().map(String::as_str).collect();
        assert_eq!(
            names,
            ["patch_cna_ops_per_us", "speedup_patch_cna_over_stock", "stock_ops_per_us"]
        );
        for (name, cell) in columns {
            let of = |key: &str| cell[key].as_f64();
            let [low, high] = [0, 1].map(|end| cell["interval"][end].as_f64().expect("a number"));
            assert!(low <= of("simulated").expect("a number"), "{name}: {cell}");
            assert!(of("simulated").expect("a number") <= high, "{name}: {cell}");
            let is_published = name.starts_with("stock_");
            assert_eq!(of("published").is_some(), is_published, "{name}: {cell}");
            assert_eq!(of("error_percent").is_some(), is_published, "{name}: {cell}");
        }
    }
    assert_eq!(document["score"]["cells"], 10);
    assert!(document.get("predicted_score").is_none(), "nothing was published to compare with");
}

#[test]
fn the_predicted_columns_are_judged_next_to_the_fitted_ones() {
    let line = "reproduce cna_v10_locktorture_x5_4 --quick --quiet";
    let document: Value =
        serde_json::from_slice(&stdout_of(&format!("{line} --json -"))).expect("JSON");
    let of = |column: &str| -> Vec<Value> {
        let rows = document["rows"].as_array().expect("rows");
        rows.iter().map(|row| row["columns"][column].clone()).collect()
    };
    for (score, column) in [
        ("score", "stock_ops_1e7"),
        ("predicted_score", "patch_cna_ops_1e7"),
        ("derived_score", "speedup_patch_cna_over_stock"),
    ] {
        let (score, cells) = (&document[score], of(column));
        let number = |cell: &Value, key: &str| cell[key].as_f64().expect("a number");
        let squares: f64 = cells.iter().map(|cell| number(cell, "error_percent").powi(2)).sum();
        let rms = (squares / cells.len() as f64).sqrt();
        assert!((score["rms_percent"].as_f64().expect("a number") - rms).abs() < 1e-9, "{score}");
        let is_inside = |cell: &&Value| {
            let end = |at: usize| cell["interval"][at].as_f64().expect("a number");
            (end(0)..=end(1)).contains(&number(cell, "published"))
        };
        let inside = cells.iter().filter(is_inside).count();
        assert_eq!((&score["cells"], &score["inside_interval"]), (&10.into(), &inside.into()));
    }
    let text = String::from_utf8(stdout_of(line)).expect("text");
    let (head, columns) = text.split_once("stock_ops_1e7 (baseline, fitted)").expect("a column");
    for words in ["baseline (fitted)", "predicted (never fitted)", "derived (ratios)"] {
        assert!(head.contains(words), "no `{words}` above the columns: {text}");
    }
    assert!(columns.contains("patch_cna_ops_1e7 (predicted)"), "{text}");
    assert!(columns.contains("\nAll numbers are simulated."), "{text}");
}

#[test]
fn another_seed_gives_another_document_and_csv_has_a_line_for_each_cell() {
    let table = "reproduce data/published/cna_v10_will_it_scale_lock2_threads_x5_4.csv --quick";
    let csv = |seed: u64| stdout_of(&format!("{table} --quiet --csv - --seed {seed}"));
    let one = String::from_utf8(csv(1)).expect("text");
    assert_eq!(one.lines().count(), 1 + 3 * 10);
    assert_ne!(one.as_bytes(), csv(2));
}

#[test]
fn a_lock_that_was_not_published_stands_next_to_the_table_in_a_text_for_a_mailing_list() {
    let line = "reproduce cna_v10_will_it_scale_open1_threads_x5_4 --quick --quiet --lock mcs";
    let text = stdout(&lockwright(line));
    assert!(text.lines().all(|line| line.chars().count() <= 72), "{text}");
    for words in ["published", "qspinlock", "mcs", "ratio", "Simulated by lockwright", "seed 1"] {
        assert!(text.contains(words), "no `{words}` in {text}");
    }
    let document = json(&format!("{line} --json -"));
    let columns = &document["rows"][0]["columns"];
    let simulated = |name: &str| columns[name]["simulated"].as_f64().expect("a number");
    let ratio = simulated("mcs_ops_per_us") / simulated("stock_ops_per_us");
    assert!((simulated("mcs_over_stock") - ratio).abs() < 1e-9, "{columns}");
    assert!(columns["mcs_ops_per_us"]["published"].is_null(), "{columns}");
}
