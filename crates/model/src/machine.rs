//! What the two platforms have in common: everything above cells and fences.
//!
//! Sleeping is a table of sleepers behind the checker's mutex, with a condition variable for each CPU: a thread that is
//! never woken is a deadlock, which the checkers report.

/// One sleeping thread.
pub(crate) struct Sleeper {
    /// The word it sleeps on. Only compared.
    pub address: usize,
    /// Its kinds.
    pub kinds: u32,
    /// The CPU it runs on: names its condition variable.
    pub cpu: u32,
    /// The word of the lock that it takes afterwards; 0 if it has said none.
    pub then: usize,
}

/// The sleepers in the order they came.
#[derive(Default)]
pub(crate) struct SleepQueue(Vec<Sleeper>);

impl SleepQueue {
    /// A thread goes to sleep.
    pub fn push(&mut self, sleeper: Sleeper) {
        self.0.push(sleeper);
    }
    /// The word at `then`, if a thread sleeps on `address` that takes its lock afterwards.
    pub fn goes_on(&self, address: usize, then: usize) -> Option<usize> {
        let is_one = |it: &&Sleeper| (it.address, it.then) == (address, then);
        self.0.iter().find(is_one).map(|sleeper| sleeper.then)
    }
    /// True if no thread has woken `cpu` yet.
    pub fn has(&self, cpu: u32) -> bool {
        self.0.iter().any(|sleeper| sleeper.cpu == cpu)
    }
    /// `cpu` gives up waiting; `false` if it was woken before.
    pub fn leave(&mut self, cpu: u32) -> bool {
        let before = self.0.len();
        self.0.retain(|sleeper| sleeper.cpu != cpu);
        self.0.len() < before
    }
    /// Those that sleep on `from` sleep on `to`, behind those that do so already. Returns how many they are.
    pub fn move_all(&mut self, from: usize, to: usize) -> u32 {
        let moved: Vec<Sleeper> =
            self.0.extract_if(.., |sleeper| sleeper.address == from).collect();
        let count = moved.len() as u32;
        self.0.extend(moved.into_iter().map(|sleeper| Sleeper { address: to, ..sleeper }));
        count
    }
    /// Takes out the first `count` sleepers of one of `kinds` on `address`.
    pub fn wake(&mut self, kinds: u32, address: usize, count: u32) -> Vec<Sleeper> {
        let mut left = count;
        self.0
            .extract_if(.., |sleeper| {
                let wakes = left > 0 && sleeper.address == address && sleeper.kinds & kinds != 0;
                left -= u32::from(wakes);
                wakes
            })
            .collect()
    }
}

/// Builds the machine of `$platform` from the mutex, condition variable, lazy statics and thread
/// locals of `$checker`, and implements the groups of `Platform` that rest on it.
macro_rules! machine {
    (
        $platform:ident, $checker:ident, $tracker:ident,
        knows_who_runs: $knows:literal, light_barrier: $light_barrier:expr
    ) => {
        struct Machine {
            world: $crate::world::Execution<$platform>,
            sleepers: ::$checker::sync::Mutex<$crate::machine::SleepQueue>,
            bells: Vec<::$checker::sync::Condvar>,
        }

        impl Machine {
            fn new() -> Self {
                let world = $crate::world::Execution::new();
                let bells =
                    (0..world.settings.cpus).map(|_| ::$checker::sync::Condvar::new()).collect();
                Self { world, sleepers: Default::default(), bells }
            }
        }

        ::$checker::lazy_static! {
            // The checker drops it and builds it anew between two executions.
            static ref MACHINE: Machine = Machine::new();
        }
        ::$checker::thread_local! {
            static CPU: std::cell::Cell<u32> = std::cell::Cell::new(0);
        }

        impl $platform {
            /// The thread on `cpu` is started or has finished.
            pub(crate) fn set_active(cpu: u32, is_active: bool) {
                MACHINE.world.activity.set_active(cpu, is_active);
            }
            /// Runs a client with this many threads by `join`, and looks at what its locks have left.
            pub(crate) fn run_client(
                client: lockwright_clients::ClientType,
                (threads, rounds): (usize, u32),
                join: fn(Vec<Box<dyn FnOnce() + Send>>),
            ) {
                let client = client.make(threads, rounds);
                let body = |cpu: usize| {
                    let client = std::sync::Arc::clone(&client);
                    move || client.body(cpu)
                };
                join((0..threads).map(|cpu| Box::new(body(cpu)) as _).collect());
                client.finish();
                assert!(Self::has_released_all_nodes(), "a queue node was not released");
                assert!(Self::has_empty_hash(), "an entry was left in the lock hash");
                assert!(Self::has_empty_table(), "a waiter was left in the table of sleepers");
                assert!(Self::has_free_metadata(), "a lock has not given its metadata back");
            }
            /// True if no queue node is claimed.
            pub fn has_released_all_nodes() -> bool {
                MACHINE.world.has_released_all_nodes()
            }
            /// True if no entry is left in the lock hash.
            pub fn has_empty_hash() -> bool {
                MACHINE.world.has_empty_hash()
            }
            /// True if no lock has metadata.
            pub fn has_free_metadata() -> bool {
                MACHINE.world.has_free_metadata()
            }
            /// True if the table of sleepers is empty.
            pub fn has_empty_table() -> bool {
                MACHINE.world.has_empty_table()
            }
            /// Builds the machine, on the thread that will start the others: what that thread has
            /// done is ordered before everything they do, so the machine orders nothing later.
            pub(crate) fn begin_execution() {
                $crate::world::begin_execution();
                let _ = &*MACHINE;
            }
        }

        impl Cells for $platform {
            type U32 = CheckedCell<AtomicU32, Self>;
            type U64 = CheckedCell<AtomicU64, Self>;
            type Ptr = CheckedCell<AtomicPtr<()>, Self>;
            type Word = CheckedCell<AtomicU32, Self>;
            type Tracker = $tracker;
        }

        // SAFETY: all of them are the checker's full fences but for `fence`, which is its own, and for the light
        // barrier of shuttle: that runs one thread at a time, and each sees what the others did.
        unsafe impl Barriers for $platform {
            fn fence(order: Ordering) {
                atomic::fence(order);
            }
            fn full_barrier<T: Copy + Eq>(_on: &impl Atomic<T>) {
                atomic::fence(SeqCst);
            }
            fn barrier_after_exchange<T: Copy + Eq>(on: &impl Atomic<T>) {
                Self::full_barrier(on);
            }
            fn light_barrier() {
                $light_barrier
            }
            fn heavy_barrier() {
                atomic::fence(SeqCst);
            }
            fn has_heavy_barrier() -> bool {
                true
            }
            fn may_use_heavy_barrier() -> bool {
                true
            }
            fn delay(_pauses: u32) {
                if !MACHINE.world.is_in_a_hurry(Self::this_cpu()) {
                    Self::give_way();
                }
            }
        }

        impl lockwright_clients::Migrate for $platform {
            fn run_on_cpu(cpu: u32) {
                CPU.with(|current| current.set(cpu));
            }
        }

        // SAFETY: the nodes of an execution live as long as it does; a slot hands each out once.
        unsafe impl lockwright_core::platform::QueueNodes for $platform {
            type Node = QNode<Self>;

            fn claim_node() -> Option<NodeId> {
                MACHINE.world.claim(Self::this_cpu())
            }
            unsafe fn release_node(id: NodeId) {
                MACHINE.world.release(id, Self::this_cpu());
            }
            fn node(id: NodeId) -> std::ptr::NonNull<QNode<Self>> {
                MACHINE.world.node(id)
            }
            fn nesting_of(id: NodeId) -> u32 {
                u32::from(id.number() % lockwright_core::queue::NODES_PER_CPU)
            }
            fn has_forked() -> bool {
                MACHINE.world.settings.has_forked
            }
        }

        // SAFETY: the cells of an execution live as long as it does; addresses of words that exist at
        // the same time differ.
        unsafe impl lockwright_core::platform::LockHash for $platform {
            fn hash_slots() -> usize {
                $crate::world::HASH_SLOTS
            }
            fn hash_slot(at: usize) -> std::ptr::NonNull<Self::U64> {
                (&MACHINE.world.hash[at]).into()
            }
            fn lock_name(word: *const ()) -> u64 {
                word.addr() as u64 & 0xffff_ffff_ffff
            }
        }

        // SAFETY: they live as long as the execution; there is no fork.
        unsafe impl lockwright_core::platform::MarkStorage for $platform {
            type MarkState = lockwright_core::park::MarkState<Self>;

            fn sleep_buckets() -> usize {
                $crate::world::BUCKETS
            }
            fn counting_mark(at: usize) -> std::ptr::NonNull<Self::U64> {
                (&MACHINE.world.counting_marks[at]).into()
            }
            fn mark_state(at: usize) -> std::ptr::NonNull<Self::MarkState> {
                (&MACHINE.world.buckets[at].mark).into()
            }
        }

        // SAFETY: they live as long as the execution; there is no fork.
        unsafe impl lockwright_core::platform::SleepStorage for $platform {
            type Bucket = lockwright_core::park::Bucket<Self>;
            type Waiter = lockwright_core::park::Waiter<Self>;

            fn sleep_bucket(at: usize) -> std::ptr::NonNull<Self::Bucket> {
                (&MACHINE.world.buckets[at]).into()
            }
            fn sleep_mark(at: usize) -> std::ptr::NonNull<Self::U32> {
                (&MACHINE.world.marks[at]).into()
            }
            fn waiter(id: NodeId) -> std::ptr::NonNull<Self::Waiter> {
                MACHINE.world.waiter(id)
            }
            fn read_list() -> Option<std::ptr::NonNull<lockwright_core::platform::ReadList>> {
                Some((&MACHINE.world.read_lists[CPU.with(std::cell::Cell::get) as usize]).into())
            }
        }

        // SAFETY: they live as long as the execution.
        unsafe impl lockwright_linux::hq::MetadataPool for $platform {
            type Entry = lockwright_linux::hq::Entry<Self>;
            type Queue = lockwright_linux::hq::NumaQueue<Self>;

            fn metadata_entries() -> usize {
                1
            }
            fn metadata_queues() -> usize {
                MACHINE.world.numa_queues.len()
            }
            fn metadata_entry(_at: usize) -> std::ptr::NonNull<Self::Entry> {
                (&MACHINE.world.metadata).into()
            }
            fn metadata_queue(_at: usize, queue: usize) -> std::ptr::NonNull<Self::Queue> {
                (&MACHINE.world.numa_queues[queue]).into()
            }
        }

        // SAFETY: one for each CPU, which has one thread; they live as long as the execution.
        unsafe impl lockwright_core::platform::ReaderSlots for $platform {
            type Slot = lockwright::percpu_rwlock::ReaderSlot<Self>;

            /// So few that a client gets beyond it.
            const DEPTH_MAX: u32 = 2;

            fn lock_number() -> u64 {
                $crate::world::lock_number()
            }
            fn reader_slot() -> Option<std::ptr::NonNull<Self::Slot>> {
                let cpu = <Self as lockwright_core::platform::Placement>::this_cpu();
                let has_one = cpu < MACHINE.world.settings.reader_slots;
                has_one.then(|| (&MACHINE.world.reader_slots[cpu as usize]).into())
            }
            fn reader_slots() -> usize {
                MACHINE.world.settings.cpus as usize
            }
            fn reader_slot_at(at: usize) -> std::ptr::NonNull<Self::Slot> {
                (&MACHINE.world.reader_slots[at]).into()
            }
        }

        // SAFETY: one for each CPU, which has one thread; they live as long as the execution.
        unsafe impl lockwright_core::platform::HeldLocks for $platform {
            type Table = lockwright_core::held::HeldTable<Self>;

            fn held_table() -> Option<std::ptr::NonNull<Self::Table>> {
                let cpu = <Self as lockwright_core::platform::Placement>::this_cpu();
                let has_one = cpu < MACHINE.world.settings.reader_slots;
                if has_one { Self::held_table_at(cpu as usize) } else { None }
            }
            fn held_tables() -> usize {
                MACHINE.world.settings.cpus as usize
            }
            fn held_table_at(at: usize) -> Option<std::ptr::NonNull<Self::Table>> {
                MACHINE.world.held_tables.get(at).map(std::ptr::NonNull::from)
            }
        }

        impl lockwright_core::platform::Placement for $platform {
            fn this_cpu() -> u32 {
                CPU.with(std::cell::Cell::get)
            }
            fn numa_node_of(cpu: u32) -> u32 {
                MACHINE.world.settings.numa_node_of(cpu)
            }
            fn numa_nodes() -> u32 {
                MACHINE.world.settings.numa_nodes()
            }
            fn is_urgent() -> bool {
                MACHINE.world.settings.urgent.contains(&Self::this_cpu())
            }
        }

        // SAFETY: each thread of a model has a CPU of its own.
        unsafe impl lockwright_core::platform::ThreadNumbers for $platform {
            fn this_thread() -> u64 {
                (u64::from(<Self as lockwright_core::platform::Placement>::this_cpu()) + 1) << 3
            }
        }

        impl lockwright_core::platform::SchedulerHints for $platform {
            const KNOWS_WHO_RUNS: bool = $knows;

            fn is_running(_id: NodeId) -> bool {
                true
            }
            fn is_thread_running(_thread: u64) -> bool {
                true
            }
            fn need_resched() -> bool {
                false
            }
            fn usable_cpus() -> u32 {
                2
            }
            fn idle_cpus() -> u32 {
                1
            }
            fn must_not_spin() -> bool {
                let cpu = <Self as lockwright_core::platform::Placement>::this_cpu();
                MACHINE.world.settings.sleeping.contains(&cpu)
            }
        }

        impl lockwright_core::platform::Sleeping for $platform {
            fn futex_wait_as(
                kinds: u32,
                word: &Self::U32,
                expected: u32,
                deadline_ns: Option<u64>,
            ) -> bool {
                let is_expected = || word.holds_now(|value| value == expected);
                Self::sleep(kinds, std::ptr::from_ref(word), 0, is_expected, deadline_ns)
            }
            fn futex_wait_low(
                kinds: u32,
                word: &Self::U64,
                expected: u32,
                then: Option<&Self::U32>,
                deadline_ns: Option<u64>,
            ) -> bool {
                let is_expected = || word.holds_now(|value| value as u32 == expected);
                let address = std::ptr::from_ref(word);
                let then = then.map_or(0, |then| std::ptr::from_ref(then).expose_provenance());
                Self::sleep(kinds, address.cast(), then, is_expected, deadline_ns)
            }
            fn futex_holds(then: *const Self::U32, value: u32, sleepers: *const Self::U32) -> bool {
                let table = MACHINE.sleepers.lock().unwrap();
                ::$checker::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
                let Some(at) = table.goes_on(sleepers.addr(), then.addr()) else { return false };
                let word = std::ptr::with_exposed_provenance::<Self::U32>(at);
                // SAFETY: that thread sleeps until the table is unlocked, with a reference to the word.
                let word = unsafe { &*word };
                word.holds_now(|now| now == value)
            }
            fn futex_wake_only(kinds: u32, address: *const Self::U32, count: u32) -> u32 {
                let mut sleepers = MACHINE.sleepers.lock().unwrap();
                let woken = sleepers.wake(kinds, address.addr(), count);
                woken.iter().for_each(Self::ring);
                woken.len() as u32
            }
            fn futex_requeue(
                count: u32,
                from: &Self::U64,
                expected: u32,
                to: *const Self::U32,
            ) -> Option<u32> {
                let mut sleepers = MACHINE.sleepers.lock().unwrap();
                if !from.holds_now(|value| value as u32 == expected) {
                    return None;
                }
                let address = std::ptr::from_ref(from).addr();
                let woken = sleepers.wake(lockwright_core::platform::EVERY_KIND, address, count);
                woken.iter().for_each(Self::ring);
                Some(woken.len() as u32 + sleepers.move_all(address, to.addr()))
            }
        }

        impl $platform {
            fn ring(sleeper: &$crate::machine::Sleeper) {
                MACHINE.bells[sleeper.cpu as usize].notify_one();
            }
            fn sleep(
                kinds: u32,
                address: *const <Self as lockwright_core::platform::Cells>::U32,
                then: usize,
                is_expected: impl FnOnce() -> bool,
                deadline_ns: Option<u64>,
            ) -> bool {
                use lockwright_core::platform::Placement;
                let (machine, cpu) = (&*MACHINE, Self::this_cpu());
                let mut sleepers = machine.sleepers.lock().unwrap();
                // A thread that wakes others has written the word before it asked for the mutex, so an older value
                // would be one that no kernel finds.
                if !is_expected() {
                    return false;
                }
                sleepers.push($crate::machine::Sleeper {
                    address: address.addr(),
                    kinds,
                    cpu,
                    then,
                });
                let ends = deadline_ns.is_some() || machine.world.may_wake_up();
                if !ends {
                    while sleepers.has(cpu) {
                        machine.world.activity.set_active(cpu, false);
                        sleepers = machine.bells[cpu as usize].wait(sleepers).unwrap();
                        machine.world.activity.set_active(cpu, true);
                    }
                    return true;
                }
                // The thread that takes the mutex first decides what comes first: a waker, or the deadline, or no
                // reason. So the checker explores all of them.
                drop(sleepers);
                Self::give_way();
                let is_over = machine.sleepers.lock().unwrap().leave(cpu);
                if let (true, Some(deadline_ns)) = (is_over, deadline_ns) {
                    machine.world.pass_until(deadline_ns);
                }
                !is_over
            }
        }

        impl lockwright_core::platform::Clock for $platform {
            fn now_ns() -> u64 {
                MACHINE.world.now_ns()
            }
        }

        impl lockwright_core::platform::Counters for $platform {
            /// No thread: what is done only to be counted would be explored.
            fn is_counting() -> bool {
                false
            }
            fn count_many(event: lockwright_core::events::Event, n: u64) {
                $crate::world::count(event, n);
            }
            fn tunable(tunable: lockwright_core::tunables::Tunable) -> Option<u64> {
                MACHINE.world.settings.tunable(tunable)
            }
        }
    };
}
pub(crate) use machine;
