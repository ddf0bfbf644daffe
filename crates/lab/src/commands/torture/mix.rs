//! What a torture mixes in: what was asked for, and what fits into its time.
//!
//! Nothing is fixed in seconds: a short run gets shorter and proportionally more frequent holds,
//! pauses and moves, so that each of them happens in it.

use super::args::StressArgs;
use crate::thread_counts::ThreadCounts;
use lockwright_measure::error::Error;
use lockwright_measure::stress::Stress;
use lockwright_measure::trial::LabMachine;
use lockwright_measure::workload::locktorture::LONG_HOLD_NS;
use lockwright_sim::Preemption;

/// Long holds of this part of the window, unless that is longer than the kernel's.
const LONG_HOLD_PART: u64 = 250;
/// The same for threads that share simulated CPUs: more of them do fewer operations, of which each is
/// less likely to be a long hold.
const SHARED_LONG_HOLD_PART: u64 = 2_500;
/// Pauses and moves after these parts of the window; out of step, so that threads also work where
/// they were moved to.
const STUTTER_PART: u64 = 10;
const SHUFFLE_PART: u64 = 7;
const NESTED: usize = 2;
/// A thread is preempted after this part of the window, on average, for a quarter of that: each is
/// away for a fifth of the time.
const PREEMPTION_PART: u64 = 400;
const AWAY_PART: u64 = 4;

const LONG_HOLD_MAX_NS: u64 = 10_000_000_000;

/// What is switched on for a torture of `window_ns` on `machine`.
pub fn stress(
    args: &StressArgs,
    machine: &dyn LabMachine,
    thread_counts: &ThreadCounts,
    window_ns: u64,
) -> Result<Stress, Error> {
    let shares_cpus = thread_counts.kind().is_some();
    if let Some(sentence) = wrong(args, machine, shares_cpus) {
        return Err(Error::usage(sentence));
    }
    let long_hold_part = if shares_cpus { SHARED_LONG_HOLD_PART } else { LONG_HOLD_PART };
    let usual_hold_ns = (window_ns / long_hold_part).min(LONG_HOLD_NS);
    let stutter = periodic("--stutter", args.stutter, window_ns)?;
    let can_shuffle = !machine.is_simulated() && machine.cpus() > 1;
    let shuffle = args.shuffle.filter(|_| can_shuffle);
    let usual_shuffle_ns = if can_shuffle { window_ns / SHUFFLE_PART } else { 0 };
    let every_ns = (window_ns / PREEMPTION_PART).max(1);
    let preemption = Preemption { every_ns, for_ns: (every_ns / AWAY_PART).max(1) };
    Ok(Stress {
        long_hold_ns: args.long_hold.unwrap_or(usual_hold_ns),
        stutter_ns: stutter.unwrap_or(window_ns / STUTTER_PART),
        shuffle_ns: periodic("--shuffle", shuffle, window_ns)?.unwrap_or(usual_shuffle_ns),
        nested: args.nested.unwrap_or(NESTED),
        preemption: args.faults.then_some(preemption),
        // Decided for each lock.
        readers: 0,
    })
}

/// What is wrong with what was asked for, a sentence.
fn wrong(args: &StressArgs, machine: &dyn LabMachine, shares_cpus: bool) -> Option<&'static str> {
    let shuffles = args.shuffle.is_some_and(|secs| secs != 0.0);
    let wrong = [
        (
            args.long_hold.is_some_and(|ns| ns > LONG_HOLD_MAX_NS),
            "--long-hold can be at most 10s: write 10s or less",
        ),
        (
            shuffles && machine.is_simulated(),
            "--shuffle works on this computer only, because simulated threads are pinned or moved by their \
             host: leave it out",
        ),
        (
            shuffles && machine.cpus() == 1,
            "--shuffle needs a second CPU to move threads to, and this process may use only one: \
             leave it out",
        ),
        (
            args.faults && shares_cpus,
            "--faults is for simulated threads with a CPU each, because a scheduler preempts the others: \
             leave it out",
        ),
        (
            args.faults && !machine.is_simulated(),
            "--faults is for simulated machines: add --on x5-4; on this computer, more --threads than CPUs \
             are preempted by the system",
        ),
    ];
    wrong.into_iter().find_map(|(is_wrong, sentence)| is_wrong.then_some(sentence))
}

/// Nanoseconds of something periodic; it must happen within the window.
fn periodic(flag: &str, asked_s: Option<f64>, window_ns: u64) -> Result<Option<u64>, Error> {
    let Some(secs) = asked_s else { return Ok(None) };
    let window_s = window_ns as f64 / 1e9;
    if secs != 0.0 && !(1e-9..=f64::MAX).contains(&secs) {
        return Err(Error::usage(format!("{flag} must be a time such as 5ms, or off, not {secs}")));
    }
    if secs >= window_s {
        return Err(Error::usage(format!(
            "{flag} {secs} would never happen in {window_s} seconds: make it shorter, or --secs longer, or \
             write {flag} off"
        )));
    }
    Ok(Some((secs * 1e9).round() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::MockMachine;
    use lockwright_measure::simulated::SimulatedMachine;
    use lockwright_measure::trial::Settings;
    use lockwright_measure::workload::Workload;

    const WINDOW_NS: u64 = 250_000_000;

    fn two(machine: &dyn LabMachine) -> ThreadCounts {
        let any = Workload::counter(1, 0);
        ThreadCounts::of_threads(machine, any, &[2]).expect("a sound number")
    }

    fn asked(args: &StressArgs) -> Result<Stress, String> {
        let machine = MockMachine::default();
        stress(args, &machine, &two(&machine), WINDOW_NS).map_err(|error| error.to_string())
    }

    #[test]
    fn everything_is_mixed_in_and_fits_into_the_window() {
        let stress = asked(&StressArgs::default()).expect("sound defaults");
        assert_eq!((stress.long_hold_ns, stress.nested), (1_000_000, 2));
        assert_eq!((stress.stutter_ns, stress.shuffle_ns), (25_000_000, 35_714_285));
        assert_eq!(stress.preemption, None);
    }

    #[test]
    fn a_long_run_holds_for_as_long_as_the_kernel_and_no_longer() {
        let machine = MockMachine::default();
        let minute = stress(&StressArgs::default(), &machine, &two(&machine), 60_000_000_000)
            .expect("sound");
        assert_eq!(minute.long_hold_ns, LONG_HOLD_NS);
    }

    #[test]
    fn zero_leaves_a_thing_out() {
        let (long_hold, stutter, shuffle) = (Some(0), Some(0.0), Some(0.0));
        let args = StressArgs { long_hold, stutter, shuffle, nested: Some(0), faults: false };
        assert_eq!(asked(&args), Ok(Stress::default()));
    }

    #[test]
    fn what_would_never_happen_is_refused() {
        for secs in [0.25, 5.0, -0.1, f64::NAN, f64::INFINITY] {
            let stutter = StressArgs { stutter: Some(secs), ..StressArgs::default() };
            assert!(asked(&stutter).is_err_and(|error| error.contains("--stutter")), "{secs}");
            let shuffle = StressArgs { shuffle: Some(secs), ..StressArgs::default() };
            assert!(asked(&shuffle).is_err_and(|error| error.contains("--shuffle")), "{secs}");
        }
        let too_long = Some(LONG_HOLD_MAX_NS + 1);
        let long_hold = StressArgs { long_hold: too_long, ..StressArgs::default() };
        assert!(asked(&long_hold).is_err_and(|error| error.contains("--long-hold")));
    }

    #[test]
    fn what_a_machine_cannot_do_is_refused_only_if_it_was_asked_for() {
        let simulated = SimulatedMachine::builtin("x5-4", Settings::default());
        let simulated = simulated.expect("it is built in").expect("it is valid");
        let of = |args: &StressArgs| stress(args, &simulated, &two(&simulated), 20_000_000);
        let usual = of(&StressArgs::default()).expect("sound defaults");
        assert_eq!((usual.shuffle_ns, usual.preemption), (0, None));
        let faults = of(&StressArgs { faults: true, ..StressArgs::default() }).expect("sound");
        let rule = Preemption { every_ns: 50_000, for_ns: 12_500 };
        assert_eq!(faults.preemption, Some(rule));

        assert!(of(&StressArgs { shuffle: Some(0.001), ..StressArgs::default() }).is_err());
        assert!(asked(&StressArgs { faults: true, ..StressArgs::default() }).is_err());
    }
}
