//! The workloads: what the threads of a trial do.
//!
//! A workload is a module, and a line in the list below. The module has its parameters (`params!`), what is known of it
//! before it runs ([`Facts`]), the state that its threads share, made of cells of the platform, and its loop, which a
//! thread runs until its [`Worker`] says that it is over. [`Load`](facts::Load) puts these together. The loop is
//! generic over the lock and over the machine that runs it.

pub mod aim7;
pub mod attempts;
pub mod counter;
pub mod facts;
pub mod handoff;
pub mod kbuild;
pub mod lock2;
pub mod locktorture;
pub mod lru;
pub mod map;
pub mod open1;
pub mod params;
pub mod pingpong;
pub mod queue;
pub mod readrandom;
#[cfg(test)]
mod scripted;
pub mod sections;
pub mod shards;
pub mod uncontended;

use crate::fairness::FairnessWindow;
use crate::native::{churn, starve};
use core::ops::Deref;
pub use facts::{Facts, Needs, Venue, Worker};
use lockwright_core::raw::FairnessThreshold;
pub use params::{Domain, Param, ParamTable, Value};
use serde::{Serialize, Serializer};

/// Every workload, in the order of the lists: its name, and its parameters. `short` ones have operations so short that
/// a call through a pointer would be a part of them: natively their loops are compiled for each lock. `here` ones run
/// on this computer only.
macro_rules! workloads {
    ($d:tt short { $($Short:ident($of_short:ty),)+ } long { $($Long:ident($of_long:ty),)+ } here { $($Here:ident($of_here:ty),)+ }) => {
        /// A workload with its parameters.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs)]
        pub enum Workload {
            $($Short($of_short),)+
            $($Long($of_long),)+
            $($Here($of_here),)+
        }

        impl Workload {
            /// Every workload, with its usual parameters.
            pub const ALL: &[Self] = &[
                $(Self::$Short(<$of_short>::USUAL),)+
                $(Self::$Long(<$of_long>::USUAL),)+
                $(Self::$Here(<$of_here>::USUAL),)+
            ];
            /// Its parameters and what is known of it.
            pub fn facts(&self) -> &(dyn Facts + 'static) {
                match self {
                    $(Self::$Short(it) => it,)+
                    $(Self::$Long(it) => it,)+
                    $(Self::$Here(it) => it,)+
                }
            }
            /// The same, to change its parameters.
            pub fn facts_mut(&mut self) -> &mut (dyn Facts + 'static) {
                match self {
                    $(Self::$Short(it) => it,)+
                    $(Self::$Long(it) => it,)+
                    $(Self::$Here(it) => it,)+
                }
            }
        }

        $(impl From<$of_short> for Workload {
            fn from(params: $of_short) -> Self {
                Self::$Short(params)
            }
        })+
        $(impl From<$of_long> for Workload {
            fn from(params: $of_long) -> Self {
                Self::$Long(params)
            }
        })+

        /// The body with the parameters of a workload whose operations are short; `None` for any other.
        macro_rules! with_short {
            ($d workload:expr, $d it:ident => $d body:expr) => {
                match $d workload {
                    $($crate::workload::Workload::$Short($d it) => Some($d body),)+
                    _ => None,
                }
            };
        }
        /// The body with the parameters of a workload that every machine runs; `None` for any other.
        macro_rules! with_everywhere {
            ($d workload:expr, $d it:ident => $d body:expr) => {
                match $d workload {
                    $($crate::workload::Workload::$Short($d it) => Some($d body),)+
                    $($crate::workload::Workload::$Long($d it) => Some($d body),)+
                    _ => None,
                }
            };
        }
        /// The body with the parameters of a workload whose loops are compiled once for all locks of a size.
        macro_rules! with_any {
            ($d workload:expr, $d it:ident => $d body:expr) => {
                match $d workload {
                    $($crate::workload::Workload::$Short($d it) => $d body,)+
                    $($crate::workload::Workload::$Long($d it) => $d body,)+
                    $($crate::workload::Workload::$Here($d it) => $d body,)+
                }
            };
        }
    };
}

workloads! {
    $
    short {
        Uncontended(uncontended::UncontendedParams),
        Counter(counter::CounterParams),
        Map(map::MapParams),
        Lru(lru::LruParams),
        Shards(shards::ShardsParams),
    }
    long {
        Locktorture(locktorture::LocktortureParams),
        Lock2(lock2::Lock2Params),
        Open1(open1::Open1Params),
        Readrandom(readrandom::ReadrandomParams),
        Kbuild(kbuild::BuildParams),
        Handoff(handoff::HandoffParams),
        Aim7(aim7::Aim7Params),
        Sections(sections::SectionsParams),
        Queue(queue::QueueParams),
        PingPong(pingpong::PingPongParams),
        Attempts(attempts::AttemptsParams),
    }
    here {
        Churn(churn::ChurnParams),
        Starve(starve::StarveParams),
    }
}
pub(crate) use {with_any, with_everywhere, with_short};

impl Deref for Workload {
    type Target = dyn Facts;
    fn deref(&self) -> &Self::Target {
        self.facts()
    }
}

impl Workload {
    /// A counter that is written only.
    pub const fn counter(cs_load: u32, think_load: u32) -> Self {
        Self::Counter(counter::CounterParams {
            cs_load,
            think_load,
            ..counter::CounterParams::USUAL
        })
    }
    /// The workload of that name, with its usual parameters.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|workload| workload.name() == name)
    }
    /// Its parameters as they are typed: those for which `is_shown` says so.
    pub fn typed(&self, is_shown: impl Fn(&Param, &Value) -> bool) -> String {
        let shown = self.table().iter().filter_map(|param| {
            let value = self.get(param.name)?;
            is_shown(param, &value).then(|| format!("{} {value}", param.flag()))
        });
        shown.collect::<Vec<_>>().join(" ")
    }
    /// The name and what is unusual, for people, if a parameter has the values that `values` returns.
    pub fn described_with(&self, values: impl Fn(&Param) -> Vec<Value>) -> String {
        let usual = Self::named(self.name());
        let changed = self.table().iter().filter_map(|param| {
            let values = values(param);
            let usual = usual.and_then(|it| it.get(param.name));
            let shown: Vec<String> = values.iter().map(Value::to_string).collect();
            let is_usual = values.iter().eq(&usual);
            (!is_usual).then(|| format!("{} {}", param.flag(), shown.join(",")))
        });
        match changed.collect::<Vec<_>>().join(" ") {
            usual if usual.is_empty() => self.name().into(),
            changed => format!("{} ({changed})", self.name()),
        }
    }
    /// Decides how long a trial has to be to say something about fairness, if its lock lets waiters be overtaken up to
    /// `threshold` and its threads run on `nodes` NUMA nodes. A fixed amount of work is as long as it is.
    pub fn fairness_window(
        &self,
        threads: usize,
        threshold: FairnessThreshold,
        nodes: u32,
    ) -> FairnessWindow {
        // What a starved thread shows, it shows in any time.
        let has_no_need = self.is_fixed_work() || self.times_itself();
        let waiters = if has_no_need { 0 } else { threads.saturating_sub(1) };
        let waiters = waiters.try_into().unwrap_or(u32::MAX);
        FairnessWindow { threshold, nodes, waiters, locks: self.locks() }
    }
}

/// In documents: the name, and each parameter.
impl Serialize for Workload {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let name = ("name", Value::Text(self.name().into()));
        let params = self.table().iter().map(|param| param.name);
        let params = params.filter_map(|param| Some((param, self.get(param)?)));
        serializer.collect_map(std::iter::once(name).chain(params))
    }
}
