//! This computer next to its own machine file, from the document of `lockwright machines check`.

use crate::numbers::{list, plain};
use serde_json::{Value, json};

/// The numbers of each setting and of all, and the pairs of locks whose clear native order is not the simulated one.
pub fn numbers(document: &Value, date: &str) -> Value {
    let mut numbers = document["summary"].clone();
    let mut wrong = Vec::new();
    for cell in list(&document["cells"]) {
        let [cs, think, threads] = ["cs_load", "think_load", "threads"].map(|key| &cell[key]);
        let (setting, order) =
            (format!("cs {cs}, think {think}, threads {threads}"), &cell["order"]);
        let pair = |pair| json!({"setting": setting, "pair": pair});
        wrong.extend(list(&order["wrong"]).iter().map(pair));
        numbers["settings"][setting] = json!({
            "locks": list(&cell["locks"]).len(),
            "median_error_percent": cell["median_error_percent"],
            "pairs": order["judged"],
            "pairs_right": order["right"],
        });
    }
    numbers["machine"] = document["native"]["machine"].clone();
    numbers["date"] = date.into();
    numbers["wrong"] = wrong.into();
    numbers
}

/// A line of CSV for each lock in each setting.
pub fn lines(document: &Value, date: &str) -> String {
    let machine = plain(&document["native"]["machine"]);
    let mut lines = format!(
        "# {machine}, {date}; the columns simulated_mops and error_percent are simulated\n\
         cs_load,think_load,threads,lock,native_mops,simulated_mops,error_percent\n"
    );
    let mops = |value: &Value| {
        value.as_f64().map_or(String::new(), |ops_per_s| format!("{:.3}", ops_per_s / 1e6))
    };
    for cell in list(&document["cells"]) {
        let [cs, think, threads] = ["cs_load", "think_load", "threads"].map(|key| &cell[key]);
        for entry in list(&cell["locks"]) {
            let lock = plain(&entry["lock"]);
            let native = mops(&entry["native_ops_per_s"]["median"]);
            let simulated = mops(&entry["simulated_ops_per_s"]);
            let error = entry["error_percent"].as_f64().map(|error| format!("{error:.0}"));
            let error = error.unwrap_or_default();
            lines += &format!("{cs},{think},{threads},{lock},{native},{simulated},{error}\n");
        }
    }
    lines
}
