//! What the checkers wrote down: the inputs of `docs/evidence.md`.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::path::Path;

/// `lockwright.weaken/1`: every ordering of the locks made weaker.
#[derive(Debug, Deserialize)]
pub struct Weaken {
    pub bounds: String,
    pub sites: usize,
    pub text_search: usize,
    pub mutants: Vec<Mutant>,
}

/// One ordering, one step weaker.
#[derive(Debug, Deserialize)]
pub struct Mutant {
    /// `file:line`.
    pub site: String,
    pub ids: Vec<String>,
    pub from: String,
    /// Empty if it is removed.
    pub to: String,
    pub checker: String,
    pub verdict: String,
    pub kills: Vec<Finding>,
    #[serde(default)]
    pub held: Vec<Finding>,
}

/// `lockwright.zoo/1`: historical bugs, seeded.
#[derive(Debug, Deserialize)]
pub struct Zoo {
    pub bounds: String,
    pub rows: Vec<Row>,
    /// What the checks said about the real code.
    pub clean: Vec<Finding>,
    /// What they complained about in the real code.
    pub reported: Vec<Finding>,
}

/// One bug.
#[derive(Debug, Deserialize)]
pub struct Row {
    pub row: String,
    pub verdict: String,
    pub kills: Vec<Finding>,
    #[serde(default)]
    pub survived: Vec<Finding>,
}

/// What one check said, be it something or nothing.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Finding {
    #[serde(default)]
    pub checker: String,
    pub lock: String,
    pub client: String,
    #[serde(default)]
    pub executions: u64,
}

/// One line of `sample`: random schedules of a client on a lock.
#[derive(Debug, Deserialize)]
pub struct Sample {
    pub lock: String,
    pub client: String,
    pub on: String,
    pub threads: usize,
    pub violated: bool,
    pub executions: u64,
}

/// `lockwright.explore/1`: schedules of a client on a lock, simulated.
#[derive(Debug, Deserialize)]
pub struct Explored {
    pub seed: u64,
    /// True if it was ended before its time.
    #[serde(default)]
    pub interrupted: bool,
    pub results: Vec<Exploration>,
}

/// One client on one lock.
#[derive(Debug, Deserialize)]
pub struct Exploration {
    pub lock: String,
    pub client: String,
    pub threads: usize,
    pub schedules: u64,
    pub steps: u64,
    pub verdict: String,
}

/// All of them.
#[derive(Debug)]
pub struct Documents {
    pub weaken: Weaken,
    pub zoo: Zoo,
    pub samples: Vec<Sample>,
    pub explored: Explored,
}

/// Where the inputs are, below the root of the repository, and which command writes each.
pub const WEAKEN: &str = "target/evidence/weaken.json";
pub const ZOO: &str = "target/evidence/zoo.json";
pub const SAMPLES: &str = "target/evidence/samples.jsonl";
pub const EXPLORED: &str = "target/evidence/explore.json";

impl Documents {
    /// Reads them.
    pub fn read(root: &Path) -> Result<Self, String> {
        let text = |name: &str| {
            std::fs::read_to_string(root.join(name)).map_err(|error| {
                format!("{name} cannot be read: {error}; type `cargo xtask evidence --fresh`")
            })
        };
        let samples: Result<Vec<_>, _> =
            text(SAMPLES)?.lines().map(|line| decode(SAMPLES, line)).collect();
        let weaken = decode(WEAKEN, &text(WEAKEN)?)?;
        let (zoo, explored) = (decode(ZOO, &text(ZOO)?)?, decode(EXPLORED, &text(EXPLORED)?)?);
        Ok(Self { weaken, zoo, samples: samples?, explored })
    }

    /// What keeps them from being evidence.
    pub fn complaints(&self) -> Vec<String> {
        let mut complaints = Vec::new();
        let Self { weaken, zoo, samples, explored } = self;
        if weaken.sites != weaken.text_search {
            let (sites, found) = (weaken.sites, weaken.text_search);
            complaints.push(format!("{sites} sites were weakened, a text search finds {found}"));
        }
        for Mutant { site, to, verdict, .. } in &weaken.mutants {
            if !["KILLED", "ARGUED"].contains(&verdict.as_str()) {
                complaints.push(format!("{site} made {to:?}: {verdict}"));
            }
        }
        for Row { row, verdict, .. } in &zoo.rows {
            if !["KILLED", "BY_CONSTRUCTION"].contains(&verdict.as_str()) {
                complaints.push(format!("row {row} of the zoo: {verdict}"));
            }
        }
        for Finding { checker, lock, client, .. } in &zoo.reported {
            complaints.push(format!("the real code fails: {client} on {lock} by {checker}"));
        }
        for Sample { lock, client, on, threads, .. } in samples.iter().filter(|it| it.violated) {
            complaints.push(format!("shuttle: {client} on {lock}, {threads} threads, {on}"));
        }
        if explored.interrupted {
            complaints.push("explore was interrupted".into());
        }
        for Exploration { lock, client, .. } in
            explored.results.iter().filter(|it| it.verdict != "HELD")
        {
            complaints.push(format!("explore: {client} on {lock}"));
        }
        complaints
    }
}

fn decode<T: DeserializeOwned>(name: &str, text: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| {
        format!("{name} is not what was expected: {error}; type `cargo xtask evidence --fresh`")
    })
}
