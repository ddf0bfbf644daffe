//! The folder of a sweep: a file of results for each part, and one with how long each trial took.

use crate::sweep::key::CODE;
use crate::sweep::line;
use lockwright_measure::error::Error;
use lockwright_parts::Part;
use std::collections::HashSet;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// What the names of files with results begin and end with.
const RESULTS: &str = "results-";
const TIMES: &str = "times-";
const LINES: &str = ".jsonl";

/// The folder of a sweep, and the files of one part of it. While it is open, no other process has that part.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    results: Appended,
    times: Appended,
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

impl Store {
    /// Opens the folder for a part; makes it if it is not there.
    ///
    /// # Errors
    /// If it cannot be written, or another process has the part.
    pub fn open(folder: &Path, part: Part) -> Result<Self, Error> {
        std::fs::create_dir_all(folder).map_err(|source| Error::output(folder, source))?;
        let file = |name| Appended::open(folder.join(format!("{name}{}{LINES}", part.suffix())));
        Ok(Self { folder: folder.into(), results: file(RESULTS)?, times: file(TIMES)? })
    }

    /// The file with the results of this part.
    pub fn path(&self) -> &Path {
        &self.results.path
    }

    /// The keys of all trials whose results are in the folder, whichever part has run them.
    pub(crate) fn done(&self) -> Result<HashSet<String>, Error> {
        let mut done = HashSet::new();
        for path in result_files(&self.folder)? {
            for line in Lines::open(&path)? {
                if let Some(head) = line::opened(&line?).filter(|head| head.code == CODE) {
                    done.insert(head.key);
                }
            }
        }
        Ok(done)
    }

    /// Adds the result of a trial, and how long it took.
    pub(crate) fn add(&mut self, object: &str, key: &str, seconds: f64) -> Result<(), Error> {
        self.results.add(&line::sealed(object))?;
        self.times.add(&format!("{{\"key\":\"{key}\",\"seconds\":{seconds:.6}}}"))
    }
}

/// The files with results in a folder, in the order of their names.
pub(crate) fn result_files(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = std::fs::read_dir(folder).map_err(|source| {
        Error::usage(format!(
            "{} cannot be read: {source}; name the folder of a sweep",
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
        let mut store = Store::open(folder.path(), Part::default()).expect("new");
        store.add(&object("a"), "a", 0.5).expect("written");
        let path = store.path().to_owned();
        assert!(Store::open(folder.path(), Part::default()).is_err(), "a part has one process");
        drop(store);
        let whole = std::fs::read(&path).expect("there");
        std::fs::write(&path, [&whole[..], &whole[..20]].concat()).expect("writable");
        let mut store = Store::open(folder.path(), Part::default()).expect("it is there");
        assert_eq!(std::fs::read(&path).expect("there"), whole);
        store.add(&object("b"), "b", 0.5).expect("written");
        let mut done: Vec<_> = store.done().expect("readable").into_iter().collect();
        done.sort();
        assert_eq!(done, ["a", "b"]);
    }
}
