//! What takes too long for every change, or needs more than the pinned toolchain.

use crate::ci::{self, Scope};
use crate::sanitize::{self, MIRI};
use crate::stage::{Stage, Step, run_all};
use crate::targets::PORTABLE;
use crate::{features, minutes, pages, promela};

/// Run all stages of ci, and those that take too long for each change.
///
/// Runs all checks of the record, and deeper tests. Hours.
#[derive(clap::Args)]
pub struct Request {
    /// Run this stage only.
    #[arg(long, value_name = "NAME", value_parser = known)]
    stage: Option<String>,
    /// Name the stages, with the minutes that each took when it ran last.
    #[arg(long)]
    list: bool,
    /// Skip a stage whose tool is not installed.
    #[arg(long)]
    allow_missing: bool,
}

/// Reads the name of a stage.
fn known(name: &str) -> Result<String, String> {
    match stages().iter().any(|stage| stage.name() == name) {
        true => Ok(name.into()),
        false => Err("type one of `cargo xtask full --list`, such as `--stage weaken`".into()),
    }
}

/// Runs the stages, or names them.
pub fn run(request: &Request) -> bool {
    let mut stages = stages();
    if request.list {
        let last = minutes::read();
        for stage in &stages {
            let took = last.get(stage.name()).map_or("not run here", |it| it);
            println!("{took:>18}  {}", stage.name());
        }
        return true;
    }
    stages.retain(|stage| request.stage.as_ref().is_none_or(|name| name == stage.name()));
    run_all(&stages, request.allow_missing)
}

/// All stages of `cargo xtask full`: those of continuous integration, with all checks of the record, and what only runs
/// here.
fn stages() -> Vec<Stage> {
    let mut stages = ci::stages(Scope::All);
    stages.extend([
        Stage::command("alone: shuffled", 900, "cargo xtask alone --shuffle 1"),
        Stage::command("alone: no queue node", 900, "cargo xtask alone --nodes 0"),
        Stage::new("pages", 2700, Step::Call(pages::are_as_described)),
        Stage::new("features: all sets", 1800, Step::Call(|| features::is_green(usize::MAX))),
        Stage::command("fuzz: new programs", 1200, "cargo xtask fuzz --minutes 10"),
        Stage::command("weaken: wide bounds", 7200, "cargo xtask weaken --full").needing(MIRI),
        Stage::command("zoo: wide bounds", 3600, "cargo xtask zoo --full"),
        promela::stage(),
        Stage::command("dependents", 5400, "cargo xtask dependents"),
        // Lock words accessed whole, as on machines without assembly for their parts.
        Stage::command("whole-word", 900, &format!("cargo test {PORTABLE}"))
            .with_env("RUSTFLAGS", "--cfg lockwright_whole_word")
            .with_env("CARGO_TARGET_DIR", "target/whole-word"),
    ]);
    stages.extend([sanitize::miri(), sanitize::tsan(), sanitize::asan()].into_iter().flatten());
    stages
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_stage_of_continuous_integration_is_here_and_each_has_a_name_of_its_own() {
        let all = stages();
        let names: BTreeSet<_> = all.iter().map(Stage::name).collect();
        assert_eq!(names.len(), all.len());
        assert!(ci::stages(Scope::Changed).iter().all(|stage| names.contains(stage.name())));
    }
}
