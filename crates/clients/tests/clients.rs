//! The clients on real threads. Natively this is a short torture; under Miri and the sanitizers it
//! is a search for races, weak memory and accesses to freed locks.

use lockwright_catalog::busted::{BustedLock, BustedRwLock};
use lockwright_catalog::registry::{LOCKS, LockClass, LockRow, LockVisitor, visit};
use lockwright_clients::barrier::{Groups, Meetings};
use lockwright_clients::due::{self, is_due};
use lockwright_clients::free::Free;
use lockwright_clients::once::{Calls, FreedWhenDone, GivesUp};
use lockwright_clients::osq::Leave;
use lockwright_clients::owners::TryLock;
use lockwright_clients::plain_rw::PlainRwLock;
use lockwright_clients::semaphore::{LastPermit, Makers, SemaphoreTimeOuts};
use lockwright_clients::seqlock::WholePairs;
use lockwright_clients::shared::TryShared;
use lockwright_clients::{
    ClientType, NativeThreads, TypeOf, client_types_on, clients_of, is_of_guards, is_of_limits,
    is_of_reused, visit_client_of,
};
use lockwright_core::native::{self, Native, topology};
use lockwright_core::raw::RawLock;
use lockwright_core::tunables::{NUMA_ON, Tunable};
use lockwright_linux::qspinlock::cna::{V10, V11, V15};
use lockwright_linux::qspinlock::testing::QueueOnly;
use lockwright_linux::qspinlock::{Fifo, Spin, Succession};
use std::time::{Duration, Instant};

/// Operations of a thread between two looks at the clock; an interpreter gets less far.
const ROUNDS: u32 = if cfg!(miri) { 10 } else { 200 };
/// As many as spin at the same time on a small machine; an interpreter runs one at a time anyway.
const THREADS: usize = if cfg!(miri) { 3 } else { 2 };

/// With a smaller pool of queue nodes, as `cargo xtask alone --nodes` asks for. Runs before all tests.
#[used]
#[unsafe(link_section = ".init_array")]
static LIMIT_NODES: extern "C" fn() = {
    extern "C" fn limit() {
        let count = std::env::var("LOCKWRIGHT_NODES").ok();
        if let Some(count) = count.and_then(|count| count.parse().ok()) {
            lockwright_core::native::limit_nodes(count);
        }
    }
    limit
};

/// Returns `true` if an owner of such a lock has a queue node, and there are fewer than its threads own locks.
fn lacks_nodes(row: &LockRow) -> bool {
    std::env::var("LOCKWRIGHT_NODES").is_ok() && ["mcs", "clh", "osq"].contains(&row.name)
}

/// How long one client runs on one lock.
fn time() -> Duration {
    let is_full = std::env::var(due::CHECK).is_ok_and(|value| value == "full");
    Duration::from_millis(if is_full { 200 } else { 20 })
}

fn holds(client: ClientType) {
    let begin = Instant::now();
    while begin.elapsed() < time() {
        NativeThreads::client(client, THREADS, ROUNDS);
        if cfg!(miri) {
            break;
        }
    }
}

/// The clients of a lock that is chosen by name.
struct ClientsOf;

impl LockVisitor<Native> for ClientsOf {
    type Output = Vec<ClientType>;
    fn visit<L: RawLock>(self, _row: &'static LockRow) -> Vec<ClientType> {
        let mut clients = client_types_on::<Native, L>();
        if L::NEXT_OWNER_MAY_FREE {
            clients.push(ClientType::of::<Free<Native, L>>());
        }
        clients
    }
}

fn all_hold(name: &str, clients: &[ClientType]) {
    for client in clients {
        println!("{} on {name}", client.name);
        holds(*client);
    }
}

fn all_clients_hold<L: RawLock>(name: &str) {
    all_hold(name, &client_types_on::<Native, L>());
}

fn all_clients_hold_in_the_queue<S: Succession<Native>>(name: &str) {
    all_clients_hold::<QueueOnly<Native, S, Spin>>(name);
}

#[test]
fn every_client_holds_on_every_lock_and_the_next_owner_frees_what_it_may() {
    // Two nodes of one CPU each, so that the CNA locks have something to do.
    topology::set_fake(2, 1);
    native::set_tunable(Tunable::numa_spinlock, Some(NUMA_ON)).expect("in range");
    for row in LOCKS.iter().filter(|row| row.class != LockClass::Busted && is_due(row)) {
        if lacks_nodes(row) {
            continue;
        }
        let clients = visit::<Native, _>(row, ClientsOf).expect("a registered lock");
        all_hold(row.name, &clients);
    }
    all_clients_hold::<PlainRwLock<Native>>("a plain reader-writer lock");
    all_clients_hold_in_the_queue::<Fifo>("the queue alone");
    all_clients_hold_in_the_queue::<V10>("the queue of cna-v10 alone");
    all_clients_hold_in_the_queue::<V11>("the queue of cna-v11 alone");
    all_clients_hold_in_the_queue::<V15>("the queue of cna-v15 alone");
    native::set_tunable(Tunable::numa_spinlock, None).expect("the default");
    topology::clear_fake();
}

#[test]
fn a_lock_holds_whatever_was_at_its_address_whoever_gives_it_back_and_at_its_limits() {
    let is_meant =
        |client: &&str| is_of_reused(client) || is_of_guards(client) || is_of_limits(client);
    for row in LOCKS.iter().filter(|row| is_due(row) && !lacks_nodes(row)) {
        for client in clients_of::<Native>(row).filter(is_meant) {
            println!("{client} on {}", row.name);
            let client = visit_client_of::<Native, _>(row, client, TypeOf);
            // Their threads wait for each other all the time.
            NativeThreads::client(client.expect("a client of the lock"), 4, 2);
        }
    }
}

#[test]
fn spinners_that_leave_their_queue_leave_nobody_behind() {
    holds(ClientType::of::<Leave<Native>>());
}

#[test]
fn a_pair_under_a_sequence_lock_is_never_torn() {
    holds(ClientType::of::<WholePairs<Native>>());
}

#[test]
fn permits_are_never_lost_and_waiters_that_give_up_keep_nobody_asleep() {
    holds(ClientType::of::<Makers<Native>>());
    holds(ClientType::of::<LastPermit<Native>>());
    NativeThreads::client(ClientType::of::<SemaphoreTimeOuts<Native>>(), 3, ROUNDS);
}

#[test]
fn what_is_done_once_is_seen_by_all_and_threads_meet() {
    holds(ClientType::of::<Calls<Native>>());
    holds(ClientType::of::<GivesUp<Native>>());
    holds(ClientType::of::<FreedWhenDone<Native>>());
    holds(ClientType::of::<Meetings<Native>>());
    NativeThreads::client(ClientType::of::<Groups<Native>>(), 4, 1);
}

#[test]
#[should_panic(expected = "a held lock can be taken again")]
fn a_lock_that_takes_nothing_fails() {
    NativeThreads::client(ClientType::of::<TryLock<Native, BustedLock<Native>>>(), 1, 1);
}

#[test]
#[should_panic(expected = "a lock that is read is found free")]
fn readers_that_take_nothing_fail() {
    NativeThreads::client(ClientType::of::<TryShared<Native, BustedRwLock<Native>>>(), 1, 1);
}
