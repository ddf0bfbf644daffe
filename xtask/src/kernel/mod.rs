//! `cargo xtask kernel`: builds the locks as a module for the kernel of Debian that is installed, boots that kernel in
//! an emulator, and lets the locks take over its spinlocks there. docs/kernel.md says what this shows.
//!
//! Nothing is loaded into the kernel of the computer at hand.

mod archive;
mod assembly;
mod boots;
mod build;
mod guest;
mod laws;
mod log;
mod needs;
mod report;
mod request;

use crate::output::{self, say};
use crate::stage::{Need, Stage};
pub use request::Request;
use std::collections::BTreeSet;
use std::path::Path;

/// Where everything that is made here is, below the root of the repository.
const FOLDER: &str = "target/kernel";

/// The part of continuous integration.
pub fn stage() -> Stage {
    let get = concat!(
        "apt-get install ",
        "qemu-system-x86 linux-image-cloud-amd64 linux-headers-cloud-amd64 busybox-static"
    );
    let here = Need { probe: needs::PROBE, get };
    Stage::command("kernel", 600, "cargo xtask kernel --quick").needing(here)
}

/// Builds, boots and reports. `Ok(false)` if something is not as it has to be.
pub fn run(root: &Path, request: &Request) -> Result<bool, String> {
    let debian = needs::look(request.kernel.as_deref())?;
    say(&request.json, &format!("kernel {}", debian.release));
    let folder = root.join(FOLDER);
    let boots = boots::of(request);
    for variant in boots.iter().map(|boot| boot.variant).collect::<BTreeSet<_>>() {
        build::all(root, &folder, &debian, variant)?;
    }
    let mut results = Vec::new();
    for boot in boots {
        say(&request.json, &format!("boot `{}`, at most {} s", boot.name, boot.seconds_max));
        let result = guest::run(&folder, &debian, &boot)?;
        say(&request.json, &report::text(&result));
        results.push(result);
    }
    let document = report::Document { kernel: &debian.release, boots: &results };
    output::write(&request.json, &document)?;
    Ok(results.iter().all(|boot| boot.complaints.is_empty()))
}
