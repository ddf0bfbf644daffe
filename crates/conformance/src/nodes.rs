//! Laws N: queue nodes.

use super::note::{alone, nothing_more};
use crate::platform::{CommonPlatform, Threads};
use core::marker::PhantomData;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use lockwright_core::platform::{Atomic, Guarded, Zeroed};
use lockwright_core::queue::{NODES_MAX, NodeId, TailCode};

/// A claimed node that is released at the end of a scope.
struct Claimed<P: CommonPlatform>(NodeId, PhantomData<fn() -> P>);

impl<P: CommonPlatform> Claimed<P> {
    fn new() -> Option<Self> {
        P::claim_node().map(|id| Self(id, PhantomData))
    }
    fn first() -> Self {
        Self::new().expect("a thread without nodes finds none")
    }
}

impl<P: CommonPlatform> Drop for Claimed<P> {
    fn drop(&mut self) {
        // SAFETY: claimed in `new` and shown to no thread.
        unsafe { P::release_node(self.0) };
    }
}

pub fn claimed_nodes_are_distinct<P: CommonPlatform, T: Threads>(threads: &T) {
    alone(threads, (), |()| {
        let first = Claimed::<P>::first();
        let second = Claimed::<P>::new().expect("a thread can use fewer than two nodes");
        assert_ne!(first.0, second.0);
        assert_ne!(P::node(first.0), P::node(second.0));
    });
}

pub fn threads_claim_different_nodes<P: CommonPlatform, T: Threads>(threads: &T) {
    /// A cell for each thread, to tell the other its node and to wait until it has been told.
    struct State<P: CommonPlatform>([P::U32; 2]);
    fn body<P: CommonPlatform>(state: &State<P>, me: usize) {
        let node = Claimed::<P>::first();
        let mine = u32::from(node.0.code().bits());
        state.0[me].store(mine, Release);
        // Both nodes are claimed at this moment.
        let other = state.0[1 - me].cond_load(Acquire, |code| code != 0);
        assert_ne!(other, mine, "two threads have the same node");
    }
    let bodies: [fn(&State<P>); 2] = [|state| body(state, 0), |state| body(state, 1)];
    threads.run(State([P::U32::zeroed(), P::U32::zeroed()]), &bodies, nothing_more);
}

pub fn the_storage_of_a_node_stays_where_it_is<P: CommonPlatform, T: Threads>(threads: &T) {
    alone(threads, (), |()| {
        let node = Claimed::<P>::first();
        let (id, place) = (node.0, P::node(node.0));
        drop(node);
        assert_eq!(P::node(id), place, "the storage of a node has moved");
        assert!(place.is_aligned());
    });
}

pub fn claiming_ends_in_none<P: CommonPlatform, T: Threads>(threads: &T) {
    /// Claims what is left, each within the one before, twice.
    fn claim<P: CommonPlatform>(left: usize) {
        if left == 0 {
            assert!(Claimed::<P>::new().is_none(), "more nodes than there are");
            return;
        }
        for _ in 0..2 {
            let node = Claimed::<P>::new();
            assert!(node.is_some(), "fewer nodes than the platform promises");
            claim::<P>(left - 1);
        }
    }
    if let Some(limit) = threads.node_limit() {
        threads.run(limit, &[|limit| claim::<P>(*limit)], nothing_more);
    }
}

pub fn a_release_makes_a_node_claimable<P: CommonPlatform, T: Threads>(threads: &T) {
    const LIMIT_MAX: usize = 8;
    fn body<P: CommonPlatform>(limit: &usize) {
        let mut nodes: [_; LIMIT_MAX] =
            core::array::from_fn(|at| (at < *limit).then(Claimed::<P>::first));
        for node in &mut nodes[..*limit] {
            assert!(Claimed::<P>::new().is_none(), "more nodes than there are");
            drop(node.take());
            *node = Claimed::new();
            assert!(node.is_some(), "a released node cannot be claimed");
        }
    }
    if let Some(limit) = threads.node_limit() {
        assert!(limit <= LIMIT_MAX, "{limit} nodes are more than this law can try");
        threads.run(limit, &[body::<P>], nothing_more);
    }
}

pub fn a_node_given_back_by_another_thread_is_ordered<P: CommonPlatform, T: Threads>(threads: &T) {
    /// The name of a node on its way to the other thread, and something that belongs to the thread that has this node.
    struct State<P: CommonPlatform> {
        code: P::U32,
        owned: Guarded<P, u32>,
    }
    fn claims<P: CommonPlatform>(state: &State<P>) {
        let id = P::claim_node().expect("a thread without nodes finds none");
        state.code.store(u32::from(id.code().bits()), Release);
        // Which node this is depends on whether the other thread has been there.
        let again = Claimed::<P>::new().expect("a thread can use fewer than two nodes");
        if again.0 == id {
            // SAFETY: the node is ours again, so the other thread has finished with it.
            assert_eq!(unsafe { state.owned.get() }, 1);
        }
    }
    fn gives_back<P: CommonPlatform>(state: &State<P>) {
        let code = state.code.cond_load(Acquire, |code| code != 0);
        // SAFETY: the node is ours now, and with it the field.
        unsafe { state.owned.set(1) };
        let id = TailCode::from_bits(code as u16).node().expect("not a node");
        // SAFETY: the thread that claimed it left it to us.
        unsafe { P::release_node(id) };
    }
    let state = State::<P> { code: Zeroed::zeroed(), owned: Guarded::new(0) };
    threads.run(state, &[claims, gives_back], nothing_more);
}

pub fn a_node_has_a_name_in_a_lock_word<P: CommonPlatform, T: Threads>(threads: &T) {
    alone(threads, P::Word::zeroed(), |word| {
        let node = Claimed::<P>::first();
        let (id, code) = (node.0, node.0.code());
        assert!(usize::from(id.number()) < NODES_MAX);
        assert_ne!(code, TailCode::NONE);
        assert_eq!(TailCode::from_bits(code.bits()).node(), Some(id));
        word.store(u32::from(code.bits()) << 16, Relaxed);
        assert_eq!(TailCode::from_bits((word.load(Relaxed) >> 16) as u16).node(), Some(id));
    });
}

pub fn claims_that_interrupt_each_other_nest<P: CommonPlatform, T: Threads>(threads: &T) {
    /// What an interrupt does while a slow path has `outer`: its own slow paths, one after the other.
    fn interrupt<P: CommonPlatform>(outer: NodeId) {
        for _ in 0..2 {
            let inner = Claimed::<P>::first();
            assert_ne!(inner.0, outer, "an interrupt got the node of what it interrupted");
            assert_ne!(P::node(inner.0), P::node(outer));
            let levels = (P::nesting_of(outer), P::nesting_of(inner.0));
            assert!(levels.1 == levels.0 + 1 || levels == (0, 0), "levels {levels:?}");
        }
    }
    alone(threads, (), |()| {
        for _ in 0..2 {
            let outer = Claimed::<P>::first();
            assert_eq!(P::nesting_of(outer.0), 0, "a node was not given back");
            interrupt::<P>(outer.0);
        }
    });
}
