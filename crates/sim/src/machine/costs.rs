//! The table of costs: the key in a machine file, the unit, the range and the field of each.

use super::error::Problem;
use super::{Costs, Scheduler};

/// The unit of a number, which is also its key in a machine file: `{ ns = 48.0, ... }`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds.
    Ns,
    /// A multiple of something else.
    Factor,
    /// A part of something else.
    Fraction,
    /// How many.
    Count,
    /// Seconds, of software that is not simulated but added by formula.
    Seconds,
}

impl Unit {
    /// Its key.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Ns => "ns",
            Self::Factor => "factor",
            Self::Fraction => "fraction",
            Self::Count => "count",
            Self::Seconds => "s",
        }
    }

    /// Refuses a time above one second: no access and no instruction takes so long, and the sum of
    /// many must fit into picoseconds of 64 bits.
    pub(super) fn check(self, value: f64) -> Result<f64, Problem> {
        const SECOND_NS: f64 = 1e9;
        match self == Self::Ns && value > SECOND_NS {
            true => Err(Problem::OutOfRange { value, allowed: "at most 1000000000 ns, a second" }),
            false => Ok(value),
        }
    }
}

/// The values a number may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Range {
    /// Above 0.
    Positive,
    /// 0 or more.
    NotNegative,
    /// 0 to 1, both included.
    UpToOne,
    /// 0 or more and less than 1.
    BelowOne,
    /// 1 or more.
    AtLeastOne,
}

impl Range {
    /// Says what is wrong with `value`, if anything is.
    pub(super) fn check(self, value: f64) -> Result<f64, Problem> {
        let (holds, allowed) = match self {
            Self::Positive => (value > 0.0, "a finite number above 0"),
            Self::NotNegative => (value >= 0.0, "a finite number, 0 or more"),
            Self::UpToOne => ((0.0..=1.0).contains(&value), "from 0 to 1"),
            Self::BelowOne => ((0.0..1.0).contains(&value), "from 0 to less than 1"),
            Self::AtLeastOne => (value >= 1.0, "a finite number, 1 or more"),
        };
        if holds && value.is_finite() {
            Ok(value)
        } else {
            Err(Problem::OutOfRange { value, allowed })
        }
    }
}

/// A number of a section of a machine file, of which `T` is the struct.
pub(super) struct Scalar<T = Costs> {
    /// Its key in the section.
    pub(super) key: &'static str,
    pub(super) unit: Unit,
    pub(super) range: Range,
    pub(super) get: fn(&T) -> f64,
    pub(super) slot: fn(&mut T) -> &mut f64,
}

macro_rules! numbers {
    (
        $(#[$meta:meta])*
        $table:ident of $section:ident { $($rest:ident: $none:expr)? }:
        $($key:literal $unit:ident $range:ident $field:ident;)+
    ) => {
        $(#[$meta])*
        pub(super) const $table: &[Scalar<$section>] = &[$(Scalar {
            key: $key,
            unit: Unit::$unit,
            range: Range::$range,
            get: |section| section.$field,
            slot: |section| &mut section.$field,
        },)+];

        impl $section {
            /// Numbers that are all zero, to be filled in. A field that is not in the table does
            /// not compile here.
            pub(super) fn blank() -> Self {
                Self { $($field: 0.0,)+ $($rest: $none)? }
            }
        }
    };
}

numbers! {
    /// Every cost but the one that is a list, in the order of the struct.
    SCALARS of Costs { transfer_remote_ns: Vec::new() }:
    "load_hit" Ns Positive load_hit_ns;
    "store_issue" Ns Positive store_issue_ns;
    "rmw_extra" Ns NotNegative rmw_extra_ns;
    "pause" Ns Positive pause_ns;
    "spin_reaction" Ns NotNegative spin_reaction_ns;
    "transfer_local" Ns Positive transfer_local_ns;
    "upgrade_local" Factor Positive upgrade_local_factor;
    "upgrade_remote" Factor Positive upgrade_remote_factor;
    "shared_load" Ns Positive shared_load_ns;
    "dram_local" Ns Positive dram_local_ns;
    "dram_remote" Ns Positive dram_remote_ns;
    "remote_inflation" Fraction NotNegative remote_inflation;
    "smt" Factor AtLeastOne smt_factor;
    "owner_retention" Fraction UpToOne owner_retention;
    "arbitration" Fraction UpToOne arbitration;
    "arbitration_remote" Factor UpToOne arbitration_remote_factor;
    "transfer_jitter" Fraction BelowOne transfer_jitter;
    "work_jitter" Fraction BelowOne work_jitter;
    "heavy_barrier" Ns NotNegative heavy_barrier_ns;
    "heavy_barrier_per_cpu" Ns NotNegative heavy_barrier_per_cpu_ns;
    "wake_call" Ns NotNegative wake_call_ns;
    "wake_latency" Ns NotNegative wake_latency_ns;
    "sleep_call" Ns NotNegative sleep_call_ns;
    "migratory" Fraction UpToOne migratory;
    "rmw_shield" Fraction UpToOne rmw_shield;
    "width_mismatch" Ns NotNegative width_mismatch_ns;
}

numbers! {
    /// Every number of the scheduler, in the order of the struct.
    SCHEDULER of Scheduler {}:
    "slice" Ns Positive slice_ns;
    "context_switch" Ns NotNegative context_switch_ns;
    "wake_granularity" Ns NotNegative wake_granularity_ns;
    "halt_exit" Ns NotNegative halt_exit_ns;
    "kick_call" Ns NotNegative kick_call_ns;
    "kick_latency" Ns NotNegative kick_latency_ns;
    "noise" Ns NotNegative noise_ns;
    "pause_loop_window" Ns NotNegative pause_loop_window_ns;
    "pause_loop_gap" Ns NotNegative pause_loop_gap_ns;
    "wake_local" Fraction UpToOne wake_local;
    "wake_local_call" Ns NotNegative wake_local_call_ns;
    "steal_after" Ns NotNegative steal_after_ns;
    "hides_preemption" Fraction UpToOne hides_preemption;
}

/// Numbers that a file may do without: then they are 0, and the rule that they belong to is off.
pub(super) const OPTIONAL: &[&str] = &[
    "migratory",
    "rmw_shield",
    "width_mismatch",
    "wake_local",
    "wake_local_call",
    "steal_after",
    "hides_preemption",
];

/// The key of the remote transfer costs, a list with one number per distance class.
pub(super) const TRANSFER_REMOTE: &str = "transfer_remote";

impl<T> Scalar<T> {
    /// Says what is wrong with `value` for this number, if anything is.
    pub(super) fn check(&self, value: f64) -> Result<f64, Problem> {
        self.range.check(value).and_then(|value| self.unit.check(value))
    }
}

impl Scalar {
    /// The cost with this key.
    pub(super) fn named(key: &str) -> Option<&'static Self> {
        SCALARS.iter().find(|scalar| scalar.key == key)
    }
}
