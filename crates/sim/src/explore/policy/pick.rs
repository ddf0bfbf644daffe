//! What a policy is.

use crate::explore::choice::Choice;
use crate::rng::Rng;

/// Decides what happens next, in one schedule after another.
///
/// The same calls with the same arguments have to give the same answers: schedules are repeated.
pub trait SchedulePolicy {
    /// The next schedule begins. `false` if there is none left that is worth it.
    fn begin(&mut self) -> bool;
    /// The index of the choice to take after `step` others; `None` to give up. There is always a
    /// choice that is no fault.
    fn pick(&mut self, choices: &[Choice], step: u64) -> Option<usize>;
    /// Returns true if the policy made every decision itself. Then it has left out no schedule when none is left.
    fn has_decided_all(&self) -> bool {
        true
    }
}

/// One of the choices that `is_wanted`, each as likely.
pub fn pick_where(
    choices: &[Choice],
    rng: &mut Rng,
    is_wanted: impl Fn(&Choice) -> bool,
) -> Option<usize> {
    let wanted = || choices.iter().enumerate().filter(|(_, choice)| is_wanted(choice));
    let count = wanted().count();
    let chosen = (count > 0).then(|| rng.below(count))?;
    wanted().nth(chosen).map(|(index, _)| index)
}
