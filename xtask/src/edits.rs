//! Bugs of the zoo as edits of the text: what stands in a file, and what stood there, or could.
//!
//! The copy of the crate that `weaken` makes has both forms at each place and chooses one when it runs, so one
//! build serves all bugs. An edit is of an expression, or of statements that declare nothing: both forms have the
//! same type.

use crate::tidy::Source;
use lockwright::zoo::{Checker, Entry};

/// A bug. What it is about is in `lockwright::zoo`.
pub struct Edited {
    /// The row it is selected by.
    pub row: &'static str,
    /// The tests that must see it, each.
    pub tests: &'static [Test],
    /// All are made together.
    pub edits: &'static [Edit],
}

impl Edited {
    /// What is known about it.
    pub fn entry(&self) -> Entry {
        Entry::of_row(self.row).unwrap_or_else(|| panic!("the zoo has no row {}", self.row))
    }
}

/// A test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Test {
    /// Its package.
    pub package: &'static str,
    /// The program of tests in the package.
    pub program: &'static str,
    /// Its name in there.
    pub name: &'static str,
}

impl Test {
    /// One of the locks on the real machine.
    const fn native(name: &'static str) -> Self {
        Self { package: "lockwright", program: "it", name }
    }
    /// One that explores simulated schedules of clients.
    const fn explored(program: &'static str, name: &'static str) -> Self {
        Self { package: "lockwright-clients", program, name }
    }
    /// What kind of checker it is.
    pub fn checker(self) -> Checker {
        if self.program == "it" { Checker::Native } else { Checker::Explored }
    }
    /// Where it runs.
    pub fn place(self) -> &'static str {
        if self.program == "it" { "this machine" } else { "simulated" }
    }
}

const REUSED: Test = Test::explored("sim", "a_lock_holds_whatever_was_at_its_address_before");
const GUARDS: Test =
    Test::explored("sim", "a_lock_holds_whoever_gives_it_back_and_in_whatever_order_or_never");
const LIMITS: Test = Test::explored("sim", "a_lock_holds_at_its_limits");
const DISTURBED: Test = Test::explored(
    "explored",
    "locks_hold_where_signals_interrupt_their_threads_and_in_forked_children",
);

/// One place of a bug.
pub struct Edit {
    /// Its file, below [`CRATE`].
    pub file: &'static str,
    /// What stands there, once in the file.
    pub old: &'static str,
    /// What stands there with the bug.
    pub new: &'static str,
}

const CRATE: &str = "crates/locks/src/";

/// All of them. Their number, counted from 0, is what the copy knows them by.
pub const EDITED: &[Edited] = &[
    Edited {
        row: "80",
        tests: &[
            Test::native(
                "reuse::a_read_guard_that_was_forgotten_opens_no_later_lock_at_its_address_and_keeps_nobody_out_of_it",
            ),
            GUARDS,
        ],
        edits: &[Edit {
            file: "percpu_rwlock/mod.rs",
            old: "P::lock_number() << 1",
            new: "(core::ptr::from_ref(self).addr() as u64) << 1",
        }],
    },
    Edited {
        row: "81",
        tests: &[
            Test::native("reuse::a_thread_may_hold_more_read_guards_than_sixteen_bits_count"),
            LIMITS,
        ],
        edits: &[
            Edit {
                file: "percpu_rwlock/slot.rs",
                old: "depth < P::DEPTH_MAX",
                new: "depth < u32::MAX",
            },
            Edit {
                file: "percpu_rwlock/slot.rs",
                old: "self.set_depth(at, self.depth(at) + 1)",
                new: "self.set_depth(at, (self.depth(at) + 1) & P::DEPTH_MAX.saturating_add(1).min(0xffff))",
            },
        ],
    },
    Edited {
        row: "82",
        tests: &[
            Test::native(
                "reuse::a_late_unlock_of_a_mutex_grants_no_permit_of_a_semaphore_at_its_address",
            ),
            REUSED,
        ],
        edits: &[
            Edit {
                file: "sleep_table/mod.rs",
                old: "P::lock_name(word.cast()) | (kind as u64) << KIND_SHIFT",
                new: "P::lock_name(word.cast()) | (kind as u64 / 4) << KIND_SHIFT",
            },
            Edit {
                file: "semaphore.rs",
                old: "told::<P>(id) != GRANTED",
                new: "told::<P>(id) == crate::sleep_table::ASLEEP",
            },
        ],
    },
    Edited {
        row: "83",
        tests: &[
            Test::native(
                "reuse::a_handler_does_not_trust_an_entry_that_its_thread_has_not_confirmed",
            ),
            DISTURBED,
        ],
        edits: &[Edit {
            file: "percpu_rwlock/slot.rs",
            old: "entry.load(Relaxed) == name | CONFIRMED",
            new: "entry.load(Relaxed) & !CONFIRMED == name",
        }],
    },
    Edited {
        row: "84",
        tests: &[Test::native("limits::a_timed_wait_without_a_queue_node_times_out"), LIMITS],
        edits: &[Edit {
            file: "condvar.rs",
            old: "deadline_ns.is_none_or(|deadline_ns| P::now_ns() < deadline_ns)",
            new: "true",
        }],
    },
    Edited {
        row: "85",
        tests: &[
            Test::native("children::an_attempt_in_a_forked_child_gets_a_free_reader_writer_lock"),
            DISTURBED,
        ],
        edits: &[Edit {
            file: "rwlock/mod.rs",
            old: "self.shared().forget_the_gone()",
            new: "false",
        }],
    },
    Edited {
        row: "86",
        tests: &[Test::native("children::a_writer_in_a_child_sees_who_reads_in_a_slot")],
        edits: &[Edit {
            file: "native/reader_slots.rs",
            old: "LIFE.load(Relaxed)",
            new: "fork::epoch()",
        }],
    },
    Edited {
        row: "87",
        tests: &[Test::native("limits::locks_go_on_where_membarrier_is_refused_after_prepare")],
        edits: &[Edit { file: "native/barrier.rs", old: "!visit_all_cpus()", new: "true" }],
    },
];

/// An edit where it is in its file.
#[derive(Debug, PartialEq, Eq)]
pub struct Located {
    /// The number of its bug.
    pub number: usize,
    /// Its file, from the root of the repository.
    pub path: String,
    /// The characters of the file that are replaced.
    pub span: (usize, usize),
    /// What by.
    pub new: &'static str,
}

/// Where the edits are.
///
/// # Errors
/// If one does not fit exactly once.
pub fn locate(all: &[Source]) -> Result<Vec<Located>, String> {
    let edits = EDITED
        .iter()
        .enumerate()
        .flat_map(|(number, bug)| bug.edits.iter().map(move |edit| (number, bug.row, edit)));
    edits.map(|(number, row, edit)| locate_one(all, number, row, edit)).collect()
}

fn locate_one(all: &[Source], number: usize, row: &str, edit: &Edit) -> Result<Located, String> {
    let path = format!("{CRATE}{}", edit.file);
    let text = all.iter().find(|source| source.path == path).map_or("", |source| &source.text);
    let mut found = text.match_indices(edit.old);
    let (Some((at, _)), None) = (found.next(), found.next()) else {
        let count = text.matches(edit.old).count();
        return Err(format!("row {row}: {path} has `{}` {count} times, not once", edit.old));
    };
    let first = text[..at].chars().count();
    let span = (first, first + edit.old.chars().count());
    Ok(Located { number, path, span, new: edit.new })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_edit_fits_once_in_the_sources() {
        let located = locate(&crate::tidy::files::read_all(&crate::root()));
        assert!(located.is_ok_and(|located| located.len() > EDITED.len()));
    }

    #[test]
    fn an_edit_that_fits_twice_or_nowhere_is_named() {
        let edit = Edit { file: "a.rs", old: "one", new: "two" };
        let locate =
            |text: &str| locate_one(&[Source::new("crates/locks/src/a.rs", text)], 3, "80", &edit);
        let located = locate("ä; one").expect("once");
        assert_eq!((located.number, located.span), (3, (3, 6)));
        for (text, times) in [("two", 0), ("one one", 2)] {
            let message = locate(text).expect_err("not once");
            assert!(message.contains("row 80") && message.contains(&format!("{times} times")));
        }
    }
}
