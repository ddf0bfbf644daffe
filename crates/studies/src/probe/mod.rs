//! `lockwright machines probe`: measures this computer and writes a machine file.

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
mod widths;

use lockwright_measure::error::Error;
use lockwright_measure::native::{ForeignLoad, kernel, processor};
use lockwright_sheets::{Destination, Progress};
use lockwright_sim::machine::MachineFile;
use measured::{Measured, ProbeEffort};

/// Above this, what is about several CPUs and about the scheduler may be wrong.
const DISTURBED_PERCENT: f64 = 10.0;

/// What others did meanwhile, in words.
fn disturbance(percent: f64) -> String {
    format!(
        "other processes used {percent:.0} % of the CPUs during the measurement; above \
         {DISTURBED_PERCENT:.0} % the numbers about contention and the scheduler may be wrong"
    )
}

/// Measures this computer and writes its machine file.
pub fn run(target: &Destination, is_quick: bool, progress: Progress) -> Result<(), Error> {
    let effort = if is_quick { ProbeEffort::QUICK } else { ProbeEffort::FULL };
    let foreign = ForeignLoad::watch();
    let measured = Measured::here(effort, progress);
    let foreign_percent = foreign.percent().unwrap_or(0.0);
    if lockwright_measure::interrupt::is_requested() {
        return Err(Error::Measurement("interrupted: nothing was written".into()));
    }
    let name = format!("{}, {}", processor(), kernel());
    let text = format!("# {}.\n{}", disturbance(foreign_percent), describe::text(&measured, &name));
    if let Err(error) = MachineFile::parse("the machine file", "here", &text) {
        return Err(Error::Measurement(format!(
            "the measured numbers do not fit a machine file ({error}); the computer may have been busy: try again"
        )));
    }
    target.write_somewhere(&text)?;
    if foreign_percent > DISTURBED_PERCENT {
        progress.tell(&format!("warning: {}", disturbance(foreign_percent)));
    }
    Ok(())
}
