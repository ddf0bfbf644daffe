//! A condition variable that loses wake-ups, as glibc's did before 2.41, and those that do not, in explored schedules.
//! docs/findings.md tells the schedule.

mod machine;

use lockwright::mutex::RawMutex;
use lockwright_catalog::busted::{GivesBack, GroupedMutex, KeepsStolen, NeverSteals};
use lockwright_catalog::futex3::Futex3;
use lockwright_clients::Client;
use lockwright_clients::condvar::OnePlace;
use lockwright_clients::mutex::NotifiedMutex;
use lockwright_sim::explore::{
    Action, Explorer, Findings, Limits, Move, Plan, PolicyKind, Schedule, Traced,
};
use lockwright_sim::{Config, Failure, FailureKind, Sim, Simulation};

/// The thread that makes items, and those that take them: one each, and three.
const MAKER: u16 = 0;
const LATE: u16 = 1;
const ONCE: u16 = 2;
const THREE_TIMES: u16 = 3;
const THREADS: usize = 4;
/// More than a story has.
const MOVES_MAX: usize = 1_000;

/// When a thread of a story stops.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Until {
    /// When it waits, or is done.
    Waits,
    /// Before it takes what it saw: its next compare-exchange.
    WouldTake,
    /// After that.
    Took,
}

/// A schedule of the client, made step by step, with the condition variable of `M`.
struct Story<'p> {
    explorer: Explorer<'p>,
    schedule: Schedule,
}

impl Story<'_> {
    fn run(&mut self) -> (Option<Failure>, Vec<Traced>) {
        self.explorer.replay_traced(&self.schedule, Limits::default())
    }
    /// Adds a move of that thread, if it can make one; what it did.
    fn goes_on(&mut self, thread: u16) -> Option<Vec<Traced>> {
        for action in [Action::Step, Action::Commit] {
            self.schedule.moves.push(Move { thread, action });
            let number = self.schedule.moves.len() as u64;
            let (failure, mut trace) = self.run();
            let is_impossible = failure.is_some_and(|failure| match failure.kind {
                FailureKind::Diverged { .. } => true,
                // A move takes a nanosecond.
                _ => failure.at_ps / 1_000 < number,
            });
            if !is_impossible {
                trace.retain(|line| line.number == number);
                return Some(trace);
            }
            self.schedule.moves.pop();
        }
        None
    }
    fn tell(&mut self, thread: u16, until: Until) {
        while let Some(did) = self.goes_on(thread) {
            assert!(self.schedule.moves.len() < MOVES_MAX, "it does not end: {}", self.schedule);
            let takes = did.iter().any(|line| line.what == "compare-exchange");
            if takes && until == Until::WouldTake {
                self.schedule.moves.pop();
            }
            if takes && until != Until::Waits {
                return;
            }
        }
        assert_eq!(until, Until::Waits, "thread {thread} takes nothing: {}", self.schedule);
    }
}

/// The late waiter has taken its signal when it stops. Then its slot gets another group, of two threads. One of them is
/// notified and takes its item, and the late waiter goes on.
const LATE_AFTER_IT_TOOK: &[(u16, Until)] = &[
    (LATE, Until::Waits),
    (MAKER, Until::Waits),
    (LATE, Until::Took),
    (THREE_TIMES, Until::Waits),
    (MAKER, Until::Waits),
    (THREE_TIMES, Until::Waits),
    (ONCE, Until::Waits),
    (MAKER, Until::Waits),
    (THREE_TIMES, Until::Waits),
    (LATE, Until::Waits),
    (ONCE, Until::Waits),
    (MAKER, Until::Waits),
];

/// The late waiter has only seen its signal when it stops. It goes on when the other group has one, and before the
/// thread that was woken for that.
const LATE_BEFORE_IT_TAKES: &[(u16, Until)] = &[
    (LATE, Until::Waits),
    (MAKER, Until::Waits),
    (LATE, Until::WouldTake),
    (THREE_TIMES, Until::Waits),
    (MAKER, Until::Waits),
    (THREE_TIMES, Until::Waits),
    (ONCE, Until::Waits),
    (MAKER, Until::Waits),
    (LATE, Until::Waits),
    (THREE_TIMES, Until::Waits),
    (MAKER, Until::Waits),
];

fn spawn<M: NotifiedMutex>(simulation: &mut Simulation<'_>) {
    let client = simulation.alloc(OnePlace::<Sim, M>::new(THREADS));
    machine::spawn(simulation, client, THREADS, false);
}

/// The schedule of the story, and what goes wrong, also if all threads run on from its end.
fn told<M: NotifiedMutex>(beats: &[(u16, Until)]) -> (String, Option<Failure>) {
    let machine = machine::machine();
    let explorer = Explorer::new(&machine, 1, Config::default(), &spawn::<M>);
    let mut story = Story { explorer, schedule: Schedule::default() };
    for &(thread, until) in beats {
        story.tell(thread, until);
    }
    (story.schedule.to_string(), story.run().0)
}

/// The threads that wait for ever.
fn stuck(failure: Option<Failure>) -> Vec<usize> {
    match failure.map(|failure| failure.kind) {
        Some(FailureKind::Stuck { threads }) => threads.iter().map(|it| it.thread).collect(),
        other => panic!("{other:?} instead of threads that wait for ever"),
    }
}

/// As docs/findings.md has it.
const RECORDED: &str = "0:b13a14A2a10b4d20a13A2a10d25c13a13A2a10d13b18c18a15";

#[test]
fn a_signal_that_is_given_back_without_a_theft_is_counted_for_a_thread_that_is_gone() {
    let (schedule, failure) = told::<GroupedMutex<Sim, GivesBack>>(LATE_AFTER_IT_TOOK);
    assert_eq!(schedule, RECORDED);
    assert_eq!(stuck(failure), [MAKER, LATE, ONCE].map(usize::from));
    let (_, failure) = told::<GroupedMutex<Sim, KeepsStolen>>(LATE_AFTER_IT_TOOK);
    assert_eq!(failure, None);
}

#[test]
fn a_stolen_signal_that_is_not_given_back_is_lost() {
    let (_, failure) = told::<GroupedMutex<Sim, KeepsStolen>>(LATE_BEFORE_IT_TAKES);
    assert!(!stuck(failure).contains(&usize::from(LATE)));
    let (_, failure) = told::<GroupedMutex<Sim, GivesBack>>(LATE_BEFORE_IT_TAKES);
    assert_eq!(failure, None);
}

/// In both stories, and in a search.
fn loses_nothing<M: NotifiedMutex>() {
    for beats in [LATE_AFTER_IT_TOOK, LATE_BEFORE_IT_TAKES] {
        let (schedule, failure) = told::<M>(beats);
        assert_eq!(failure, None, "{schedule}");
    }
    let findings = searched::<M>();
    let failure = findings.failure.map(|found| (found.schedule.to_string(), found.failure));
    assert_eq!(failure, None);
    assert_eq!(findings.schedules, SCHEDULES);
}

/// Schedules of the search.
const SCHEDULES: u64 = 60_000;

/// Schedules with one switch away from a thread that could go on, which is what the stories have.
fn searched<M: NotifiedMutex>() -> Findings {
    let machine = machine::machine();
    let mut explorer = Explorer::new(&machine, 1, Config::default(), &spawn::<M>);
    let limits = Limits { wake_ups: 0, ..Limits::default() };
    let plan = Plan { policies: vec![PolicyKind::Dfs(1)], schedules: SCHEDULES, limits };
    explorer.explore(&plan, |_| true)
}

#[test]
fn a_search_finds_both_ways_to_lose_a_wake_up() {
    for search in
        [searched::<GroupedMutex<Sim, GivesBack>>, searched::<GroupedMutex<Sim, KeepsStolen>>]
    {
        stuck(search().failure.map(|found| found.failure));
    }
}

#[test]
fn no_signal_is_lost_where_groups_count_them_from_their_start() {
    loses_nothing::<GroupedMutex<Sim, NeverSteals>>();
}

#[test]
fn condition_variables_without_groups_lose_nothing() {
    loses_nothing::<RawMutex<Sim>>();
    loses_nothing::<Futex3<Sim>>();
}
