//! Laws N: queue nodes.

use super::run_two;
use crate::Threads;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use lockwright::node::{NODES_MAX, NodeId, TailCode};
use lockwright::platform::{Atomic, Guarded, Platform, Zeroed};

/// A claimed node that is released at the end of a scope.
struct Claimed<P: Platform>(NodeId, core::marker::PhantomData<fn() -> P>);

impl<P: Platform> Claimed<P> {
    fn new() -> Option<Self> {
        P::claim_node().map(|id| Self(id, core::marker::PhantomData))
    }
}

impl<P: Platform> Drop for Claimed<P> {
    fn drop(&mut self) {
        // SAFETY: claimed in `new` and shown to nobody.
        unsafe { P::release_node(self.0) };
    }
}

pub fn claimed_nodes_are_distinct<P: Platform>(_: &dyn Threads) {
    let nodes: Vec<_> = (0..2).map_while(|_| Claimed::<P>::new()).collect();
    assert_eq!(nodes.len(), 2, "a thread can use fewer than two nodes");
    assert_ne!(nodes[0].0, nodes[1].0);
    assert_ne!(P::node(nodes[0].0), P::node(nodes[1].0));
}

pub fn threads_claim_different_nodes<P: Platform>(threads: &dyn Threads) {
    /// A cell for each thread, to tell the other its node and to wait until it has been told.
    struct State<P: Platform>([P::U32; 2]);
    fn body<P: Platform>(state: &State<P>, me: usize) {
        let node = Claimed::<P>::new().expect("a thread without nodes finds none");
        state.0[me].store(u32::from(node.0.code().bits()), Release);
        // Both nodes are claimed at this moment.
        let other = state.0[1 - me].cond_load(Acquire, |code| code != 0);
        assert_ne!(other, u32::from(node.0.code().bits()), "two threads have the same node");
    }
    let state = State::<P>([P::U32::zeroed(), P::U32::zeroed()]);
    run_two(threads, state, |state| body(state, 0), |state| body(state, 1));
}

pub fn the_storage_of_a_node_stays_where_it_is<P: Platform>(_: &dyn Threads) {
    let (id, place) = {
        let node = Claimed::<P>::new().expect("a thread without nodes finds none");
        (node.0, P::node(node.0))
    };
    assert_eq!(P::node(id), place, "a released node has no storage any more");
    assert!(place.is_aligned());
}

pub fn claiming_ends_in_none_and_releasing_helps<P: Platform>(threads: &dyn Threads) {
    let Some(limit) = threads.node_limit() else { return };
    let mut nodes: Vec<_> = (0..limit).map_while(|_| Claimed::<P>::new()).collect();
    assert_eq!(nodes.len(), limit, "fewer nodes than the platform promises");
    for node in 0..limit {
        assert!(Claimed::<P>::new().is_none(), "more nodes than there are");
        nodes.remove(node);
        nodes.push(Claimed::new().expect("a released node cannot be claimed"));
    }
}

pub fn a_node_given_back_by_another_thread_is_ordered<P: Platform>(threads: &dyn Threads) {
    /// The name of a node on its way to the other thread, and something that belongs to whoever
    /// has that node.
    struct State<P: Platform> {
        code: P::U32,
        owned: Guarded<P, u32>,
    }
    let state = State::<P> { code: Zeroed::zeroed(), owned: Guarded::new(0) };
    let claims = |state: &State<P>| {
        let id = P::claim_node().expect("a thread without nodes finds none");
        state.code.store(u32::from(id.code().bits()), Release);
        // Which node this is depends on whether the other thread has been there.
        let again = Claimed::<P>::new().expect("a thread can use fewer than two nodes");
        if again.0 == id {
            // SAFETY: the node is ours again, so the other thread has finished with it.
            assert_eq!(unsafe { state.owned.get() }, 1);
        }
    };
    let gives_back = |state: &State<P>| {
        let code = state.code.cond_load(Acquire, |code| code != 0);
        // SAFETY: the node is ours now, and with it the field.
        unsafe { state.owned.set(1) };
        let id = TailCode::from_bits(code as u16).node().expect("not a node");
        // SAFETY: the thread that claimed it left it to us.
        unsafe { P::release_node(id) };
    };
    run_two(threads, state, claims, gives_back);
}

pub fn a_node_has_a_name_in_a_lock_word<P: Platform>(_: &dyn Threads) {
    let node = Claimed::<P>::new().expect("a thread without nodes finds none");
    let (id, code) = (node.0, node.0.code());
    assert!(usize::from(id.number()) < NODES_MAX);
    assert_ne!(code, TailCode::NONE);
    assert_eq!(TailCode::from_bits(code.bits()).node(), Some(id));
    let word = P::Word::zeroed();
    word.store(u32::from(code.bits()) << 16, Relaxed);
    assert_eq!(TailCode::from_bits((word.load(Relaxed) >> 16) as u16).node(), Some(id));
}
