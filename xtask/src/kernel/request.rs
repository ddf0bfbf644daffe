//! What is asked for, and which locks can be asked for.

use clap::Parser;
use lockwright_catalog::capabilities::SlowpathLock;
use lockwright_catalog::registry::{
    self, LOCKS, LockRow, RwSemVisitor, SlowpathVisitor, SpinVisitor, visit_kernel_word,
    visit_pooled, visit_rwsem, visit_spinning,
};
use lockwright_core::native::Native;
use lockwright_core::raw::RawLock;
use lockwright_linux::rwsem::RwSemPolicy;

/// Torture the locks in Debian's kernel, and take over its spinlocks.
///
/// Builds the locks as a module, boots the kernel in an emulator, tortures the locks there, and lets them take over all
/// of its spinlocks while it runs, and give them back. Says which packages of Debian are missing.
#[derive(Default, Parser)]
pub struct Request {
    /// Run the part of ci.
    #[arg(long)]
    pub quick: bool,
    /// The one lock that takes over.
    #[arg(long, value_name = "LOCK", value_parser = replaces)]
    pub replace: Option<&'static str>,
    /// The release of the kernel, such as 6.1.0-56-cloud-amd64. Without it, the newest that is installed.
    #[arg(long, value_name = "RELEASE")]
    pub kernel: Option<String>,
    /// Write a document to this file, or to standard output for `-`.
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
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
        format!("give a lock with the kernel's lock word: {}", names.join(", "))
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
    let rows = LOCKS.iter().filter(|row| row.is_correct() && is_meant(row));
    rows.map(|row| row.name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_asked_for_by_any_of_its_names_and_needs_the_kernels_word() {
        let words = ["kernel", "--quick", "--replace", "fifo"];
        let request = Request::try_parse_from(words).expect("a lock");
        assert_eq!((request.quick, request.replace), (true, Some("qspinlock")));
        for wrong in ["ticket", "mutex", "no-such-lock", ""] {
            assert!(replaces(wrong).is_err_and(|it| it.contains("qspinlock, cna,")), "{wrong}");
        }
    }

    #[test]
    fn kernel_code_can_take_the_locks_that_only_spin_and_the_semaphores() {
        let names = spinning();
        let some = ["qspinlock", "cna-v15", "hq", "mcs", "clh", "resilient"];
        assert!(some.iter().all(|it| names.contains(it)));
        assert!(!["mutex", "busted", "hybrid"].iter().any(|it| names.contains(it)));
        let names = semaphores();
        assert!(["rwsem-current", "rwsem-v3_12_wake_flag"].iter().all(|it| names.contains(it)));
        assert!(!["rwlock", "rwsem-v3_12_wake_flag_as_posted"].iter().any(|it| names.contains(it)));
    }
}
