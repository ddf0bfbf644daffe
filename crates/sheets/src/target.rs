//! A place where a document goes, complete or not at all.

use crate::progress::{complain, print};
use lockwright_measure::error::Error;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// A place where a document goes.
#[derive(Debug)]
pub enum Destination {
    /// Standard output.
    Stdout,
    /// A regular file that appears, or is replaced, when the document is complete.
    File {
        /// The file.
        path: PathBuf,
        /// Where the document is written before it takes the file's place.
        partial: PathBuf,
    },
    /// A device or a pipe: written in place.
    Device(PathBuf),
}

impl Destination {
    /// Checks that `path` can be written, without changing what is there. `-` is standard output.
    pub fn open(path: &PathBuf) -> Result<Self, Error> {
        if path.as_os_str() == "-" {
            return Ok(Self::Stdout);
        }
        let cannot = |source| Error::output(path, source);
        // Through a symbolic link, so that the link stays and what it points to is replaced.
        let path = path.canonicalize().unwrap_or_else(|_| path.clone());
        match path.metadata() {
            Ok(metadata) if metadata.is_dir() => {
                return Err(cannot(ErrorKind::IsADirectory.into()));
            }
            Ok(metadata) if !metadata.is_file() => {
                OpenOptions::new().write(true).open(&path).map_err(cannot)?;
                return Ok(Self::Device(path));
            }
            Ok(_) => drop(OpenOptions::new().append(true).open(&path).map_err(cannot)?),
            Err(_) => {}
        }
        let partial = partial_path(&path);
        File::create(&partial).map_err(cannot)?;
        fs::remove_file(&partial).map_err(cannot)?;
        Ok(Self::File { path, partial })
    }
    /// True if this is standard output.
    pub fn is_stdout(&self) -> bool {
        matches!(self, Self::Stdout)
    }
    /// Its file or device.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Stdout => None,
            Self::Device(path) | Self::File { path, .. } => Some(path),
        }
    }
    /// Writes the whole document; if that cannot be done, on standard output, or else on standard error.
    pub fn write_somewhere(&self, document: &str) -> Result<(), Error> {
        let Err(error @ Error::Output { .. }) = self.write(document.as_bytes()) else {
            return Ok(());
        };
        if !self.is_stdout() && print(document).is_ok() {
            return Err(error.instead("on standard output"));
        }
        complain(document);
        Err(error.instead("above"))
    }
    /// Writes the whole document.
    pub fn write(&self, document: &[u8]) -> Result<(), Error> {
        let written = match self {
            Self::Stdout => {
                let mut stdout = std::io::stdout().lock();
                stdout.write_all(document).and_then(|()| stdout.flush())
            }
            Self::Device(path) => {
                let device = OpenOptions::new().write(true).open(path);
                device.and_then(|mut device| device.write_all(document))
            }
            Self::File { path, partial } => {
                let written = fs::write(partial, document);
                let written = written.and_then(|()| fs::rename(partial, path));
                // It may not exist; the first error is the one to report.
                written.inspect_err(|_| drop(fs::remove_file(partial)))
            }
        };
        let place = self.path().unwrap_or(Path::new("standard output"));
        written.map_err(|source| Error::output(place, source))
    }
}

/// A name in the directory of `path` that no other process uses.
fn partial_path(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}.partial", std::process::id()));
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files_in(directory: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(directory).expect("a directory");
        entries.map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn opening_leaves_no_trace_and_writing_leaves_one_file() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("out.json");
        let target = Destination::open(&path).expect("a writable directory");
        assert!(files_in(directory.path()).is_empty());
        target.write(b"one").expect("written");
        target.write(b"two").expect("written again");
        assert_eq!(files_in(directory.path()), ["out.json"]);
        assert_eq!(std::fs::read(&path).expect("readable"), b"two");
    }

    #[test]
    fn an_old_document_survives_until_the_new_one_is_complete() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("out.csv");
        std::fs::write(&path, "old").expect("written");
        Destination::open(&path).expect("writable");
        assert_eq!(std::fs::read(&path).expect("readable"), b"old");
    }

    #[test]
    fn a_directory_and_a_missing_directory_are_refused() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        assert!(Destination::open(&directory.path().to_path_buf()).is_err());
        assert!(Destination::open(&directory.path().join("no/out.json")).is_err());
    }

    #[test]
    fn a_device_is_written_and_not_replaced() {
        let target = Destination::open(&PathBuf::from("/dev/null")).expect("writable");
        assert!(matches!(target, Destination::Device(_)));
        target.write(b"gone").expect("written");
    }
}
