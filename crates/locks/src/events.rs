//! The one table of lock events.
//!
//! An event is added here and nowhere else: the table yields the enum, the names and the
//! descriptions. Names are the kernel's (`lock_event_counts`) where the meaning is the kernel's;
//! events of CNA, which has none there, are our own and start with `cna_`. A platform where nobody
//! counts compiles them away or pays one predictable branch.

macro_rules! lock_events {
    ($($(#[doc = $doc:literal])+ $name:ident,)+) => {
        /// Something a lock did that is worth counting.
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(usize)]
        pub enum Event { $($(#[doc = $doc])+ $name,)+ }

        impl Event {
            /// Every event, in the order of the table.
            pub const ALL: &[Event] = &[$(Event::$name,)+];
            /// The name it is reported under.
            pub const fn name(self) -> &'static str {
                match self { $(Event::$name => stringify!($name),)+ }
            }
            /// One sentence: what is counted.
            pub fn describe(self) -> &'static str {
                match self { $(Event::$name => concat!($($doc,)+).trim_ascii(),)+ }
            }
        }
    };
}

lock_events! {
    /// Acquisitions through the pending bit.
    lock_pending,
    /// Acquisitions through the queue, counted at its entry.
    lock_slowpath,
    /// Queue entries that used the second node of their CPU (one level of nesting).
    lock_use_node2,
    /// Queue entries that used the third node of their CPU.
    lock_use_node3,
    /// Queue entries that used the fourth node of their CPU.
    lock_use_node4,
    /// Acquisitions without a queue node, because none was left.
    lock_no_node,
    /// Waiters moved from the primary to the secondary queue.
    cna_set_aside,
    /// Times the secondary queue was put back in front, because the threshold was reached or
    /// nobody of the preferred node was left.
    cna_flush,
    /// Flushes forced by the threshold alone.
    cna_flush_threshold,
    /// Queue handoffs to a waiter of the preferred NUMA node.
    cna_handoff_local,
    /// Queue handoffs to a waiter that is not of the preferred NUMA node.
    cna_handoff_remote,
    /// Queue handoffs to a waiter whose NUMA node was not looked at.
    cna_handoff_unseen,
    /// Waiters looked at while looking for one of the same NUMA node.
    cna_scanned,
}
