//! The checks of single locks, which the test suites run for each row of the registry, and `cargo xtask history`: those
//! of the locks that stand for a state of the kernel's history, which the suites leave out.

use crate::limit::{command, line_of, status_within};
use crate::record::{Item, Record};
use crate::repository::target_of;
use crate::tidy::files;
use lockwright_catalog::registry::{LOCKS, LockClass};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Chooses the locks when the suites run.
const ROWS: &str = "LOCKWRIGHT_ROWS";

/// Runs the checks of the locks of history: all, or those that are due. Returns true if they hold.
pub fn history(root: &Path, changed: bool) -> Result<bool, String> {
    let all = files::read_all(root);
    let record = Record::read(root, &all, changed)?;
    let locks = record.due("history", of_history(), |lock| item(lock));
    let has_passed = locks.is_empty() || hold(root, &locks)?;
    locks.iter().try_for_each(|lock| record.write(&item(lock), has_passed))?;
    Ok(has_passed)
}

/// The locks of history.
pub fn of_history() -> Vec<&'static str> {
    let rows = LOCKS.iter().filter(|row| row.class == LockClass::History);
    rows.map(|row| row.name).collect()
}

/// What decides if the checks of a lock hold.
pub fn item(lock: &str) -> Item<'_> {
    let files = ["crates/clients/", "crates/conformance/", "crates/model/", "crates/sim/"];
    let files = files.map(str::to_string).into();
    Item { name: format!("history {lock}"), locks: Some(vec![lock]), files, ..Item::default() }
}

/// Runs the checks of these locks: under loom, in sampled schedules on a simulated machine, and on real threads.
/// Returns true if all hold.
///
/// # Errors
/// If one cannot be run.
pub fn hold(root: &Path, locks: &[&str]) -> Result<bool, String> {
    let locks = locks.join(",");
    let mut explore = Command::new(target_of(root).join("debug/lockwright"));
    explore.args(["explore", "--client", "all", "--schedules", "300", "--lock", &locks]);
    // With the workspace, so that nothing is compiled with other features.
    let native = "cargo test --quiet --workspace --test clients --";
    for mut command in [
        command("cargo test --quiet --workspace --test loom -- every_lock_holds"),
        command("cargo build --quiet --workspace --bin lockwright"),
        explore,
        command(&format!("{native} every_client_holds_on_every_lock a_lock_holds")),
    ] {
        let shown = line_of(&command);
        eprintln!("{ROWS}={locks} {shown}");
        command.env(ROWS, &locks).current_dir(root);
        let status = status_within(&mut command, Duration::from_secs(1800));
        let status = status.map_err(|stopped| format!("{shown} {stopped}"))?;
        if !status.success() {
            eprintln!("{shown}: {status}");
            return Ok(false);
        }
    }
    Ok(true)
}
