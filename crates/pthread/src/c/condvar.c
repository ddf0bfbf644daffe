/*
 * Condition variables. Rust has the steps of a wait; here a thread sleeps between them. A thread that is cancelled in
 * its sleep leaves by unwinding, so no Rust function may be on its stack then.
 *
 * byte  0      8      16      20       24                                    48
 *      +------+------+-------+--------+-------------------------------------+
 *      |  in Rust    | clock | inside | seen; zero where glibc marks shared |
 *      +------+------+-------+--------+-------------------------------------+
 *
 * `inside` counts threads that wait and may still look at the object. `pthread_cond_destroy` waits for them, since a
 * program may destroy a condition variable as soon as it has notified all threads. The highest bit says that it does.
 * Some of them sleep until their mutex is released, and the caller may hold that mutex: it wakes them first.
 */
#include "glibc.h"
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct lw_wait {
    uint32_t *address;
    uint32_t expected;
    uint32_t kinds;
    char rest[128 - 16];
} __attribute__((aligned(16)));

int lw_wait_begin(struct lw_wait *wait, pthread_cond_t *condvar, pthread_mutex_t *mutex);
bool lw_wait_is_over(struct lw_wait *wait);
void lw_wait_is_woken(struct lw_wait *wait);
void lw_wait_is_late(struct lw_wait *wait);
void lw_wait_is_cancelled(struct lw_wait *wait);
int lw_wait_end(struct lw_wait *wait);
void lw_condvar_notify(pthread_cond_t *condvar, bool all);
void lw_condvar_wake_notified(pthread_cond_t *condvar);
void lw_release_gates(void);

struct condvar {
    uint64_t in_rust[2];
    uint32_t clock;
    uint32_t inside;
    /* Not 0 if it was counted. glibc marks a shared one later. */
    uint32_t seen;
};

#define DESTROYED_SOON 0x80000000u

static bool is_shared(const pthread_cond_t *condvar)
{
    const uint32_t *mark = (const uint32_t *)((const char *)condvar + lw_shared_at);
    return (__atomic_load_n(mark, __ATOMIC_RELAXED) & lw_shared_bits) != 0;
}

int lw_condvar_init(pthread_cond_t *condvar, const pthread_condattr_t *attributes)
{
    clockid_t clock = CLOCK_REALTIME;
    int shared = PTHREAD_PROCESS_PRIVATE;
    if (attributes != NULL) {
        pthread_condattr_getclock(attributes, &clock);
        pthread_condattr_getpshared(attributes, &shared);
    }
    if (shared == PTHREAD_PROCESS_SHARED)
        return lw_glibc_cond_init(condvar, attributes);
    memset(condvar, 0, sizeof *condvar);
    ((struct condvar *)condvar)->clock = (uint32_t)clock;
    return 0;
}

static long futex(uint32_t *address, int operation, uint32_t value, const struct timespec *deadline,
                  uint32_t kinds)
{
    return syscall(SYS_futex, address, operation, value, deadline, NULL, kinds);
}

static void leave(struct condvar *of)
{
    uint32_t *inside = &of->inside;
    if (__atomic_fetch_sub(inside, 1, __ATOMIC_RELEASE) == (DESTROYED_SOON | 1))
        futex(inside, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL, 0);
}

int lw_condvar_destroy(pthread_cond_t *condvar)
{
    struct condvar *of = (struct condvar *)condvar;
    if (is_shared(condvar))
        return lw_glibc_cond_destroy(condvar);
    int error = errno;
    uint32_t seen = __atomic_or_fetch(&of->inside, DESTROYED_SOON, __ATOMIC_ACQUIRE);
    if (seen != DESTROYED_SOON)
        lw_condvar_wake_notified(condvar);
    while (seen != DESTROYED_SOON) {
        futex(&of->inside, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, seen, NULL,
              FUTEX_BITSET_MATCH_ANY);
        seen = __atomic_load_n(&of->inside, __ATOMIC_ACQUIRE);
    }
    errno = error;
    return 0;
}

struct cancelled {
    struct lw_wait wait;
    struct condvar *of;
};

static void cancel(void *argument)
{
    struct cancelled *cancelled = argument;
    lw_wait_is_cancelled(&cancelled->wait);
    leave(cancelled->of);
    lw_wait_end(&cancelled->wait);
}

/* Sleeps until the wait is over. The only place where a thread can be cancelled. */
static void sleep_until_over(struct lw_wait *wait, clockid_t clock, const struct timespec *deadline)
{
    int operation = FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG;
    if (deadline != NULL && clock == CLOCK_REALTIME)
        operation |= FUTEX_CLOCK_REALTIME;
    while (!lw_wait_is_over(wait)) {
        if (deadline != NULL && deadline->tv_sec < 0) {
            lw_wait_is_late(wait);
            return;
        }
        int type;
        pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
        long result = futex(wait->address, operation, wait->expected, deadline, wait->kinds);
        int error = errno;
        pthread_setcanceltype(type, NULL);
        if (result == 0)
            lw_wait_is_woken(wait);
        else if (error == ETIMEDOUT) {
            lw_wait_is_late(wait);
            return;
        }
    }
}

static int wait_as_private(pthread_cond_t *condvar, pthread_mutex_t *mutex, clockid_t clock,
                           const struct timespec *deadline)
{
    struct cancelled here;
    here.of = (struct condvar *)condvar;
    int before = errno;
    __atomic_fetch_add(&here.of->inside, 1, __ATOMIC_RELAXED);
    int error = lw_wait_begin(&here.wait, condvar, mutex);
    if (error != 0) {
        leave(here.of);
        return error;
    }
    pthread_cleanup_push(cancel, &here);
    sleep_until_over(&here.wait, clock, deadline);
    pthread_cleanup_pop(0);
    leave(here.of);
    error = lw_wait_end(&here.wait);
    errno = before;
    return error;
}

/*
 * A shared condition variable is glibc's, which would release and take a mutex of ours by itself. So it is given a
 * mutex of its own kind instead, and ours is released while that is held. A thread that notifies holds it, too, once
 * there are such waiters: it cannot come between the two.
 */
static pthread_mutex_t stand_in[64];
static bool has_stand_ins;

static pthread_mutex_t *stand_in_of(const pthread_cond_t *condvar)
{
    return &stand_in[(uintptr_t)condvar / 16 % 64];
}

struct exchanged {
    pthread_mutex_t *stand_in;
    pthread_mutex_t *mutex;
};

static void change_back(void *argument)
{
    struct exchanged *exchanged = argument;
    lw_glibc_mutex_unlock(exchanged->stand_in);
    lw_mutex_lock(exchanged->mutex);
    __atomic_fetch_sub(&exchanged->mutex->__data.__nusers, 1, __ATOMIC_RELAXED);
}

/* A child of fork has one thread. What other threads of the parent held is free there. */
static void begin_child(void)
{
    memset(stand_in, 0, sizeof stand_in);
    lw_release_gates();
}

void lw_follow_forks(void)
{
    pthread_atfork(NULL, NULL, begin_child);
}

static int wait_in_glibc(pthread_cond_t *condvar, pthread_mutex_t *mutex, clockid_t clock,
                         const struct timespec *deadline)
{
    if (deadline == NULL)
        return lw_glibc_cond_wait(condvar, mutex);
    if (clock == -1)
        return lw_glibc_cond_timedwait(condvar, mutex, deadline);
    return lw_glibc_cond_clockwait(condvar, mutex, clock, deadline);
}

static bool is_ours(const pthread_mutex_t *mutex)
{
    return (mutex->__data.__kind & ~0x300) <= 3 && mutex->__data.__kind >= 0;
}

static int wait_as_shared(pthread_cond_t *condvar, pthread_mutex_t *mutex, clockid_t clock,
                          const struct timespec *deadline)
{
    if (!is_ours(mutex))
        return wait_in_glibc(condvar, mutex, clock, deadline);
    struct exchanged exchanged = {stand_in_of(condvar), mutex};
    __atomic_store_n(&has_stand_ins, true, __ATOMIC_SEQ_CST);
    lw_glibc_mutex_lock(exchanged.stand_in);
    /* As in other waits: who destroys the mutex meanwhile is told that it is in use. */
    __atomic_fetch_add(&mutex->__data.__nusers, 1, __ATOMIC_RELAXED);
    int error = lw_mutex_unlock(mutex);
    if (error != 0) {
        __atomic_fetch_sub(&mutex->__data.__nusers, 1, __ATOMIC_RELAXED);
        lw_glibc_mutex_unlock(exchanged.stand_in);
        return error;
    }
    pthread_cleanup_push(change_back, &exchanged);
    error = wait_in_glibc(condvar, exchanged.stand_in, clock, deadline);
    pthread_cleanup_pop(1);
    return error;
}

int lw_condvar_wait(pthread_cond_t *condvar, pthread_mutex_t *mutex, clockid_t clock,
                    const struct timespec *deadline)
{
    if (deadline != NULL && (deadline->tv_nsec < 0 || deadline->tv_nsec > 999999999))
        return EINVAL;
    if (clock != -1 && clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC)
        return EINVAL;
    if (is_shared(condvar))
        return wait_as_shared(condvar, mutex, clock, deadline);
    if (clock == -1)
        clock = (clockid_t)((struct condvar *)condvar)->clock;
    lw_count_condvar(&((struct condvar *)condvar)->seen);
    return wait_as_private(condvar, mutex, clock, deadline);
}

static int notify_in_glibc(pthread_cond_t *condvar, bool all)
{
    bool holds = __atomic_load_n(&has_stand_ins, __ATOMIC_SEQ_CST);
    pthread_mutex_t *mutex = stand_in_of(condvar);
    if (holds)
        lw_glibc_mutex_lock(mutex);
    int error = all ? lw_glibc_cond_broadcast(condvar) : lw_glibc_cond_signal(condvar);
    if (holds)
        lw_glibc_mutex_unlock(mutex);
    return error;
}

int lw_condvar_signal(pthread_cond_t *condvar)
{
    if (is_shared(condvar))
        return notify_in_glibc(condvar, false);
    lw_condvar_notify(condvar, false);
    return 0;
}

int lw_condvar_broadcast(pthread_cond_t *condvar)
{
    if (is_shared(condvar))
        return notify_in_glibc(condvar, true);
    lw_condvar_notify(condvar, true);
    return 0;
}
