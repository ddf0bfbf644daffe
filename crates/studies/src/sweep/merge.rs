//! Putting the results of all parts into one table, sorted by key, in bounded memory.

use crate::records::{Head, Lines, opened, result_files};
use lockwright_measure::error::Error;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// How many bytes of lines are sorted at once.
const PIECE_BYTES: usize = 64 << 20;

/// What was put together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// Results, each of another trial.
    pub results: u64,
    /// Lines that said what another one said.
    pub twice: u64,
    /// Lines that were not whole.
    pub torn: u64,
    /// The codes that made the results.
    pub codes: Vec<String>,
}

/// Writes the results of all `folders` to `out`, sorted by key and each once: the same bytes, whatever the parts were
/// and the order they ran in. Results of different code are refused unless `any_code`.
///
/// # Errors
/// If something cannot be read or written, if results are of different code, and if two results of the same trial
/// differ.
pub fn merge(folders: &[PathBuf], out: &mut dyn Write, any_code: bool) -> Result<Merged, Error> {
    merge_in_pieces(folders, out, any_code, PIECE_BYTES)
}

fn merge_in_pieces(
    folders: &[PathBuf],
    out: &mut dyn Write,
    any_code: bool,
    piece_bytes: usize,
) -> Result<Merged, Error> {
    let mut merged = Merged::default();
    let mut pieces = Pieces { bytes: 0, lines: Vec::new(), files: Vec::new(), piece_bytes };
    for folder in folders {
        let files = result_files(folder)?;
        if files.is_empty() {
            let sentence =
                format!("{} has no results: name a folder that has some", folder.display());
            return Err(Error::usage(sentence));
        }
        for path in files {
            for line in Lines::open(&path)? {
                let line = line?;
                let Some(Head { key, code }) = opened(&line) else {
                    merged.torn += 1;
                    continue;
                };
                if !merged.codes.contains(&code) {
                    merged.codes.push(code);
                }
                if merged.codes.len() > 1 && !any_code {
                    return Err(Error::usage(format!(
                        "the results are of different code ({}, in {}): merge those of one version, or add --any-code",
                        merged.codes.join(" and "),
                        path.display()
                    )));
                }
                pieces.add(key, line)?;
            }
        }
    }
    merged.codes.sort();
    pieces.write(out, &mut merged)?;
    Ok(merged)
}

/// A line with its key.
type Keyed = (String, String);

/// Lines with their keys, sorted.
type Sorted = Box<dyn Iterator<Item = Result<Keyed, Error>>>;

/// Lines with their keys: some in memory, the others sorted in files.
struct Pieces {
    bytes: usize,
    lines: Vec<Keyed>,
    files: Vec<File>,
    piece_bytes: usize,
}

/// What cannot be written while lines are sorted.
fn cannot(source: std::io::Error) -> Error {
    Error::output(std::env::temp_dir(), source)
}

impl Pieces {
    fn add(&mut self, key: String, line: String) -> Result<(), Error> {
        self.bytes += key.len() + line.len();
        self.lines.push((key, line));
        if self.bytes < self.piece_bytes {
            return Ok(());
        }
        self.lines.sort_unstable();
        let mut file = BufWriter::new(tempfile::tempfile().map_err(cannot)?);
        for (_, line) in self.lines.drain(..) {
            writeln!(file, "{line}").map_err(cannot)?;
        }
        let mut file = file.into_inner().map_err(|error| cannot(error.into_error()))?;
        std::io::Seek::rewind(&mut file).map_err(cannot)?;
        self.files.push(file);
        self.bytes = 0;
        Ok(())
    }

    fn write(mut self, out: &mut dyn Write, merged: &mut Merged) -> Result<(), Error> {
        self.lines.sort_unstable();
        let keyed = |line: Result<String, Error>| {
            let line = line?;
            let key = opened(&line).map(|head| head.key).unwrap_or_default();
            Ok((key, line))
        };
        let in_memory = std::mem::take(&mut self.lines).into_iter().map(Ok);
        let mut sources: Vec<Sorted> = vec![Box::new(in_memory)];
        for file in self.files.drain(..) {
            sources.push(Box::new(Lines::of(file).map(keyed)));
        }
        let mut heads = BinaryHeap::new();
        for (at, source) in sources.iter_mut().enumerate() {
            heads.extend(source.next().transpose()?.map(|line| Reverse((line, at))));
        }
        let mut last: Option<Keyed> = None;
        while let Some(Reverse((keyed, at))) = heads.pop() {
            heads.extend(sources[at].next().transpose()?.map(|line| Reverse((line, at))));
            match &last {
                Some(last) if *last == keyed => merged.twice += 1,
                Some((key, line)) if *key == keyed.0 => return Err(differ(key, [line, &keyed.1])),
                _ => {
                    let written = writeln!(out, "{}", keyed.1);
                    written
                        .map_err(|source| Error::output(Path::new("the merged results"), source))?;
                    merged.results += 1;
                    last = Some(keyed);
                }
            }
        }
        Ok(())
    }
}

/// Two results of one trial, which cannot be if the simulation is deterministic.
fn differ(key: &str, lines: [&str; 2]) -> Error {
    let [one, other] = lines.map(|line| line.chars().rev().take(120).collect::<Vec<_>>());
    let text = |end: Vec<char>| end.into_iter().rev().collect::<String>();
    Error::Measurement(format!(
        "two results of the trial {key} differ, so one of the computers is wrong: ...{} and ...{}",
        text(one),
        text(other)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::sealed;

    fn object(key: u32, value: u32) -> String {
        sealed(&format!("{{\"key\":\"{key:04}\",\"code\":\"c\",\"ops_per_s\":{value}}}"))
    }

    fn folder(files: &[(&str, Vec<String>)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, lines) in files {
            std::fs::write(folder.path().join(name), lines.join("\n")).expect("writable");
        }
        folder
    }

    fn merged(
        folders: &[&tempfile::TempDir],
        piece_bytes: usize,
    ) -> Result<(String, Merged), String> {
        let folders: Vec<_> = folders.iter().map(|it| it.path().to_owned()).collect();
        let mut out = Vec::new();
        let merged = merge_in_pieces(&folders, &mut out, false, piece_bytes);
        let merged = merged.map_err(|error| error.to_string())?;
        Ok((String::from_utf8(out).expect("text"), merged))
    }

    #[test]
    fn the_same_bytes_come_out_however_results_are_spread() {
        let lines = |keys: &[u32]| keys.iter().map(|&key| object(key, key)).collect::<Vec<_>>();
        let all: Vec<u32> = (0..200).map(|at| at * 77 % 200).collect();
        let one = folder(&[("results-1-of-1.jsonl", lines(&all))]);
        let expected = merged(&[&one], usize::MAX).expect("they agree");
        assert_eq!(
            expected.1,
            Merged { results: 200, codes: vec!["c".into()], ..Merged::default() }
        );
        assert!(expected.0.lines().is_sorted() && expected.0.lines().count() == 200);
        let mut torn = lines(&all[90..]);
        torn.insert(5, torn[3][..40].to_string());
        let parts = folder(&[
            ("results-1-of-2.jsonl", lines(&all[..100])),
            ("results-2-of-2.jsonl", torn),
            ("times-1-of-2.jsonl", vec!["{}".into()]),
        ]);
        for piece_bytes in [1, 500, 5_000, usize::MAX] {
            let (text, counts) = merged(&[&parts, &one], piece_bytes).expect("they agree");
            assert_eq!(text, expected.0, "{piece_bytes}");
            assert_eq!((counts.results, counts.twice, counts.torn), (200, 210, 1));
        }
    }

    #[test]
    fn results_that_contradict_each_other_or_are_of_other_code_are_refused() {
        let contradict = folder(&[("results-1-of-1.jsonl", vec![object(1, 1), object(1, 2)])]);
        for piece_bytes in [1, usize::MAX] {
            let said = merged(&[&contradict], piece_bytes).expect_err("they differ");
            assert!(said.contains("trial 0001 differ"), "{said}");
        }
        let other = sealed("{\"key\":\"2\",\"code\":\"d\"}");
        let mixed = folder(&[("results-1-of-1.jsonl", vec![object(1, 1), other])]);
        let said = merged(&[&mixed], usize::MAX).expect_err("they are mixed");
        assert!(said.contains("c and d") && said.contains("--any-code"), "{said}");
        let empty = folder(&[]);
        assert!(merged(&[&empty], 1).is_err_and(|said| said.contains("has no results")));
    }
}
