//! What is asked for, and which locks can be asked for.

use crate::options::not_an_option;
use crate::output::Place;
use lockwright_catalog::capabilities::SlowpathLock;
use lockwright_catalog::registry::{
    self, LOCKS, LockClass, LockRow, RwSemVisitor, SlowpathVisitor, SpinVisitor, visit_kernel_word,
    visit_pooled, visit_rwsem, visit_spinning,
};
use lockwright_core::native::Native;
use lockwright_core::raw::RawLock;
use lockwright_linux::rwsem::RwSemPolicy;

/// As they stand in the help.
pub const OPTIONS: &str = "[--quick] [--replace LOCK] [--kernel RELEASE] [--json FILE]";

/// What is asked for.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// The part of continuous integration.
    pub quick: bool,
    /// The one lock that replaces the slow path, as the registry calls it.
    pub replace: Option<&'static str>,
    /// The kernel to boot; the newest if none is named.
    pub kernel: Option<String>,
    pub json: Place,
}

impl Request {
    /// Reads the arguments behind `kernel`.
    pub fn of(arguments: &[&str]) -> Result<Self, String> {
        let mut request = Self::default();
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            match *argument {
                "--quick" => request.quick = true,
                "--replace" => {
                    let name = arguments.next().copied().unwrap_or_default();
                    request.replace = Some(replaces(name)?);
                }
                "--kernel" => {
                    let complaint = "`--kernel` needs a release, such as 6.1.0-56-cloud-amd64";
                    request.kernel = Some(arguments.next().ok_or(complaint)?.to_string());
                }
                "--json" => {
                    let complaint = "`--json` needs a file, or `-` for standard output";
                    request.json = Some(arguments.next().ok_or(complaint)?.to_string());
                }
                other => return Err(not_an_option(other, OPTIONS)),
            }
        }
        Ok(request)
    }
}

struct Is;
impl SpinVisitor for Is {
    type Output = ();
    fn visit<L: RawLock>(self) {}
}
impl SlowpathVisitor for Is {
    type Output = ();
    fn visit<L: SlowpathLock>(self) {}
}
impl RwSemVisitor for Is {
    type Output = ();
    fn visit<C: RwSemPolicy>(self) {}
}

/// The name of a lock that can replace the slow path.
fn replaces(name: &str) -> Result<&'static str, String> {
    let can = |row: &&LockRow| visit_kernel_word::<Native, _>(row, Is).is_some();
    registry::find(name).filter(can).map(|row| row.name).ok_or_else(|| {
        let names: Vec<_> = LOCKS.iter().filter(can).map(|row| row.name).collect();
        format!("`--replace` needs a lock with the kernel's lock word: {}", names.join(", "))
    })
}

/// The locks that only spin, without the broken ones.
pub fn spinning() -> Vec<&'static str> {
    sound(|row| {
        let spins = visit_spinning::<Native, _>(row, Is).is_some();
        spins || visit_pooled::<Native, _>(row, Is).is_some()
    })
}

/// The semaphores, without the broken ones.
pub fn semaphores() -> Vec<&'static str> {
    sound(|row| visit_rwsem(row, Is).is_some())
}

fn sound(is_meant: impl Fn(&LockRow) -> bool) -> Vec<&'static str> {
    let rows = LOCKS.iter().filter(|row| row.class != LockClass::Busted && is_meant(row));
    rows.map(|row| row.name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_asked_for_by_any_of_its_names_and_needs_the_kernels_word() {
        let request = Request::of(&["--quick", "--replace", "fifo"]).expect("a lock");
        assert_eq!((request.quick, request.replace), (true, Some("qspinlock")));
        for wrong in ["ticket", "mutex", "no-such-lock", ""] {
            let answer = Request::of(&["--replace", wrong]);
            assert!(answer.is_err_and(|it| it.contains("qspinlock, cna,")), "{wrong}");
        }
        assert!(Request::of(&["--fast"]).is_err_and(|it| it.contains(OPTIONS)));
    }

    #[test]
    fn kernel_code_can_take_the_locks_that_only_spin_and_the_semaphores() {
        let names = spinning();
        assert!(
            ["qspinlock", "cna-v15", "hq", "mcs", "clh", "resilient"]
                .iter()
                .all(|it| names.contains(it))
        );
        assert!(!["mutex", "busted", "hybrid"].iter().any(|it| names.contains(it)));
        let names = semaphores();
        assert!(["rwsem-current", "rwsem-v3_12_wake_flag"].iter().all(|it| names.contains(it)));
        assert!(!["rwlock", "rwsem-v3_12_wake_flag_as_posted"].iter().any(|it| names.contains(it)));
    }
}
