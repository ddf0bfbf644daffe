//! `lockwright machines probe`: measures this computer into a machine description.

mod args;
mod describe;
mod lines;
mod measured;
mod numbers;
mod own;
mod pair;
mod samples;
mod shares;
mod sleep;
mod slices;
mod sourced;
mod topology;

use crate::error::Error;
use crate::native::{kernel, processor};
use crate::report::{Progress, Target};
pub use args::ProbeArgs;
use lockwright_sim::machine::MachineFile;
use measured::{Effort, Measured};

/// `lockwright machines probe`.
pub fn run(args: &ProbeArgs) -> Result<(), Error> {
    let target = match &args.out {
        Some(path) => Target::open(path)?,
        None => Target::Stdout,
    };
    let effort = if args.quick { Effort::QUICK } else { Effort::FULL };
    let measured = Measured::here(effort, Progress::new(args.quiet));
    if crate::interrupt::is_requested() {
        return Err(Error::Measurement("interrupted: nothing was written".into()));
    }
    let text = describe::text(&measured, &format!("{}, {}", processor(), kernel()));
    if let Err(error) = MachineFile::parse("the description", "here", &text) {
        return Err(Error::Measurement(format!(
            "what was measured makes no machine ({error}): was the computer busy? Try again"
        )));
    }
    target.write(text.as_bytes())
}
