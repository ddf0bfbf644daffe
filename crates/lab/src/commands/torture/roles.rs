//! Which threads of a torture read, and which write.
//!
//! As in the kernel's locktorture, a lock that has readers gets as many of them as writers unless
//! something else is asked for.

use super::args::TortureArgs;
use lockwright_measure::error::Error;
use lockwright_measure::native::locks::readers_share;
use lockwright_measure::subject::{Asked, Subject};
use lockwright_measure::trial::LabMachine;

/// How many threads read, and of how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Roles {
    /// What was asked for.
    readers: Option<usize>,
    /// True if neither --threads nor --vcpus was given.
    chooses_threads: bool,
    /// How many threads a simulated machine runs without a scheduler.
    simulated_cpus: Option<usize>,
}

impl Roles {
    /// What was asked of `machine`.
    pub fn asked(args: &TortureArgs, machine: &dyn LabMachine) -> Self {
        Self {
            readers: args.readers,
            chooses_threads: args.threads.is_empty() && args.machine.guest.vcpus.is_empty(),
            simulated_cpus: machine.is_simulated().then(|| machine.cpus()),
        }
    }
    /// The number of threads if none was given and `usual` would write.
    pub fn usual_threads(self, usual: usize) -> usize {
        usual.saturating_add(self.readers.unwrap_or(0))
    }
    /// Checks what was asked for against the numbers of threads.
    pub fn check(self, counts: &[usize], noun: &str) -> Result<(), Error> {
        let Some(readers) = self.readers else { return Ok(()) };
        match counts.iter().find(|&&count| readers >= count) {
            None => Ok(()),
            Some(count) => Err(Error::usage(format!(
                "--readers {readers} of {count} {noun} leaves no writer: give a smaller number, or use more {noun}"
            ))),
        }
    }
    /// Keeps the locks that can be tortured like this; an error if one that was named cannot.
    pub fn retain(self, locks: &mut Vec<Asked>) -> Result<(), Error> {
        if self.readers.is_none_or(|readers| readers == 0) {
            return Ok(());
        }
        let has_none = |asked: &Asked| !readers_share(asked.subject);
        if let Some(asked) = locks.iter().find(|asked| asked.explicitly && has_none(asked)) {
            return Err(Error::usage(format!(
                "`{}` has no readers: leave out --readers, or name a reader-writer lock, such as `rwlock`",
                asked.subject.name()
            )));
        }
        locks.retain(|asked| !has_none(asked));
        match locks.is_empty() {
            true => Err(Error::usage(
                "none of these locks has readers: leave out --readers, or name a reader-writer lock, such as \
                 `rwlock`",
            )),
            false => Ok(()),
        }
    }
    /// For a cell of `count` threads: how many there are, and how many of them read.
    pub fn of(self, lock: Subject, count: usize) -> (usize, usize) {
        if !readers_share(lock) {
            return (count, 0);
        }
        if let Some(readers) = self.readers {
            return (count, readers);
        }
        // Twice as many if no number was given, and they fit.
        let doubled = count * 2;
        let fits = self.simulated_cpus.is_none_or(|cpus| doubled <= cpus);
        let threads = if self.chooses_threads && fits { doubled } else { count };
        (threads, threads / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::MockMachine;
    use crate::options;
    use lockwright_measure::simulated::SimulatedMachine;
    use lockwright_measure::trial::Settings;

    fn asked(more: &str, machine: &dyn LabMachine) -> Roles {
        Roles::asked(&options::read(more), machine)
    }

    fn lock(name: &str) -> Subject {
        Subject::find(name).expect("a known name")
    }

    #[test]
    fn a_lock_with_readers_gets_as_many_as_writers_and_one_without_gets_none() {
        let machine = MockMachine::default();
        let roles =
            |more| [lock("ticket"), lock("busted-rw")].map(|it| asked(more, &machine).of(it, 4));
        assert_eq!(roles(""), [(4, 0), (8, 4)]);
        assert_eq!(roles("--threads 4"), [(4, 0), (4, 2)]);
        assert_eq!(roles("--readers 0"), [(4, 0), (4, 0)]);
        assert_eq!(roles("--threads 4 --readers 1")[1], (4, 1));
        assert_eq!(asked("--readers 3", &machine).usual_threads(2), 5);
        assert_eq!(asked("", &machine).usual_threads(2), 2);
    }

    #[test]
    fn readers_that_do_not_fit_on_a_simulated_machine_are_some_of_its_threads() {
        let machine = SimulatedMachine::builtin("haswell-2s", Settings::default());
        let machine = machine.expect("it is built in").expect("it is valid");
        let of = |more, count| asked(more, &machine).of(lock("busted-rw"), count);
        assert_eq!((of("", 18), of("", 19)), ((36, 18), (19, 9)));
        assert_eq!(of("--vcpus 5", 5), (5, 2));
    }

    #[test]
    fn readers_that_nobody_can_be_are_refused() {
        let machine = MockMachine::default();
        let roles = asked("--readers 2", &machine);
        let said = roles.check(&[3, 2], "threads").expect_err("no thread writes").to_string();
        assert!(said.contains("--readers 2 of 2 threads"), "{said}");
        assert!(roles.check(&[3], "threads").is_ok());

        let named = |names: &[&str], explicitly| -> Vec<Asked> {
            names.iter().map(|name| Asked { subject: lock(name), explicitly }).collect()
        };
        let mut locks = named(&["busted-rw", "ticket"], true);
        let said = roles.retain(&mut locks).expect_err("it has none").to_string();
        assert!(said.contains("`ticket` has no readers"), "{said}");
        let mut locks = named(&["busted-rw", "ticket"], false);
        roles.retain(&mut locks).expect("one has");
        assert_eq!(locks.len(), 1);
        assert!(roles.retain(&mut named(&["ticket"], false)).is_err());
        let mut locks = named(&["ticket"], true);
        assert!(asked("--readers 0", &machine).retain(&mut locks).is_ok());
    }
}
