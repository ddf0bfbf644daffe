//! The program that is tried, and its folder.

use crate::disk::at;
use std::path::PathBuf;
use std::process::Command;

/// The lab, and the folder that everything is written to.
pub(super) struct Lab {
    pub(super) program: PathBuf,
    pub(super) folder: PathBuf,
}

impl Lab {
    /// A command of it, in the folder.
    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(&self.folder);
        command
    }

    /// The merged results of a folder.
    pub(super) fn merged(&self, name: &str) -> Result<Vec<u8>, String> {
        let output = self.command(&["sweep", "merge", name]).output();
        let output = output.map_err(at(&self.program))?;
        eprint!("{name}: {}", String::from_utf8_lossy(&output.stderr));
        match output.status.success() {
            true => Ok(output.stdout),
            false => Err(format!("the results in {name} cannot be merged")),
        }
    }
}
