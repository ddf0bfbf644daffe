//! The guards of the public interface, as one type.

use crate::locks::{MutexKind, RwKind, World};
use crate::program::Act;
use lock_api::{
    MappedMutexGuard, MappedRwLockReadGuard, MappedRwLockWriteGuard, MutexGuard, RwLockReadGuard,
    RwLockWriteGuard,
};
use lockwright::registry::Platform;

/// What a lock guards.
#[derive(Debug, Default)]
pub struct Data {
    /// Equal unless a thread is writing.
    pair: TwoNumbers,
    /// Thread 0 has done its part of as many phases.
    pub phases: usize,
}
pub type TwoNumbers = [u64; 2];

/// Looks at two numbers, with a pause in between.
fn look<P: World>(pair: &TwoNumbers) -> Result<(), String> {
    let [one, other] = *pair;
    P::pause();
    if one == other && pair[0] == one {
        return Ok(());
    }
    Err(format!("a reader sees {one} and {other} where writers leave equal numbers"))
}
fn change<P: World>(pair: &mut TwoNumbers) -> Result<(), String> {
    let [one, other] = *pair;
    if one != other {
        return Err(format!("a writer finds {one} and {other} where writers leave equal numbers"));
    }
    pair[0] += 1;
    P::pause();
    pair[1] += 1;
    Ok(())
}

pub type Guard<'a, P> = Box<dyn Held<'a, P> + 'a>;
pub type SentGuard<'a, P> = Box<dyn Held<'a, P> + Send + 'a>;

/// What an act leaves.
pub enum ActResult<'a, P: World> {
    Held(Guard<'a, P>),
    /// A wait came to its end. True if by its deadline.
    Waited(Guard<'a, P>, bool),
    Gone,
}

/// A guard of any lock.
pub trait Held<'a, P: World> {
    fn is_shared(&self) -> bool {
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
        condvar: &lockwright::Condvar<P>,
        phase: usize,
    ) -> ActResult<'a, P>;
    fn send(self: Box<Self>) -> Option<SentGuard<'a, P>>;
    fn forget(self: Box<Self>);
}

/// The pair, as far as the closure of `try_map` finds something.
fn part(data: &mut Data, finds: bool) -> Option<&mut TwoNumbers> {
    finds.then_some(&mut data.pair)
}
fn read_part(data: &Data, finds: bool) -> Option<&TwoNumbers> {
    finds.then_some(&data.pair)
}

pub struct Exclusive<'a, R: lock_api::RawMutex>(pub MutexGuard<'a, R, Data>);
pub struct ExclusivePart<'a, R: lock_api::RawMutex>(pub MappedMutexGuard<'a, R, TwoNumbers>);
pub struct Write<'a, R: lock_api::RawRwLock>(pub RwLockWriteGuard<'a, R, Data>);
pub struct WritePart<'a, R: lock_api::RawRwLock>(pub MappedRwLockWriteGuard<'a, R, TwoNumbers>);
pub struct Read<'a, R: lock_api::RawRwLock>(pub RwLockReadGuard<'a, R, Data>);
pub struct ReadPart<'a, R: lock_api::RawRwLock>(pub MappedRwLockReadGuard<'a, R, TwoNumbers>);
pub struct HeldPermits<'a, P: Platform>(pub lockwright::SemaphorePermit<'a, P>);

fn held<'a, P: World>(guard: impl Held<'a, P> + 'a) -> ActResult<'a, P> {
    ActResult::Held(Box::new(guard))
}

impl<'a, P: World, R: MutexKind<P>> Held<'a, P> for Exclusive<'a, R> {
    fn touch(&mut self) -> Result<(), String> {
        change::<P>(&mut self.0.pair)
    }
    fn act(
        self: Box<Self>,
        act: Act,
        condvar: &lockwright::Condvar<P>,
        phase: usize,
    ) -> ActResult<'a, P> {
        let mut guard = self.0;
        match act {
            Act::Map => {
                return held(ExclusivePart(MutexGuard::map(guard, |data| &mut data.pair)));
            }
            Act::TryMap(finds) => {
                return match MutexGuard::try_map(guard, |data| part(data, finds)) {
                    Ok(part) => held(ExclusivePart(part)),
                    Err(guard) => held(Self(guard)),
                };
            }
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
    }
    fn send(self: Box<Self>) -> Option<SentGuard<'a, P>> {
        R::send(self.0)
    }
    fn forget(self: Box<Self>) {
        std::mem::forget(self.0);
    }
}

impl<'a, P: World, R: MutexKind<P>> Held<'a, P> for ExclusivePart<'a, R> {
    fn touch(&mut self) -> Result<(), String> {
        change::<P>(&mut self.0)
    }
    fn act(self: Box<Self>, act: Act, _: &lockwright::Condvar<P>, _: usize) -> ActResult<'a, P> {
        let guard = self.0;
        match act {
            Act::Map => held(Self(MappedMutexGuard::map(guard, |pair| pair))),
            Act::TryMap(finds) => {
                match MappedMutexGuard::try_map(guard, |pair| finds.then_some(pair)) {
                    Ok(guard) | Err(guard) => held(Self(guard)),
                }
            }
            Act::UnlockFair => {
                R::unlock_part_fair(guard);
                ActResult::Gone
            }
            _ => held(Self(guard)),
        }
    }
    fn send(self: Box<Self>) -> Option<SentGuard<'a, P>> {
        R::send_part(self.0)
    }
    fn forget(self: Box<Self>) {
        std::mem::forget(self.0);
    }
}

impl<'a, P: World, R: RwKind<P>> Held<'a, P> for Write<'a, R> {
    fn touch(&mut self) -> Result<(), String> {
        change::<P>(&mut self.0.pair)
    }
    fn act(self: Box<Self>, act: Act, _: &lockwright::Condvar<P>, _: usize) -> ActResult<'a, P> {
        let mut guard = self.0;
        match act {
            Act::Map => held(WritePart(RwLockWriteGuard::map(guard, |data| &mut data.pair))),
            Act::TryMap(finds) => {
                match RwLockWriteGuard::try_map(guard, |data| part(data, finds)) {
                    Ok(part) => held(WritePart(part)),
                    Err(guard) => held(Self(guard)),
                }
            }
            Act::Downgrade => held(Read(RwLockWriteGuard::downgrade(guard))),
            Act::Unlocked => {
                RwLockWriteGuard::unlocked(&mut guard, P::pause);
                held(Self(guard))
            }
            _ => held(Self(guard)),
        }
    }
    fn send(self: Box<Self>) -> Option<SentGuard<'a, P>> {
        R::send(self.0)
    }
    fn forget(self: Box<Self>) {
        std::mem::forget(self.0);
    }
}

impl<'a, P: World, R: RwKind<P>> Held<'a, P> for WritePart<'a, R> {
    fn touch(&mut self) -> Result<(), String> {
        change::<P>(&mut self.0)
    }
    fn act(self: Box<Self>, act: Act, _: &lockwright::Condvar<P>, _: usize) -> ActResult<'a, P> {
        let guard = self.0;
        match act {
            Act::Map => held(Self(MappedRwLockWriteGuard::map(guard, |pair| pair))),
            Act::TryMap(finds) => {
                match MappedRwLockWriteGuard::try_map(guard, |pair| finds.then_some(pair)) {
                    Ok(guard) | Err(guard) => held(Self(guard)),
                }
            }
            _ => held(Self(guard)),
        }
    }
    fn send(self: Box<Self>) -> Option<SentGuard<'a, P>> {
        R::send_part(self.0)
    }
    fn forget(self: Box<Self>) {
        std::mem::forget(self.0);
    }
}

impl<'a, P: World, R: RwKind<P>> Held<'a, P> for Read<'a, R> {
    fn is_shared(&self) -> bool {
        true
    }
    fn touch(&mut self) -> Result<(), String> {
        look::<P>(&self.0.pair)
    }
    fn act(self: Box<Self>, act: Act, _: &lockwright::Condvar<P>, _: usize) -> ActResult<'a, P> {
        let guard = self.0;
        match act {
            Act::Map => held(ReadPart(RwLockReadGuard::map(guard, |data| &data.pair))),
            Act::TryMap(finds) => {
                match RwLockReadGuard::try_map(guard, |data| read_part(data, finds)) {
                    Ok(part) => held(ReadPart(part)),
                    Err(guard) => held(Self(guard)),
                }
            }
            _ => held(Self(guard)),
        }
    }
    fn send(self: Box<Self>) -> Option<SentGuard<'a, P>> {
        R::send_read(self.0)
    }
    fn forget(self: Box<Self>) {
        std::mem::forget(self.0);
    }
}

impl<'a, P: World, R: RwKind<P>> Held<'a, P> for ReadPart<'a, R> {
    fn is_shared(&self) -> bool {
        true
    }
    fn touch(&mut self) -> Result<(), String> {
        look::<P>(&self.0)
    }
    fn act(self: Box<Self>, act: Act, _: &lockwright::Condvar<P>, _: usize) -> ActResult<'a, P> {
        let guard = self.0;
        match act {
            Act::Map => held(Self(MappedRwLockReadGuard::map(guard, |pair| pair))),
            Act::TryMap(finds) => {
                match MappedRwLockReadGuard::try_map(guard, |pair| finds.then_some(pair)) {
                    Ok(guard) | Err(guard) => held(Self(guard)),
                }
            }
            _ => held(Self(guard)),
        }
    }
    fn send(self: Box<Self>) -> Option<SentGuard<'a, P>> {
        R::send_read_part(self.0)
    }
    fn forget(self: Box<Self>) {
        std::mem::forget(self.0);
    }
}

impl<'a, P: World> Held<'a, P> for HeldPermits<'a, P> {
    fn permits(&self) -> u32 {
        self.0.permits()
    }
    fn touch(&mut self) -> Result<(), String> {
        P::pause();
        Ok(())
    }
    fn act(self: Box<Self>, _: Act, _: &lockwright::Condvar<P>, _: usize) -> ActResult<'a, P> {
        held(*self)
    }
    fn send(self: Box<Self>) -> Option<SentGuard<'a, P>> {
        Some(Box::new(*self))
    }
    fn forget(self: Box<Self>) {
        self.0.forget();
    }
}
