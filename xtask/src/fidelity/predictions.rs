//! The frozen predictions: what was simulated for each published table, a CSV file each.

use crate::disk;
use crate::numbers::{list, plain};
use serde_json::Value;
use std::path::Path;

/// Where they are, below the root of the repository.
pub const FOLDER: &str = "docs/predictions";

/// How the comment above the numbers ends.
const FROZEN: &str = "; frozen at commit ";

/// Writes the file of each table. One whose numbers are as they were keeps the name of the commit that froze them;
/// the others get `commit`. Returns the names of these others.
pub fn write(root: &Path, document: &Value, commit: &str) -> Result<Vec<String>, String> {
    let folder = root.join(FOLDER);
    let mut frozen = Vec::new();
    let [effort, seed] = ["effort", "seed"].map(|key| plain(&document[key]));
    for table in list(&document["tables"]) {
        let [name, machine] = ["table", "machine"].map(|key| plain(&table[key]));
        let hash = table["calibration"]["hash"].as_str().unwrap_or("none");
        let header = format!(
            "# simulated: {name} on {machine}; calibration {hash}; effort {effort}, seed {seed}"
        );
        let (path, rows) = (folder.join(format!("{name}.csv")), rows(table));
        let text = |commit: &str| format!("{header}{FROZEN}{commit}\n{rows}");
        let old = std::fs::read_to_string(&path).unwrap_or_default();
        let kept = old.lines().next().and_then(|line| Some(line.split_once(FROZEN)?.1));
        let kept = kept.filter(|commit| text(commit) == old);
        disk::write(&path, text(kept.unwrap_or(commit)))?;
        frozen.extend(kept.is_none().then_some(name));
    }
    Ok(frozen)
}

/// The names of the columns, and a line for each entry.
fn rows(table: &Value) -> String {
    const NAMES: &str =
        "simulated,interval_low,interval_high,published,error_percent,role,published_is\n";
    const PLACES: &str =
        "/simulated /interval/0 /interval/1 /published /error_percent /role /published_is";
    let mut lines = String::new();
    let of = |value: &Value| value.as_object().cloned().unwrap_or_default();
    for row in list(&table["rows"]) {
        let key = of(&row["key"]);
        if lines.is_empty() {
            let names = key.keys().map(|name| format!("{name},"));
            lines = format!("column,{}{NAMES}", names.collect::<String>());
        }
        for (name, cell) in of(&row["columns"]) {
            let numbers = PLACES.split(' ').map(|it| cell.pointer(it).unwrap_or(&Value::Null));
            let cells: Vec<_> = key.values().chain(numbers).map(plain).collect();
            lines += &format!("{name},{}\n", cells.join(","));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use sha2::{Digest, Sha256};

    #[test]
    fn what_is_frozen_is_as_it_was_frozen() {
        let folder = crate::root().join(FOLDER);
        let entries = disk::entries(&folder).expect("a folder");
        let frozen: Vec<_> = entries.iter().filter(|it| it.is_dir()).collect();
        assert!(!frozen.is_empty(), "no folder is frozen");
        for folder in frozen {
            let mut now = String::new();
            for file in disk::files_with("csv", folder).expect("a folder") {
                let name = file.file_name().expect("a file has a name").display();
                let digest = Sha256::digest(disk::read(&file).expect("a text"));
                let digest = digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
                now += &format!("{digest}  {name}\n");
            }
            let sums = disk::read(&folder.join("SHA256SUMS")).expect("its digests");
            assert_eq!(now, sums, "{} was written after it was frozen", folder.display());
        }
    }

    #[test]
    fn a_file_names_the_commit_until_its_numbers_change() {
        let document = |simulated| {
            json!({"effort": "full", "seed": 1, "tables": [{
                "table": "t", "machine": "m", "calibration": {"hash": "abc"},
                "rows": [{"key": {"kernel": "patched", "threads": 2}, "columns": {
                    "a": {"simulated": simulated, "interval": [1.0, 2.0], "published": null, "role": "predicted"}}}]}]})
        };
        let root = std::env::temp_dir().join(format!("predictions-{}", std::process::id()));
        let write = |simulated, commit| write(&root, &document(simulated), commit).expect("a file");
        assert_eq!(write(1.5, "one"), ["t"]);
        assert!(write(1.5, "two").is_empty());
        let file = root.join(FOLDER).join("t.csv");
        let lines = "# simulated: t on m; calibration abc; effort full, seed 1; frozen at commit one\n\
            column,kernel,threads,simulated,interval_low,interval_high,published,error_percent,role,published_is\n\
            a,patched,2,1.5,1.0,2.0,,,predicted,\n";
        assert_eq!(std::fs::read_to_string(&file).expect("a text"), lines);
        assert_eq!(write(1.6, "two"), ["t"]);
        let lines = lines.replace("one", "two").replace("1.5", "1.6");
        assert_eq!(std::fs::read_to_string(&file).expect("a text"), lines);
        std::fs::remove_dir_all(&root).expect("it is there");
    }
}
