/*
 * Park, kick and steal: the waiting policies of crates/linux/src/qspinlock/pv under the queued
 * spinlock, first come first served, on one lock.
 *
 * `cargo xtask promela` checks it with spin. It defines THREADS and one of PARK, HYBRID and BOUNDED,
 * for `Park`, `Hybrid` and `HybridBounded`; with PARK and FULL_SPIN it is `ParkFullSpin`. Names are those of the code; the grant, a node's `locked`
 * there, is `granted` here.
 *
 * - Threads lock and unlock as often as they like and stop whenever they are outside. Nothing counts
 *   passes, so a search is about any number of them. Who is never woken is left over when all others
 *   have stopped: an invalid end state.
 * - A step is one access of shared memory. Anybody may run between two of them, which is all that a
 *   preemption does. Memory is sequentially consistent: a full barrier of the code is the order of two
 *   steps here. Weaker memory is loom's.
 * - Waits for a value block. A budget ends at any look that fails, which includes the waiter that gives
 *   up because its predecessor does not run. A sleeper may wake for no reason any number of times.
 * - Every thread has one node. A kick may come so late that its thread has queued again.
 * - The hash holds one lock, so it is one place. How entries are found is not modelled.
 * - A value that nobody will read again is reset, which makes fewer states.
 *
 * Each SEED is a mistake beside the right code, which a search has to see.
 */

#define NONE THREADS
#define me _pid

/* The locked byte. */
#define FREE 0
#define LOCKED 1
#define SLOW 3

/* The lock word. */
byte locked = FREE;
bool pending = false;
byte tail = NONE;

/* The nodes. */
mtype = { RUNNING, HALTED, HASHED };
byte next[THREADS] = NONE;
bool granted[THREADS] = false;
mtype state[THREADS] = RUNNING;
bool kick[THREADS] = true;
bool asleep[THREADS] = false;

/* The waiter whose entry is in the hash. */
byte entry = NONE;

/* What the properties are about; no thread looks at it. */
byte inside = 0;        /* threads in the section */
byte head = NONE;       /* the head of the queue, until it leaves or grants */
byte robbed = 0;        /* thieves since the head is pending */
bool first_waits = false;   /* the first thread is in the queue */

/* Sleeps while `must_sleep`. Whether there was a kick matters only in here; it is
   true elsewhere, so that a late kick is no state of its own. */
inline sleep_while(must_sleep)
{
    kick[me] = false;
    atomic {
        if
#ifdef SEED_NO_SECOND_LOOK
        :: true
#else
        :: must_sleep
        :: else -> kick[me] = true
#endif
        fi
    };
    atomic {
        if
        :: !kick[me] -> asleep[me] = true
        :: true     /* no reason to sleep, or woken for no reason */
        fi;
        kick[me] = true
    };
    !asleep[me]
}

inline wake(node)
{
#ifndef SEED_KICK_LEAVES_NO_TRACE
    kick[node] = true;
#endif
    asleep[node] = false
}

inline insert(node)
{
    atomic { assert(entry == NONE && node == head); entry = node }
}

inline remove(node)
{
    atomic { assert(entry != NONE && entry == head); node = entry; entry = NONE }
}

active [THREADS] proctype thread()
{
    byte other = NONE;  /* the predecessor, then the one to grant, then the one to kick */
#ifndef BOUNDED
    bool has_entry = false;     /* it has an entry, or had one */
#endif

outside:
    if
    :: goto stopped
    :: true
    fi;

#ifdef BOUNDED
    /* One step, because the locked and the pending half are compared together. */
    atomic {
        if
        :: locked == FREE && !pending -> locked = LOCKED; goto owner
#ifndef ENDLESS_BUDGET
        /* Reserved and free for as long as that may be: the head does not run. */
        :: locked == FREE && pending -> locked = LOCKED; goto owner
#endif
        :: true     /* its patience is over */
        fi
    };
#elif defined(HYBRID)
steal:
    atomic {
        if
#ifdef SEED_STEALS_FROM_PENDING
        :: locked == FREE
        :: locked != FREE && tail == NONE -> goto queue
#else
        :: locked == FREE && !pending
        :: (locked != FREE || pending) && (tail == NONE || pending) -> goto queue
#endif
        fi
    };
    /* Only the byte is compared: the head may be pending by now. */
    atomic {
        if
        :: locked == FREE ->
            locked = LOCKED;
            robbed = (pending -> robbed + 1 : 0);
            assert(robbed < THREADS);
            goto owner
        :: else
        fi
    };
    /* It queues if it saw no tail. That is not remembered here: both. */
    if
    :: goto steal
    :: true
    fi;
#else
    atomic {
        if
        :: locked == FREE && !pending && tail == NONE -> locked = LOCKED; goto owner
        :: else
        fi
    };
#endif

queue:
    /* One step: nobody sees the node before it is the tail. */
    atomic {
        other = tail;
        tail = me;
        first_waits = first_waits || me == 0;
        if
        :: other == NONE -> head = me; goto reaches_head
        :: else
        fi
    };
    atomic { next[other] = me; other = NONE };

wait_node:
    atomic {
        if
        :: granted[me] -> granted[me] = false; goto reaches_head
        :: else
        fi
    };
#ifdef SEED_LOOKS_BEFORE_HALTED
    if
    :: !granted[me] -> state[me] = HALTED; sleep_while(state[me] == HALTED)
    :: else
    fi;
#else
    state[me] = HALTED;
    if
    :: !granted[me] -> sleep_while(state[me] == HALTED)
    :: else
    fi;
#endif
    /* Hashed stays: the owner has made the entry, or is about to. */
    atomic {
        if
        :: state[me] == HALTED -> state[me] = RUNNING
        :: else
#ifdef SEED_HASHED_IS_FORGOTTEN
            -> state[me] = RUNNING
#endif
        fi
    };
    goto wait_node;

reaches_head:
#ifndef BOUNDED
    has_entry = (state[me] == HASHED);
#endif

wait_head:
#if !defined(BOUNDED) && !defined(FULL_SPIN)
    state[me] = RUNNING;
#endif
#ifdef HYBRID
    pending = true;
#endif
#ifdef BOUNDED
    /* It competes until it has waited for long. From then on it stays pending. */
    if
#ifndef ENDLESS_BUDGET
    :: !pending
#endif
    :: pending = true
    fi;
#endif
#ifdef SEED_PLAIN_TAKE
    if
    :: locked == FREE
    :: locked != FREE -> goto give_up
    fi;
    atomic { locked = LOCKED; pending = false; robbed = 0; goto head_owns };
#else
    /* The pending bit is as the head has left it, so comparing the byte compares both. */
    atomic {
        if
        :: locked == FREE -> locked = LOCKED; pending = false; robbed = 0
#ifndef ENDLESS_BUDGET
        :: else -> goto give_up
#endif
        fi;
        goto head_owns
    };
#endif

give_up:
#if defined(HYBRID) && !defined(SEED_SLEEPS_PENDING)
    atomic { pending = false; robbed = 0 };
#endif
#ifdef BOUNDED
    if
#ifdef SEED_HASHES_AGAIN
    :: true ->
#else
    :: state[me] != HASHED ->
#endif
        state[me] = HASHED;
        insert(me);
        atomic {
            if
            :: locked == FREE -> locked = SLOW; goto free_after_all
#ifndef SEED_SLOW_WHILE_RELEASED
            /* The owner has taken the last entry out and is about to free the byte. */
            :: locked == SLOW -> goto taken_back
#endif
            :: else -> locked = SLOW
            fi
        }
    :: else
    fi;
    sleep_while(state[me] == HASHED);
#else
    if
    :: !has_entry ->
#ifndef SEED_SLOW_BEFORE_ENTRY
        insert(me);
#endif
        atomic {
            assert(locked != SLOW);
            if
#ifdef FULL_SPIN
            :: locked == FREE -> entry = NONE; goto wait_head
#elif !defined(SEED_SLEEPS_ON_FREE)
            :: locked == FREE -> locked = SLOW; goto free_after_all
#endif
            :: else -> locked = SLOW; has_entry = true
            fi
        };
#ifdef SEED_SLOW_BEFORE_ENTRY
        insert(me)
#endif
    :: else
    fi;
#ifdef SEED_HEAD_SAYS_HALTED
    state[me] = HALTED;
#elif !defined(FULL_SPIN)
    state[me] = HASHED;
#endif
#ifdef SEED_SLEEPS_ROBBED
    sleep_while(locked != FREE);
#else
    sleep_while(locked == SLOW);
#endif
#endif
    goto wait_head;

#ifdef BOUNDED
taken_back:
    entry = NONE;
    state[me] = RUNNING;
    goto wait_head;
#endif

#ifndef FULL_SPIN
free_after_all:
#if defined(BOUNDED) && !defined(SEED_OWNS_PENDING)
    atomic { locked = LOCKED; pending = false };
#else
    locked = LOCKED;
#endif
    entry = NONE;
#endif

head_owns:
    atomic {
#ifndef BOUNDED
        has_entry = false;
#endif
        state[me] = RUNNING;
        if
        :: tail == me && !pending && locked == LOCKED -> tail = NONE; head = NONE; goto owner
        :: else
        fi
    };
    atomic { next[me] != NONE -> other = next[me]; next[me] = NONE };
    atomic { granted[other] = true; head = other };
#ifndef SEED_GRANTS_WITHOUT_KICK
    atomic {
        if
        :: state[other] == HALTED ->
#ifndef SEED_GRANT_SAYS_HALTED
            state[other] = HASHED
#endif
        :: else -> other = NONE; goto owner
        fi
    };
    locked = SLOW;
    insert(other);
    other = NONE;
#endif

owner:
    atomic { inside++; assert(inside == 1); first_waits = first_waits && me != 0 };
progress:
    inside--;

    /* unlock */
#ifdef SEED_PLAIN_UNLOCK
    if
    :: locked == LOCKED -> locked = FREE; goto outside
    :: else
    fi;
#else
    atomic {
        if
        :: locked == LOCKED -> locked = FREE; goto outside
        :: else
        fi
    };
#endif
#ifdef SEED_FINDS_AFTER_RELEASE
    locked = FREE;
#endif
    remove(other);
#ifdef SEED_KICKS_TOO_EARLY
    wake(other);
#endif
#ifdef BOUNDED
    state[other] = RUNNING;
#endif
#ifndef SEED_FINDS_AFTER_RELEASE
    locked = FREE;
#endif
#ifndef SEED_KICKS_TOO_EARLY
    wake(other);
#endif
    atomic { other = NONE; goto outside };

stopped:
    skip
}

/* The first thread stands for all of them: they run the same code. */
ltl whoever_queues_gets_the_lock { [] (first_waits -> <> !first_waits) }

#define HEAD_SLEEPS (asleep[0] && state[0] == HASHED)
ltl no_head_sleeps_for_ever { [] (HEAD_SLEEPS -> <> !HEAD_SLEEPS) }
