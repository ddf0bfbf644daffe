//! Exclusion: one writer, or any number of readers.

use crate::report::FailureKind;

/// The threads that hold a lock.
#[derive(Default)]
pub struct Exclusion {
    writer: Option<usize>,
    readers: u32,
}

impl Exclusion {
    pub fn enter(&mut self, thread: usize) -> Result<(), FailureKind> {
        let other = self.writer.replace(thread);
        match other {
            None if self.readers == 0 => Ok(()),
            holder => Err(FailureKind::Exclusion { holder, readers: self.readers }),
        }
    }
    pub fn leave(&mut self, thread: usize) -> Result<(), FailureKind> {
        let holder = self.writer.take();
        if holder == Some(thread) { Ok(()) } else { Err(FailureKind::NotHeld { holder }) }
    }
    pub fn downgrade(&mut self, thread: usize) -> Result<(), FailureKind> {
        let left = self.leave(thread);
        left.and(self.enter_shared())
    }
    pub fn enter_shared(&mut self) -> Result<(), FailureKind> {
        self.readers += 1;
        match self.writer {
            None => Ok(()),
            holder => Err(FailureKind::Exclusion { holder, readers: self.readers - 1 }),
        }
    }
    pub fn leave_shared(&mut self) -> Result<(), FailureKind> {
        match self.readers.checked_sub(1) {
            Some(readers) => {
                self.readers = readers;
                Ok(())
            }
            None => Err(FailureKind::NotHeld { holder: self.writer }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_exclude_writers_and_not_each_other() {
        let mut lock = Exclusion::default();
        assert!(lock.enter_shared().is_ok());
        assert!(lock.enter_shared().is_ok());
        assert!(lock.enter(1).is_err());
        assert!(lock.leave(1).is_ok());
        assert!(lock.leave_shared().is_ok());
        assert!(lock.leave_shared().is_ok());
        assert!(lock.leave_shared().is_err());
        assert!(lock.enter(2).is_ok());
        assert!(lock.enter_shared().is_err());
        assert!(lock.leave(3).is_err());
    }

    #[test]
    fn an_owner_that_becomes_a_reader_lets_readers_in_and_no_writer() {
        let mut lock = Exclusion::default();
        assert!(lock.enter(1).is_ok());
        assert!(lock.downgrade(1).is_ok());
        assert!(lock.enter_shared().is_ok());
        assert!(lock.enter(2).is_err());
        assert!(lock.leave(2).is_ok());
        assert!(lock.leave_shared().is_ok());
        assert!(lock.leave_shared().is_ok());
        assert!(lock.downgrade(1).is_err());
    }
}
