//! The folder: a file of results for each part, and one with how long each trial took.

use super::key::CODE;
use super::line;
use lockwright_measure::error::Error;
use lockwright_measure::record::TrialRecord;
use lockwright_parts::Part;
use serde::Deserialize;
use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What the names of files with results begin and end with.
const RESULTS: &str = "results-";
const TIMES: &str = "times-";
const LINES: &str = ".jsonl";
/// What is in a line with a whole record.
const RECORD: &str = ",\"record\":{";

/// A folder of results, and the files of one part of it. While it is open, no other process has that part.
#[derive(Debug)]
pub struct Folder {
    /// The results that were there when it was opened, by key: the line, if it has a whole record.
    there: HashMap<String, Option<String>>,
    files: Mutex<Files>,
}

/// What is written.
#[derive(Debug)]
struct Files {
    results: Appended,
    times: Appended,
    error: Option<Error>,
}

/// A file that whole lines are added to.
#[derive(Debug)]
struct Appended {
    path: PathBuf,
    file: File,
    /// Where its last whole line ends.
    end: u64,
}

impl Appended {
    /// Opens a file, and cuts off what a process left behind that did not live to end its line.
    fn open(path: PathBuf) -> Result<Self, Error> {
        let cannot = |source| Error::output(&path, source);
        let file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let file = file.map_err(cannot)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Error::usage(format!(
                    "another process works on this part ({}): wait for it, or take another --shard",
                    path.display()
                )));
            }
            Err(TryLockError::Error(source)) => return Err(cannot(source)),
        }
        let mut appended = Self { end: 0, file, path: path.clone() };
        appended.end = whole_lines(&appended.file).map_err(cannot)?;
        appended.cut().map_err(cannot)?;
        Ok(appended)
    }

    fn cut(&mut self) -> std::io::Result<()> {
        self.file.set_len(self.end)?;
        self.file.seek(SeekFrom::Start(self.end)).map(drop)
    }

    /// Adds a line. If that fails, for instance because the disk is full, the file is as before.
    fn add(&mut self, line: &str) -> Result<(), Error> {
        let line = format!("{line}\n");
        let added = self.file.write_all(line.as_bytes()).and_then(|()| self.file.flush());
        match added {
            Ok(()) => {
                self.end += line.len() as u64;
                Ok(())
            }
            Err(source) => {
                // What is torn is cut off when the file is opened again, or skipped when it is read.
                let _ = self.cut();
                Err(Error::output(&self.path, source))
            }
        }
    }
}

/// How many bytes its whole lines have.
fn whole_lines(file: &File) -> std::io::Result<u64> {
    let mut reader = BufReader::new(file);
    let (mut end, mut line) = (0, Vec::new());
    loop {
        line.clear();
        let bytes = reader.read_until(b'\n', &mut line)? as u64;
        if bytes == 0 || line.last() != Some(&b'\n') {
            return Ok(end);
        }
        end += bytes;
    }
}

/// What a line has if a command can go on from it.
#[derive(Deserialize)]
struct WithRecord {
    record: TrialRecord,
}

impl Folder {
    /// Opens the folder for a part; makes it if it is not there.
    ///
    /// # Errors
    /// If it cannot be written, or another process has the part.
    pub fn open(path: &Path, part: Part) -> Result<Self, Error> {
        std::fs::create_dir_all(path).map_err(|source| Error::output(path, source))?;
        let file = |name| Appended::open(path.join(format!("{name}{}{LINES}", part.suffix())));
        let files = Files { results: file(RESULTS)?, times: file(TIMES)?, error: None };
        let mut there = HashMap::new();
        for path in result_files(path)? {
            for line in Lines::open(&path)? {
                let line = line?;
                if let Some(head) = line::opened(&line).filter(|head| head.code == CODE) {
                    there.insert(head.key, line.contains(RECORD).then_some(line));
                }
            }
        }
        Ok(Self { there, files: Mutex::new(files) })
    }

    /// The file with the results of this part.
    pub fn own_results(&self) -> PathBuf {
        self.files().results.path.clone()
    }
    fn files(&self) -> MutexGuard<'_, Files> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// Returns true if the result of a trial was there when the folder was opened, whichever part has run it.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.there.contains_key(key)
    }
    /// How many results were there.
    pub fn were_there(&self) -> usize {
        self.there.len()
    }
    /// The record of a trial that was there when the folder was opened.
    pub(crate) fn record(&self, key: &str) -> Option<TrialRecord> {
        let line = self.there.get(key)?.as_ref()?;
        serde_json::from_str::<WithRecord>(line).ok().map(|line| line.record)
    }
    /// Returns true if something could not be written.
    pub(crate) fn has_failed(&self) -> bool {
        self.files().error.is_some()
    }
    /// Adds the result of a trial, and how long it took. What goes wrong first is kept for [`finish`](Self::finish);
    /// after it nothing is added.
    pub(crate) fn keep(&self, object: &str, key: &str, seconds: f64) {
        let mut files = self.files();
        let Files { results, times, error } = &mut *files;
        if error.is_none() {
            let time = format!("{{\"key\":\"{key}\",\"seconds\":{seconds:.6}}}");
            let added = results.add(&line::sealed(object)).and_then(|()| times.add(&time));
            *error = added.err();
        }
    }
    /// Closes it.
    ///
    /// # Errors
    /// If a result could not be written. Those before it are kept.
    pub fn finish(self) -> Result<(), Error> {
        let files = self.files.into_inner().unwrap_or_else(PoisonError::into_inner);
        files.error.map_or(Ok(()), Err)
    }
}

/// The files with results in a folder, in the order of their names.
pub(crate) fn result_files(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = std::fs::read_dir(folder).map_err(|source| {
        Error::usage(format!(
            "{} cannot be read: {source}; name a folder with results",
            folder.display()
        ))
    })?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(|source| Error::output(folder, source))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with(RESULTS) && name.ends_with(LINES) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// The lines of a file, one after the other. What is not UTF-8 is replaced, so that a line is torn and not the file.
pub(crate) struct Lines {
    path: PathBuf,
    reader: BufReader<File>,
}

impl Lines {
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let file = File::open(path).map_err(|source| Error::output(path, source))?;
        Ok(Self { path: path.into(), reader: BufReader::new(file) })
    }

    /// The lines of a file without a name.
    pub(crate) fn of(file: File) -> Self {
        Self { path: std::env::temp_dir(), reader: BufReader::new(file) }
    }
}

impl Iterator for Lines {
    type Item = Result<String, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut line = Vec::new();
        match self.reader.read_until(b'\n', &mut line) {
            Ok(0) => None,
            Ok(_) => {
                if line.last() == Some(&b'\n') {
                    line.pop();
                }
                Some(Ok(String::from_utf8_lossy(&line).into_owned()))
            }
            Err(source) => Some(Err(Error::output(&self.path, source))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_end_is_cut_off_and_the_lines_before_it_stay() {
        let folder = tempfile::tempdir().expect("a folder");
        let object = |key: &str| format!("{{\"key\":\"{key}\",\"code\":\"{CODE}\"}}");
        let open = || Folder::open(folder.path(), Part::default());
        let results = open().expect("new");
        results.keep(&object("a"), "a", 0.5);
        let path = results.own_results();
        assert!(open().is_err(), "a part has one process");
        results.finish().expect("written");
        let whole = std::fs::read(&path).expect("there");
        std::fs::write(&path, [&whole[..], &whole[..20]].concat()).expect("writable");
        let results = open().expect("it is there");
        assert_eq!(std::fs::read(&path).expect("there"), whole);
        results.keep(&object("b"), "b", 0.5);
        results.finish().expect("written");
        let results = open().expect("it is there");
        assert!(results.has("a") && results.has("b") && !results.has("c"));
    }
}
