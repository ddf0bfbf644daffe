//! Parts of what is to be done, one for each process, perhaps on different computers; and what a process prints.
#![warn(missing_docs)]

mod print;

pub use print::{arguments, complain, print_or_exit};

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// One of several parts. Each process works out by itself what belongs to its part.
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

    /// [`Part::parse`] with the variables of this process.
    ///
    /// # Errors
    /// As there.
    pub fn of_process(typed: &str) -> Result<Parted, String> {
        Self::parse(typed, &|name| std::env::var(name).ok())
    }

    /// `3/8`: part 3 of 8. `auto`: the part that the engine's variables name, which `variable` looks up. `auto/8`: the
    /// same where the engine does not say how many there are.
    ///
    /// # Errors
    /// If it is none of these, or the variables are not there; the sentence says what to type instead.
    pub fn parse(typed: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<Parted, String> {
        let how = "write --shard 3/8 for the third of eight parts, or --shard auto";
        let typed = typed.trim();
        if let Some(rest) = typed.strip_prefix("auto") {
            let of = match rest {
                "" => None,
                rest => {
                    let of = rest.strip_prefix('/').and_then(|of| of.parse().ok());
                    Some(of.ok_or_else(|| how.to_string())?)
                }
            };
            return Self::of_engine(of, variable);
        }
        let part = || {
            let (number, of) = typed.split_once('/')?;
            Self::new(number.trim().parse().ok()?, of.trim().parse().ok()?)
        };
        let part = part().ok_or_else(|| format!("there is no part `{typed}`: {how}"))?;
        Ok(Parted { part, found: None })
    }

    fn of_engine(
        of: Option<u32>,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Parted, String> {
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
            return Err(
                "--shard auto finds no variable of Slurm, Kubernetes or GNU parallel here: write the part, such as \
                 --shard 3/8"
                .into());
        };
        let of = of.or(told).ok_or_else(|| {
            format!("{what} does not say how many parts there are: write --shard auto/N")
        })?;
        let part = at.and_then(|at| Self::new(at, of)).ok_or_else(|| {
            let value = variable(what).unwrap_or_default();
            format!("{what} is {value}, which names none of {of} parts: write --shard K/N")
        })?;
        Ok(Parted { part, found: Some(format!("part {} of {of}, from {what}", part.number)) })
    }

    /// What the names of its files end with.
    pub fn suffix(self) -> String {
        format!("{}-of-{}", self.number, self.of)
    }

    /// Which pieces of work belong to this part: an answer for each. The longest goes to the first part, and each next
    /// one to the part that has least to do. That follows from all costs and their order, so all computers agree.
    pub fn takes(self, costs: &[u64]) -> Vec<bool> {
        let mut longest_first: Vec<usize> = (0..costs.len()).collect();
        longest_first.sort_by_key(|&at| Reverse(costs[at]));
        let mut parts: BinaryHeap<_> = (1..=self.of).map(|part| Reverse((0, part))).collect();
        let mut takes = vec![false; costs.len()];
        for at in longest_first {
            if let Some(Reverse((load, part))) = parts.pop() {
                parts.push(Reverse((load + costs[at], part)));
                takes[at] = part == self.number;
            }
        }
        takes
    }

    /// Of `pieces` those that belong to this part, in their order.
    pub fn of<T>(self, pieces: Vec<T>, cost: impl Fn(&T) -> u64) -> Vec<T> {
        let costs: Vec<u64> = pieces.iter().map(cost).collect();
        let takes = self.takes(&costs);
        pieces.into_iter().zip(takes).filter_map(|(piece, takes)| takes.then_some(piece)).collect()
    }

    /// The number, from 0, of piece `at` of this part, if pieces are dealt in turn and have no end.
    pub fn nth(self, at: u64) -> u64 {
        at * u64::from(self.of) + u64::from(self.number - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(typed: &str, variables: &[(&str, &str)]) -> Result<Parted, String> {
        let find = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).into())
        };
        Part::parse(typed, &find)
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
    fn each_piece_belongs_to_one_part_and_parts_have_about_as_much_to_do() {
        let costs = [5, 1, 9, 1, 1, 7, 3, 3];
        for of in [1, 2, 3, 8, 20] {
            let parts: Vec<Vec<usize>> = (1..=of)
                .map(|number| {
                    let part = Part::new(number, of).expect("a part");
                    part.of((0..costs.len()).collect(), |&at| costs[at])
                })
                .collect();
            let mut all = parts.concat();
            all.sort_unstable();
            assert_eq!(all, (0..costs.len()).collect::<Vec<_>>(), "{of}");
            let loads = parts.iter().map(|part| part.iter().map(|&at| costs[at]).sum::<u64>());
            let (least, most) = (loads.clone().min(), loads.max());
            assert!(most <= least.map(|least| least + 9), "{of}: {least:?} {most:?}");
        }
        let [first, second] = [1, 2].map(|number| Part::new(number, 2).expect("a part"));
        assert_eq!([first.nth(0), second.nth(0), first.nth(1), second.nth(1)], [0, 1, 2, 3]);
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
