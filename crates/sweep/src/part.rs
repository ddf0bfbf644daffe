//! Parts of the trials, one for each process.

use crate::trial::Trial;
use crate::trials::Trials;
use lockwright_cells::error::Error;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// One of several parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Which one, from 1.
    number: u32,
    /// How many there are.
    of: u32,
}

/// The only part.
impl Default for Part {
    fn default() -> Self {
        Self { number: 1, of: 1 }
    }
}

/// A part, and where it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parted {
    /// The part.
    pub part: Part,
    /// What said so, if it was not typed.
    pub found: Option<String>,
}

/// More parts than that are a mistake.
const MOST: u32 = 1_000_000;

impl Part {
    /// Part `number` of `of`, if there is one.
    pub fn new(number: u32, of: u32) -> Option<Self> {
        ((1..=of).contains(&number) && of <= MOST).then_some(Self { number, of })
    }

    /// `3/8`: part 3 of 8. `auto`: the part that the engine's variables name, which `variable` looks up. `auto/8`: the
    /// same where the engine does not say how many there are.
    ///
    /// # Errors
    /// If it is none of these, or the variables are not there; the sentence says what to type instead.
    pub fn parse(typed: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<Parted, Error> {
        let how = "write --shard 3/8 for the third of eight parts, or --shard auto";
        let typed = typed.trim();
        if let Some(rest) = typed.strip_prefix("auto") {
            let of = match rest {
                "" => None,
                rest => {
                    let of = rest.strip_prefix('/').and_then(|of| of.parse().ok());
                    Some(of.ok_or_else(|| Error::usage(how))?)
                }
            };
            return Self::of_engine(of, variable);
        }
        let part = || {
            let (number, of) = typed.split_once('/')?;
            Self::new(number.trim().parse().ok()?, of.trim().parse().ok()?)
        };
        let part =
            part().ok_or_else(|| Error::usage(format!("there is no part `{typed}`: {how}")))?;
        Ok(Parted { part, found: None })
    }

    fn of_engine(
        of: Option<u32>,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Parted, Error> {
        let number = |name: &str| variable(name)?.trim().parse::<u32>().ok();
        let (what, at, told) = if let Some(id) = number("SLURM_ARRAY_TASK_ID") {
            let first = number("SLURM_ARRAY_TASK_MIN").unwrap_or(0);
            let step = number("SLURM_ARRAY_TASK_STEP").unwrap_or(1).max(1);
            let at = id.checked_sub(first).map(|past| past / step + 1);
            ("SLURM_ARRAY_TASK_ID", at, number("SLURM_ARRAY_TASK_COUNT"))
        } else if let Some(index) = number("JOB_COMPLETION_INDEX") {
            ("JOB_COMPLETION_INDEX", index.checked_add(1), None)
        } else if let Some(job) = number("PARALLEL_SEQ") {
            ("PARALLEL_SEQ", Some(job), None)
        } else {
            return Err(Error::usage(
                "--shard auto finds no variable of Slurm, Kubernetes or GNU parallel here: write the part, such as \
                 --shard 3/8",
            ));
        };
        let of = of.or(told).ok_or_else(|| {
            Error::usage(format!(
                "{what} does not say how many parts there are: write --shard auto/N"
            ))
        })?;
        let part = at.and_then(|at| Self::new(at, of)).ok_or_else(|| {
            let value = variable(what).unwrap_or_default();
            Error::usage(format!(
                "{what} is {value}, which names none of {of} parts: write --shard K/N"
            ))
        })?;
        Ok(Parted { part, found: Some(format!("part {} of {of}, from {what}", part.number)) })
    }

    /// What the names of its files end with.
    pub(crate) fn suffix(self) -> String {
        format!("{}-of-{}", self.number, self.of)
    }

    /// Its trials and their keys, the long ones first. The longest goes to the first part, and each next one to the
    /// part that has least to do. Which part a trial belongs to follows from all keys and estimates, so all computers
    /// agree.
    pub(crate) fn of(self, trials: &Trials) -> Vec<(String, Trial)> {
        let mut all: Vec<_> =
            trials.iter().map(|trial| (Reverse(trial.cost()), trial.key(), trial)).collect();
        all.sort_unstable_by(|(a, a_key, _), (b, b_key, _)| (a, a_key).cmp(&(b, b_key)));
        all.dedup_by(|(_, a, _), (_, b, _)| a == b);
        let mut parts: BinaryHeap<_> = (1..=self.of).map(|part| Reverse((0, part))).collect();
        let mut own = Vec::new();
        for (Reverse(cost), key, trial) in all {
            if let Some(Reverse((load, part))) = parts.pop() {
                parts.push(Reverse((load + cost, part)));
                if part == self.number {
                    own.push((key, trial.clone()));
                }
            }
        }
        own
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(typed: &str, variables: &[(&str, &str)]) -> Result<Parted, String> {
        let find = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).into())
        };
        Part::parse(typed, &find).map_err(|error| error.to_string())
    }

    #[test]
    fn a_part_is_typed_or_found_in_the_variables_of_an_engine() {
        assert_eq!(parse(" 3/8", &[]).map(|it| it.part), Ok(Part { number: 3, of: 8 }));
        let array = [
            ("SLURM_ARRAY_TASK_ID", "14"),
            ("SLURM_ARRAY_TASK_MIN", "10"),
            ("SLURM_ARRAY_TASK_STEP", "2"),
            ("SLURM_ARRAY_TASK_COUNT", "5"),
        ];
        let found = parse("auto", &array).expect("Slurm says it all");
        assert_eq!(found.part, Part { number: 3, of: 5 });
        assert_eq!(found.found.as_deref(), Some("part 3 of 5, from SLURM_ARRAY_TASK_ID"));
        let job = [("JOB_COMPLETION_INDEX", "0")];
        assert_eq!(parse("auto/4", &job).map(|it| it.part), Ok(Part { number: 1, of: 4 }));
        assert!(parse("auto", &job).is_err_and(|said| said.contains("--shard auto/N")));
        let seq = [("PARALLEL_SEQ", "9")];
        assert!(parse("auto/8", &seq).is_err_and(|said| said.contains("PARALLEL_SEQ is 9")));
    }

    #[test]
    fn what_is_no_part_is_refused_with_what_to_type() {
        for typed in ["0/8", "9/8", "8", "a/b", "auto/", "auto8", "1/0", "auto/x", "-1/8"] {
            let said = parse(typed, &[]).expect_err(typed);
            assert!(said.contains("--shard 3/8"), "{typed}: {said}");
        }
        assert!(parse("auto", &[]).is_err_and(|said| said.contains("no variable of Slurm")));
    }
}
