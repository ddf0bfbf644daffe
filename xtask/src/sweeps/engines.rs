//! The scripts of `examples/sweeps`, each where its engine is installed.

use super::lab::Lab;
use crate::disk::copy_into;
use crate::install::succeed;
use crate::limit::status_within;
use crate::stage::Need;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// An engine.
struct Engine {
    name: &'static str,
    need: Need,
    /// What a shell runs, with the question, the folder and the number of parts behind it.
    script: &'static str,
}

const PARTS: &str = "5";
const QUESTION: &str = "numa.toml";
const LIMIT: Duration = Duration::from_secs(300);

/// Slurm gets a controller and a node of its own, and `slurm.sh` returns before its jobs have run.
const SLURM: &str = r#"
"$S/slurm-one-node.sh" start slurm
export SLURM_CONF="$PWD/slurm/slurm.conf"
trap '"$S/slurm-one-node.sh" stop slurm' EXIT
"$S/slurm.sh" "$PWD/$1" "$PWD/$2" "$3"
while squeue --noheader | grep -q .; do sleep 1; done
cat "$2"/slurm-*.log
"#;

const ENGINES: [Engine; 3] = [
    Engine {
        name: "parallel",
        need: Need { probe: "parallel --version", get: "apt-get install parallel" },
        script: r#""$S/parallel.sh" "$@""#,
    },
    Engine {
        name: "slurm",
        need: Need {
            probe: "test $(id -u) = 0 && munged --version && slurmctld -V && slurmd -V && sbatch --version",
            get: "as root: apt-get install munge slurmctld slurmd slurm-client",
        },
        script: SLURM,
    },
    Engine {
        name: "ray",
        need: Need { probe: "python3 -c 'import ray'", get: "python3 -m pip install ray" },
        script: r#"RAY_USAGE_STATS_ENABLED=0 python3 "$S/ray_sweep.py" "$@""#,
    },
];

/// Runs them all. Returns true if each that is installed made the same bytes.
pub(super) fn run(root: &Path, lab: &Lab) -> Result<bool, String> {
    let scripts = root.join("examples/sweeps");
    copy_into(&lab.folder, &scripts.join(QUESTION))?;
    succeed(&mut lab.command(&["sweep", QUESTION, "--out", "alone", "--quiet"]))?;
    let expected = lab.merged("alone")?;
    let mut are_equal = true;
    for engine in ENGINES {
        let Engine { name, need, script } = engine;
        if !need.is_met() {
            println!("{name}: not run: {}", need.get);
            continue;
        }
        let path = std::env::var("PATH").unwrap_or_default();
        let program = lab.program.parent().unwrap_or(root).display();
        let mut shell = Command::new("sh");
        shell.args(["-euc", script, name, QUESTION, name, PARTS]).current_dir(&lab.folder);
        shell.env("S", &scripts).env("PATH", format!("{program}:{path}"));
        let status = status_within(&mut shell, LIMIT).map_err(|why| format!("{name} {why}"))?;
        let merged = lab.folder.join(name).join("merged.jsonl");
        let is_equal = status.success() && fs::read(&merged).is_ok_and(|bytes| bytes == expected);
        println!("{name}: {}", if is_equal { "the same bytes as one process" } else { "DIFFERS" });
        are_equal &= is_equal;
    }
    Ok(are_equal)
}
