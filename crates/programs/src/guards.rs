//! The guards of the public interface, as one type.

use crate::locks::{MutexKind, RwKind, UpgradeKind};
use crate::program::Act;
use crate::resilient::HeldResilient;
use crate::watched::WatchedCondvar;
use crate::world::{Data, TwoNumbers, World, change, look};
use lock_api::{
    MappedMutexGuard, MappedReentrantMutexGuard, MappedRwLockReadGuard, MappedRwLockWriteGuard,
    MutexGuard, ReentrantMutexGuard, RwLockReadGuard, RwLockUpgradableReadGuard, RwLockWriteGuard,
};
use lockwright::api::ThreadNumber;
use lockwright::mutex::RawMutex;
use lockwright_catalog::registry::Platform;
use std::cell::RefCell;

pub type Guard<'a, P> = Box<dyn Held<'a, P> + 'a>;
pub type SentGuard<'a, P> = Box<dyn Held<'a, P> + Send + 'a>;

/// What an act leaves.
pub enum ActResult<'a, P: World> {
    Held(Guard<'a, P>),
    /// A wait came to its end. True if by its deadline.
    Waited(Guard<'a, P>, bool),
    /// `with_upgraded` has come to its end. True if the guard was upgraded for it.
    Upgraded(Guard<'a, P>, bool, Result<(), String>),
    Gone,
}

/// A guard of any lock.
pub trait Held<'a, P: World> {
    fn is_shared(&self) -> bool {
        false
    }
    /// True for the reader that may become the writer.
    fn is_upgradable(&self) -> bool {
        false
    }
    /// True if the owner may have another one.
    fn is_reentrant(&self) -> bool {
        false
    }
    fn permits(&self) -> u32 {
        0
    }
    /// Reads what it guards, and writes it if that is allowed.
    fn touch(&mut self) -> Result<(), String>;
    /// Does what the guard can do; dropping, forgetting and sending are not for it.
    fn act(
        self: Box<Self>,
        act: Act,
        condvar: &WatchedCondvar<P>,
        phase: usize,
    ) -> ActResult<'a, P>;
    fn send(self: Box<Self>) -> Option<SentGuard<'a, P>>;
    fn forget(self: Box<Self>);
}

pub struct Exclusive<'a, R: lock_api::RawMutex>(pub MutexGuard<'a, R, Data>);
pub struct ExclusivePart<'a, R: lock_api::RawMutex>(pub MappedMutexGuard<'a, R, TwoNumbers>);
pub struct Write<'a, R: lock_api::RawRwLock>(pub RwLockWriteGuard<'a, R, Data>);
pub struct WritePart<'a, R: lock_api::RawRwLock>(pub MappedRwLockWriteGuard<'a, R, TwoNumbers>);
pub struct Read<'a, R: lock_api::RawRwLock>(pub RwLockReadGuard<'a, R, Data>);
pub struct Upgradable<'a, R: lock_api::RawRwLockUpgrade>(
    pub RwLockUpgradableReadGuard<'a, R, Data>,
);
pub struct ReadPart<'a, R: lock_api::RawRwLock>(pub MappedRwLockReadGuard<'a, R, TwoNumbers>);
pub struct HeldAgain<'a, P: World>(
    pub ReentrantMutexGuard<'a, RawMutex<P>, ThreadNumber<P>, RefCell<Data>>,
);
pub struct HeldAgainPart<'a, P: World>(
    pub MappedReentrantMutexGuard<'a, RawMutex<P>, ThreadNumber<P>, RefCell<Data>>,
);
pub struct HeldPermits<'a, P: Platform>(pub lockwright::SemaphorePermit<'a, P>);

fn held<'a, P: World>(guard: impl Held<'a, P> + 'a) -> ActResult<'a, P> {
    ActResult::Held(Box::new(guard))
}

/// Makes [`Held`] of guards of `lock_api`. `$place` is what the guard is mapped to; `$others` are the acts apart from
/// `map` and `try_map`.
macro_rules! guards {
    ($($held:ident<$kind:ident> by $raw:ident is $is_shared:literal, $send:ident;
       $touch:ident |$data:ident| $place:expr => $part:ident;
       |$guard:ident, $act:ident, $condvar:ident, $phase:ident| $others:expr;)+) => {$(
        impl<'a, P: World, R: $kind<P>> Held<'a, P> for $held<'a, R> {
            fn is_shared(&self) -> bool {
                $is_shared
            }
            fn touch(&mut self) -> Result<(), String> {
                let $data = &mut self.0;
                $touch::<P>($place)
            }
            fn act(
                self: Box<Self>,
                $act: Act,
                $condvar: &WatchedCondvar<P>,
                $phase: usize,
            ) -> ActResult<'a, P> {
                let $guard = self.0;
                match $act {
                    Act::Map => held($part($raw::map($guard, |$data| $place))),
                    Act::TryMap(finds) => {
                        match $raw::try_map($guard, |$data| finds.then_some($place)) {
                            Ok(part) => held($part(part)),
                            Err(guard) => held(Self(guard)),
                        }
                    }
                    _ => $others,
                }
            }
            fn send(self: Box<Self>) -> Option<SentGuard<'a, P>> {
                R::$send(self.0)
            }
            fn forget(self: Box<Self>) {
                std::mem::forget(self.0);
            }
        }
    )+};
}
guards! {
    Exclusive<MutexKind> by MutexGuard is false, send;
    change |data| &mut data.pair => ExclusivePart;
    |guard, act, condvar, phase| {
        let mut guard = guard;
        match act {
            Act::Leak => {
                MutexGuard::leak(guard).pair[0] += 0;
                return ActResult::Gone;
            }
            Act::UnlockFair => {
                R::unlock_fair(guard);
                return ActResult::Gone;
            }
            Act::Unlocked => MutexGuard::unlocked(&mut guard, P::pause),
            Act::UnlockedFair => R::unlocked_fair(&mut guard),
            Act::Bump => R::bump(&mut guard),
            _ => {
                let is_late = R::wait(&mut guard, act, condvar, phase);
                return ActResult::Waited(Box::new(Self(guard)), is_late);
            }
        }
        held(Self(guard))
    };
    ExclusivePart<MutexKind> by MappedMutexGuard is false, send_part;
    change |pair| pair => Self;
    |guard, act, _condvar, _phase| {
        if act == Act::UnlockFair {
            R::unlock_part_fair(guard);
            return ActResult::Gone;
        }
        held(Self(guard))
    };
    Write<RwKind> by RwLockWriteGuard is false, send;
    change |data| &mut data.pair => WritePart;
    |guard, act, _condvar, _phase| {
        let mut guard = guard;
        match act {
            Act::Downgrade => return held(Read(RwLockWriteGuard::downgrade(guard))),
            Act::DowngradeToUpgradable => return ActResult::Held(R::downgrade_to_upgradable(guard)),
            Act::Unlocked => RwLockWriteGuard::unlocked(&mut guard, P::pause),
            _ => {}
        }
        held(Self(guard))
    };
    WritePart<RwKind> by MappedRwLockWriteGuard is false, send_part;
    change |pair| pair => Self;
    |guard, act, _condvar, _phase| held(Self(guard));
    Read<RwKind> by RwLockReadGuard is true, send_read;
    look |data| &data.pair => ReadPart;
    |guard, act, _condvar, _phase| held(Self(guard));
    ReadPart<RwKind> by MappedRwLockReadGuard is true, send_read_part;
    look |pair| pair => Self;
    |guard, act, _condvar, _phase| held(Self(guard));
}

impl<'a, P: World> Held<'a, P> for HeldPermits<'a, P> {
    fn permits(&self) -> u32 {
        self.0.permits()
    }
    fn touch(&mut self) -> Result<(), String> {
        P::pause();
        Ok(())
    }
    fn act(self: Box<Self>, _: Act, _: &WatchedCondvar<P>, _: usize) -> ActResult<'a, P> {
        held(*self)
    }
    fn send(self: Box<Self>) -> Option<SentGuard<'a, P>> {
        Some(Box::new(*self))
    }
    fn forget(self: Box<Self>) {
        self.0.forget();
    }
}

impl<'a, P: World> Held<'a, P> for HeldResilient<'a, P> {
    fn touch(&mut self) -> Result<(), String> {
        Self::touch(self)
    }
    fn act(self: Box<Self>, _: Act, _: &WatchedCondvar<P>, _: usize) -> ActResult<'a, P> {
        ActResult::Held(self)
    }
    fn send(self: Box<Self>) -> Option<SentGuard<'a, P>> {
        None
    }
    fn forget(self: Box<Self>) {
        std::mem::forget(*self);
    }
}

impl<'a, P: World> Held<'a, P> for HeldAgain<'a, P> {
    fn is_reentrant(&self) -> bool {
        true
    }
    fn touch(&mut self) -> Result<(), String> {
        change::<P>(&mut self.0.borrow_mut().pair)
    }
    fn act(self: Box<Self>, act: Act, _: &WatchedCondvar<P>, _: usize) -> ActResult<'a, P> {
        use ReentrantMutexGuard as Of;
        let mut guard = self.0;
        match act {
            Act::Map => return held(HeldAgainPart(Of::map(guard, |data| data))),
            Act::TryMap(finds) => {
                return match Of::try_map(guard, |data| finds.then_some(data)) {
                    Ok(part) => held(HeldAgainPart(part)),
                    Err(guard) => held(Self(guard)),
                };
            }
            Act::UnlockFair => {
                Of::unlock_fair(guard);
                return ActResult::Gone;
            }
            Act::Unlocked => Of::unlocked(&mut guard, P::pause),
            Act::UnlockedFair => Of::unlocked_fair(&mut guard, P::pause),
            Act::Bump => Of::bump(&mut guard),
            _ => {}
        }
        held(Self(guard))
    }
    fn send(self: Box<Self>) -> Option<SentGuard<'a, P>> {
        None
    }
    fn forget(self: Box<Self>) {
        std::mem::forget(self.0);
    }
}

impl<'a, P: World> Held<'a, P> for HeldAgainPart<'a, P> {
    fn is_reentrant(&self) -> bool {
        true
    }
    fn touch(&mut self) -> Result<(), String> {
        change::<P>(&mut self.0.borrow_mut().pair)
    }
    fn act(self: Box<Self>, act: Act, _: &WatchedCondvar<P>, _: usize) -> ActResult<'a, P> {
        if act == Act::UnlockFair {
            MappedReentrantMutexGuard::unlock_fair(self.0);
            return ActResult::Gone;
        }
        held(*self)
    }
    fn send(self: Box<Self>) -> Option<SentGuard<'a, P>> {
        None
    }
    fn forget(self: Box<Self>) {
        std::mem::forget(self.0);
    }
}

impl<'a, P: World, R: UpgradeKind<P>> Held<'a, P> for Upgradable<'a, R> {
    fn is_shared(&self) -> bool {
        true
    }
    fn is_upgradable(&self) -> bool {
        true
    }
    fn touch(&mut self) -> Result<(), String> {
        look::<P>(&self.0.pair)
    }
    fn act(self: Box<Self>, act: Act, _: &WatchedCondvar<P>, _: usize) -> ActResult<'a, P> {
        let mut guard = self.0;
        match act {
            Act::Downgrade => return held(Read(RwLockUpgradableReadGuard::downgrade(guard))),
            Act::Upgrade(wait) => {
                return match R::upgraded(guard, wait) {
                    Ok(guard) => held(Write(guard)),
                    Err(guard) => held(Self(guard)),
                };
            }
            Act::WithUpgraded(wait) => {
                let outcome =
                    R::with_upgraded(&mut guard, wait, |data| change::<P>(&mut data.pair));
                let is_upgraded = outcome.is_some();
                return ActResult::Upgraded(
                    Box::new(Self(guard)),
                    is_upgraded,
                    outcome.unwrap_or(Ok(())),
                );
            }
            Act::Unlocked => RwLockUpgradableReadGuard::unlocked(&mut guard, P::pause),
            _ => {}
        }
        held(Self(guard))
    }
    fn send(self: Box<Self>) -> Option<SentGuard<'a, P>> {
        R::send_upgradable(self.0)
    }
    fn forget(self: Box<Self>) {
        std::mem::forget(self.0);
    }
}
