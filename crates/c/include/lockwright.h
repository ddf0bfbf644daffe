/*
 * lockwright.h: the locks of Lockwright, for C (C99 or later) and C++.
 *
 * Linux with glibc 2.36 or later, on x86-64 and aarch64. Licence: MIT or Apache-2.0, at your choice.
 *
 * What holds for all types
 *
 * - Objects. An object whose bytes are all zero is unlocked. So a static object needs no initialiser, memory of calloc
 *   is ready, and `lw_mutex_t mutex = LW_MUTEX_INIT;` does the same for a local one. There is nothing to destroy. Do
 *   not copy or move an object that is in use. Do not share one between processes.
 * - Results. A function that can fail returns 0 or one of these numbers of <errno.h>:
 *     EBUSY      an attempt that does not wait did not get the lock
 *     ETIMEDOUT  the deadline has passed
 *     EINVAL     no such clock, tv_nsec not from 0 to 999999999, or a number out of range; nothing was done
 *     EAGAIN     8,388,608 readers hold the lock, and one more cannot be counted; nothing was done
 *     EOVERFLOW  there would be too many permits; nothing was done
 *   The others cannot fail. No function changes errno. Pointers must not be null.
 * - Deadlines. `..._until` waits until `deadline`, a time of `clock` (seconds and nanoseconds, not a duration). `clock`
 *   is CLOCK_REALTIME or CLOCK_MONOTONIC of <time.h>. If the deadline has passed, one attempt is made. A wait that
 *   spins when its deadline passes can return up to 100 microseconds late, and later if a waiter that spins ahead of it
 *   was stopped. If CLOCK_REALTIME is set meanwhile, the wait ends earlier or later.
 *   In strict C99, define _POSIX_C_SOURCE as 200809L before any header, or <time.h> has no struct timespec.
 * - Threads. A thread that asks again for a lock that it holds waits for ever, where nothing else is said. No function
 *   is a cancellation point; a thread with asynchronous cancellation must not call one.
 * - Memory. No function allocates, with the exceptions that lw_prepare names. None calls back.
 * - Limits. Up to 65,532 threads of a process can wait in queues. More look again every millisecond, in no order.
 * - Signals. A handler must not wait for a lock that the thread it interrupted holds or is about to take, nor for a
 *   lock whose owner waits for one that the interrupted thread is about to take. The handler of a fault (SIGSEGV,
 *   SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS) can interrupt an operation on an lw_rwlock_t, an lw_percpu_rwlock_t or an
 *   lw_semaphore_t where no other handler can, if that lock lies in the memory that faults, or if such a signal is
 *   sent. Then it must not use locks of these types, and must return or end the process.
 * - Fork. A child may use the locks, but for lw_rwsem_t. What another thread of the parent held stays held.
 * - A thread that goes to sleep for an lw_mutex_t that was quiet, or waits for a condition variable with it, and a
 *   writer of an lw_percpu_rwlock_t may call membarrier, which interrupts every CPU that runs the process. The
 *   environment variable LOCKWRIGHT_MEMBARRIER=off keeps the locks from it. A program with a filter of system calls
 *   calls lw_prepare first. If a filter that is installed later refuses both membarrier and sched_setaffinity, a lock
 *   that already relies on one of them prints a message and aborts the process.
 */
#ifndef LOCKWRIGHT_H
#define LOCKWRIGHT_H

#include <stdint.h>
#include <time.h>

#define LW_VERSION_MAJOR 0
#define LW_VERSION_MINOR 1
#define LW_VERSION_PATCH 0

#if defined(__GNUC__)
#define LW_RESULT __attribute__((__warn_unused_result__))
#else
#define LW_RESULT
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* <time.h> has it, but not in strict C99. */
struct timespec;

/*
 * Does at once what the locks do otherwise when they first need it: maps a page, reads some small files, asks which
 * system calls there are. Call it before a filter of system calls is installed, or where the C library must not
 * allocate when a lock is taken. It registers a handler of fork, for which the C library may allocate. The first reader
 * of an lw_percpu_rwlock_t does that otherwise. Takes about 10 milliseconds in a process that has threads.
 *
 * A filter has to allow futex, rt_sigprocmask, getcpu and clock_gettime, and either membarrier, or sched_getaffinity
 * and sched_setaffinity. An lw_percpu_rwlock_t also needs gettid and kill. Waiters also call sched_getscheduler and
 * sched_yield: a filter may let these two fail, but must not end the process for them.
 */
void lw_prepare(void);

/*
 * lw_mutex_t: one thread at a time holds it. A thread that has to wait spins for some microseconds and then sleeps.
 *
 * Ordering: a thread that takes the lock sees what earlier owners did before they released it.
 *
 * Fairness: a thread that comes when the lock is free takes it, even if others sleep. Those are woken in the order in
 * which they went to sleep. One that was woken, and 4 milliseconds later still finds the lock held, reserves it: from
 * then on only threads that were woken get it, until this one has had it. If they have no CPU for 50 microseconds while
 * the lock is free, another thread may take it. So 4 milliseconds are no bound on a busy machine: with 32 threads on two
 * CPUs, a wait of 41 milliseconds was measured.
 *
 * Wrong use: no thread is recorded as the owner, so any thread may release the lock for its owner. Releasing a free lock
 * does nothing, unless a thread takes it at that moment: then two threads may hold it.
 *
 * Memory: the release does not touch the lock after other threads can take it. So the next owner may free it.
 */
typedef struct lw_mutex {
    uint32_t lw_private[2];
} lw_mutex_t;
#define LW_MUTEX_INIT {{0, 0}}

/* Takes the lock, and waits for it. */
void lw_mutex_lock(lw_mutex_t *mutex);
/* Takes the lock if it is free; else EBUSY. */
LW_RESULT int lw_mutex_try_lock(lw_mutex_t *mutex);
/* Takes the lock before the deadline; else ETIMEDOUT. EINVAL. */
LW_RESULT int lw_mutex_lock_until(lw_mutex_t *mutex, int clock, const struct timespec *deadline);
/* Releases the lock. */
void lw_mutex_unlock(lw_mutex_t *mutex);
/* Releases the lock for a thread that sleeps for it, if there is one. The lock stays free until a thread runs that was
 * woken: no other thread takes it. */
void lw_mutex_unlock_fair(lw_mutex_t *mutex);

/*
 * lw_cond_t: a condition variable for lw_mutex_t. A wait ends only with a notification or at its deadline. Wait in a loop
 * all the same if another thread may change the condition before the caller has the mutex again. (With more than 8,000
 * waiters, and in a child that was forked in a signal handler during the wait, a wait can end without a notification.)
 *
 * Ordering: that of the mutex. A notification orders nothing by itself.
 *
 * Fairness: a notification of one thread is for a thread that has just begun to wait and still spins, if there is one;
 * every 64th such notification, and all if no thread spins, are for a thread that sleeps: as a rule the one that has
 * slept longest.
 *
 * Wrong use: threads may wait with different mutexes; they are woken one by one then, which costs more. A thread that
 * waits with a mutex that it does not hold releases it for its owner.
 *
 * Memory: no thread may use the object any more when it is freed. Threads that wait use it until their calls return,
 * also after a notification. A thread that lw_cond_signal has woken may free it. lw_cond_broadcast may use it until it
 * returns.
 */
typedef struct lw_cond {
    uint64_t lw_private[2];
} lw_cond_t;
#define LW_COND_INIT {{0, 0}}

/* Releases the mutex, waits for a notification, and takes the mutex again. */
void lw_cond_wait(lw_cond_t *cond, lw_mutex_t *mutex);
/* The same, until the deadline: ETIMEDOUT if it has passed and no notification came before. EINVAL, in which case the
 * mutex was not released. In every case the caller holds the mutex when it returns. */
LW_RESULT int lw_cond_wait_until(lw_cond_t *cond, lw_mutex_t *mutex, int clock, const struct timespec *deadline);
/* Ends the wait of one thread, if one waits. The caller need not hold the mutex. */
void lw_cond_signal(lw_cond_t *cond);
/* Ends the waits of all threads. One is woken; the others get the mutex one after another. */
void lw_cond_broadcast(lw_cond_t *cond);

/*
 * lw_rwlock_t: one writer, or many readers. A thread that has to wait spins for some microseconds and then sleeps. One
 * of the readers can be upgradable: it may become the writer.
 *
 * Ordering: a writer sees what all earlier writers and readers did before they released the lock, a reader what all
 * earlier writers did.
 *
 * Fairness: threads that come when the lock is free take it, and readers join readers. The others wait in the order of
 * their arrival. The lock is reserved for the first of them if it still finds the lock held after 4 milliseconds, and
 * for a writer that has waited for as long while readers hold the lock. Threads that come then queue behind it. When a
 * reader that waited gets the lock, all readers that wait get it. Where sections take 20 microseconds or longer,
 * writers and readers take turns. A thread that waits gets the lock after the sections of the threads that hold it or
 * are served before it, with at most one phase of readers between two writers, plus 10 milliseconds, plus the time
 * until a thread that is woken runs. There is no bound next to threads that take the lock again and again by attempts
 * or by lw_rwlock_lock_shared_again, or that hold it for longer than 10 milliseconds as readers: a reader that has
 * waited for as long joins readers, because it may be one of them.
 *
 * Recursion: a reader may read again, even if a writer waits. That can take 10 milliseconds if another thread has
 * released what it read, or if it read by another copy of this library, and lw_rwlock_lock_shared_again does not wait.
 * A writer that asks again waits for ever.
 *
 * Wrong use: no thread is recorded. Any thread may release for another. Releasing what is not held, or in the wrong
 * mode, breaks the lock: threads may wait for ever or be let in together.
 *
 * Memory: as lw_mutex_t.
 */
typedef struct lw_rwlock {
    uint32_t lw_private[1];
} lw_rwlock_t;
#define LW_RWLOCK_INIT {{0}}

/* The writer. */
void lw_rwlock_lock(lw_rwlock_t *lock);
LW_RESULT int lw_rwlock_try_lock(lw_rwlock_t *lock);
LW_RESULT int lw_rwlock_lock_until(lw_rwlock_t *lock, int clock, const struct timespec *deadline);
void lw_rwlock_unlock(lw_rwlock_t *lock);
/* Releases the lock for the thread that has waited longest, if one sleeps: threads that come queue behind it. */
void lw_rwlock_unlock_fair(lw_rwlock_t *lock);
/* The writer goes on as a reader; no thread writes in between. */
void lw_rwlock_downgrade(lw_rwlock_t *lock);

/* Readers. If 8,388,608 of them hold the lock, the next one cannot be counted: functions with a result return EAGAIN, and
 * the others print a message and end the process. So it is with the readers of an lw_percpu_rwlock_t. */
void lw_rwlock_lock_shared(lw_rwlock_t *lock);
/* For a thread that reads already: does not wait for writers that wait. */
void lw_rwlock_lock_shared_again(lw_rwlock_t *lock);
LW_RESULT int lw_rwlock_try_lock_shared(lw_rwlock_t *lock);
LW_RESULT int lw_rwlock_lock_shared_until(lw_rwlock_t *lock, int clock, const struct timespec *deadline);
void lw_rwlock_unlock_shared(lw_rwlock_t *lock);
void lw_rwlock_unlock_shared_fair(lw_rwlock_t *lock);

/* The upgradable reader, of which there is one at a time, next to other readers. */
void lw_rwlock_lock_upgradable(lw_rwlock_t *lock);
LW_RESULT int lw_rwlock_try_lock_upgradable(lw_rwlock_t *lock);
LW_RESULT int lw_rwlock_lock_upgradable_until(lw_rwlock_t *lock, int clock, const struct timespec *deadline);
void lw_rwlock_unlock_upgradable(lw_rwlock_t *lock);
/* Waits for the other readers, in front of all threads that wait, and becomes the writer; no thread writes in between.
 * EBUSY or ETIMEDOUT: the caller is still the upgradable reader. */
void lw_rwlock_upgrade(lw_rwlock_t *lock);
LW_RESULT int lw_rwlock_try_upgrade(lw_rwlock_t *lock);
LW_RESULT int lw_rwlock_upgrade_until(lw_rwlock_t *lock, int clock, const struct timespec *deadline);
/* The upgradable reader goes on as a plain reader, or the writer as the upgradable reader. */
void lw_rwlock_downgrade_upgradable(lw_rwlock_t *lock);
void lw_rwlock_downgrade_to_upgradable(lw_rwlock_t *lock);

/*
 * lw_percpu_rwlock_t: the distributed reader-writer lock, for data that is read more than a million times for each
 * write. Once no thread has written for thousands of reads, a reader writes only to memory of its own thread. The next
 * writer then interrupts every CPU that runs the process, and waits for the readers. Where writes are more frequent it
 * can be several times slower than lw_rwlock_t.
 *
 * Ordering, fairness, recursion: as lw_rwlock_t.
 *
 * Wrong use: a reader is recorded in memory of its thread. So the thread that took the lock as a reader must release
 * it. If another thread does, the lock is broken. For the writer, as lw_rwlock_t.
 *
 * Memory: as lw_mutex_t.
 */
typedef struct lw_percpu_rwlock {
    uint64_t lw_private[2];
} lw_percpu_rwlock_t;
#define LW_PERCPU_RWLOCK_INIT {{0, 0}}

/* The writer. */
void lw_percpu_rwlock_lock(lw_percpu_rwlock_t *lock);
LW_RESULT int lw_percpu_rwlock_try_lock(lw_percpu_rwlock_t *lock);
LW_RESULT int lw_percpu_rwlock_lock_until(lw_percpu_rwlock_t *lock, int clock, const struct timespec *deadline);
void lw_percpu_rwlock_unlock(lw_percpu_rwlock_t *lock);
/* The writer goes on as a reader; no thread writes in between. */
void lw_percpu_rwlock_downgrade(lw_percpu_rwlock_t *lock);
/* Readers. */
void lw_percpu_rwlock_lock_shared(lw_percpu_rwlock_t *lock);
LW_RESULT int lw_percpu_rwlock_try_lock_shared(lw_percpu_rwlock_t *lock);
LW_RESULT int lw_percpu_rwlock_lock_shared_until(lw_percpu_rwlock_t *lock, int clock, const struct timespec *deadline);
void lw_percpu_rwlock_unlock_shared(lw_percpu_rwlock_t *lock);

/*
 * lw_rwsem_t: the Linux kernel's reader-writer semaphore, to compare with. Most programs are better off with
 * lw_rwlock_t, which is smaller and lets a reader read again.
 *
 * Ordering: as lw_rwlock_t.
 *
 * Fairness: threads that come may overtake those that wait. Once the first of these has waited for 4 milliseconds, or
 * was woken, and finds the lock held again, no thread overtakes it.
 *
 * Attempts that do not wait may fail on a lock that is free, if a thread waits for it or a reader is just trying. A
 * reader that reads again may wait for ever if a writer came in between.
 *
 * Wrong use: as lw_rwlock_t. A handler of signals must not take the lock if the thread that it interrupted may be about
 * to take or release it. A forked child may use it only if no thread waited for it at the time of the fork.
 *
 * Memory: the release touches the object after other threads can take it. So it has to outlive every call.
 */
typedef struct lw_rwsem {
    uint64_t lw_private[6];
} lw_rwsem_t;
#define LW_RWSEM_INIT {{0, 0, 0, 0, 0, 0}}

/* The writer. */
void lw_rwsem_lock(lw_rwsem_t *lock);
LW_RESULT int lw_rwsem_try_lock(lw_rwsem_t *lock);
LW_RESULT int lw_rwsem_lock_until(lw_rwsem_t *lock, int clock, const struct timespec *deadline);
void lw_rwsem_unlock(lw_rwsem_t *lock);
/* The writer goes on as a reader; no thread writes in between. */
void lw_rwsem_downgrade(lw_rwsem_t *lock);
/* Readers. */
void lw_rwsem_lock_shared(lw_rwsem_t *lock);
LW_RESULT int lw_rwsem_try_lock_shared(lw_rwsem_t *lock);
LW_RESULT int lw_rwsem_lock_shared_until(lw_rwsem_t *lock, int clock, const struct timespec *deadline);
void lw_rwsem_unlock_shared(lw_rwsem_t *lock);

/*
 * lw_spinlock_t: waiters spin in a queue and never sleep. Use it only if every thread that wants the lock has a CPU to
 * itself and holds the lock for nanoseconds. If a waiter loses its CPU, all threads behind it wait until it runs again.
 *
 * Ordering: as lw_mutex_t.
 *
 * Fairness: first come, first served, from the moment at which a thread has joined the queue.
 *
 * Deadlines: a waiter whose deadline has passed returns at most 100 microseconds later, if it has a CPU. Until its turn
 * would have come, further attempts of its thread that have a deadline wait without a place in a queue. What is left
 * until a deadline of CLOCK_REALTIME is measured when the thread begins to wait and when its turn comes.
 *
 * Wrong use: as lw_mutex_t.
 *
 * Memory: as lw_mutex_t.
 */
typedef struct lw_spinlock {
    uint32_t lw_private[1];
} lw_spinlock_t;
#define LW_SPINLOCK_INIT {{0}}

void lw_spinlock_lock(lw_spinlock_t *lock);
/* EBUSY if a thread holds the lock or waits for it. */
LW_RESULT int lw_spinlock_try_lock(lw_spinlock_t *lock);
LW_RESULT int lw_spinlock_lock_until(lw_spinlock_t *lock, int clock, const struct timespec *deadline);
void lw_spinlock_unlock(lw_spinlock_t *lock);

/*
 * lw_cna_spinlock_t: the NUMA-aware spinlock (CNA): an lw_spinlock_t for machines with several NUMA nodes. Waiters on
 * the owner's node are served first for a while. On a machine with one node, and by default in a virtual machine, it
 * does what lw_spinlock_t does. LOCKWRIGHT_NUMA_SPINLOCK=on or off in the environment decides that.
 *
 * Fairness: waiters of other nodes are overtaken for at most 65,536 handoffs; then it is their turn.
 *
 * All else: as lw_spinlock_t.
 */
typedef struct lw_cna_spinlock {
    uint32_t lw_private[1];
} lw_cna_spinlock_t;
#define LW_CNA_SPINLOCK_INIT {{0}}

void lw_cna_spinlock_lock(lw_cna_spinlock_t *lock);
LW_RESULT int lw_cna_spinlock_try_lock(lw_cna_spinlock_t *lock);
LW_RESULT int lw_cna_spinlock_lock_until(lw_cna_spinlock_t *lock, int clock, const struct timespec *deadline);
void lw_cna_spinlock_unlock(lw_cna_spinlock_t *lock);

/*
 * lw_semaphore_t: a counting semaphore. Threads take permits, and sleep while there are too few. All zero bytes are a
 * semaphore without permits; LW_SEMAPHORE_INIT(n) has n of them, at most LW_SEMAPHORE_MAX.
 *
 * Ordering: a thread that gets permits sees what was done before they were released.
 *
 * Fairness: first come, first served. A thread that comes later never gets permits before one that waits, not even if
 * there are enough for it and too few for the one that waits.
 *
 * Wrong use: permits have no owner, so any thread may release any number of them at any time, a signal handler too. A
 * thread that asks for more than LW_SEMAPHORE_MAX waits for ever.
 *
 * Memory: as lw_mutex_t, for the thread that gets the permits.
 */
typedef struct lw_semaphore {
    uint32_t lw_private[1];
} lw_semaphore_t;
#define LW_SEMAPHORE_INIT(permits) {{(permits)}}
#define LW_SEMAPHORE_MAX 2147483647u

/* Gives a semaphore that no thread uses this number of permits; EINVAL above LW_SEMAPHORE_MAX. */
LW_RESULT int lw_semaphore_init(lw_semaphore_t *semaphore, unsigned permits);
/* Takes this number of permits, all at once, and waits for them. 0 waits only while threads that came earlier wait. */
void lw_semaphore_acquire(lw_semaphore_t *semaphore, unsigned permits);
/* EBUSY if there are too few, or if a thread waits. */
LW_RESULT int lw_semaphore_try_acquire(lw_semaphore_t *semaphore, unsigned permits);
LW_RESULT int lw_semaphore_acquire_until(lw_semaphore_t *semaphore, unsigned permits, int clock,
                                         const struct timespec *deadline);
/* Adds permits; EOVERFLOW, and none are added, if there would be more than LW_SEMAPHORE_MAX. */
int lw_semaphore_release(lw_semaphore_t *semaphore, unsigned permits);
/* How many there are now. Another thread may change it at any time. Orders nothing. */
unsigned lw_semaphore_available(const lw_semaphore_t *semaphore);

/* Sizes and alignments are a part of the interface of the library; the other side asserts them, too. */
#define LW_ASSERT_LAYOUT(type, size, alignment)                                                                       \
    typedef char lw_size_of_##type[sizeof(struct type) == (size) ? 1 : -1];                                           \
    struct lw_place_of_##type {                                                                                       \
        char before;                                                                                                  \
        struct type object;                                                                                           \
    };                                                                                                                \
    typedef char lw_alignment_of_##type[sizeof(struct lw_place_of_##type) == (size) + (alignment) ? 1 : -1]
LW_ASSERT_LAYOUT(lw_mutex, 8, 4);
LW_ASSERT_LAYOUT(lw_cond, 16, 8);
LW_ASSERT_LAYOUT(lw_rwlock, 4, 4);
LW_ASSERT_LAYOUT(lw_percpu_rwlock, 16, 8);
LW_ASSERT_LAYOUT(lw_rwsem, 48, 8);
LW_ASSERT_LAYOUT(lw_spinlock, 4, 4);
LW_ASSERT_LAYOUT(lw_cna_spinlock, 4, 4);
LW_ASSERT_LAYOUT(lw_semaphore, 4, 4);
#undef LW_ASSERT_LAYOUT

#ifdef __cplusplus
}
#endif

#endif
