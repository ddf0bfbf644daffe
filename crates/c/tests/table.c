/* Calls of every function and their results, and storms of threads on every type. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <lockwright.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int failures;

#define IS(expected, call)                                                                                             \
    do {                                                                                                               \
        int is;                                                                                                        \
        errno = 77;                                                                                                    \
        is = (call);                                                                                                   \
        if (is != (expected) || errno != 77) {                                                                         \
            printf("line %d: %s: %d (%s), errno %d\n", __LINE__, #call, is, strerror(is), errno);                      \
            failures++;                                                                                                \
        }                                                                                                              \
    } while (0)

#define DO(call) IS(0, (call, 0))

/* The time of `clock` in that many milliseconds. */
static struct timespec from_now(clockid_t clock, long milliseconds)
{
    struct timespec time;
    clock_gettime(clock, &time);
    time.tv_sec += milliseconds / 1000;
    time.tv_nsec += milliseconds % 1000 * 1000000;
    if (time.tv_nsec >= 1000000000) {
        time.tv_sec++;
        time.tv_nsec -= 1000000000;
    } else if (time.tv_nsec < 0) {
        time.tv_sec--;
        time.tv_nsec += 1000000000;
    }
    return time;
}

/* Returns 1 if the time has come. */
static int has_come(clockid_t clock, const struct timespec *time)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec > time->tv_sec || (now.tv_sec == time->tv_sec && now.tv_nsec >= time->tv_nsec);
}

/* `call` with a deadline, while it cannot succeed: every clock, wrong times, and times that have passed. */
#define TIMES_OUT(call)                                                                                                \
    do {                                                                                                               \
        static const clockid_t clocks[] = {CLOCK_MONOTONIC, CLOCK_REALTIME};                                           \
        struct timespec time, *deadline = &time;                                                                       \
        int at, clock;                                                                                                 \
        for (at = 0; at < 2; at++) {                                                                                   \
            clock = clocks[at];                                                                                        \
            time = from_now(clock, 20);                                                                                \
            IS(ETIMEDOUT, call);                                                                                       \
            IS(1, has_come(clock, &time));                                                                             \
            time = from_now(clock, -1000);                                                                             \
            IS(ETIMEDOUT, call);                                                                                       \
            time.tv_sec = -1;                                                                                          \
            IS(ETIMEDOUT, call);                                                                                       \
            time.tv_nsec = 1000000000;                                                                                 \
            IS(EINVAL, call);                                                                                          \
            time.tv_nsec = -1;                                                                                         \
            IS(EINVAL, call);                                                                                          \
        }                                                                                                              \
        clock = CLOCK_PROCESS_CPUTIME_ID;                                                                              \
        time = from_now(CLOCK_MONOTONIC, 20);                                                                          \
        IS(EINVAL, call);                                                                                              \
    } while (0)

/* `call` with a deadline that has passed, a far one, and the farthest, while it can succeed; `undo` undoes it. */
#define IN_TIME(call, undo)                                                                                            \
    do {                                                                                                               \
        int clock = CLOCK_REALTIME;                                                                                    \
        struct timespec time = from_now(clock, -1000), *deadline = &time;                                              \
        IS(0, call);                                                                                                   \
        DO(undo);                                                                                                      \
        clock = CLOCK_MONOTONIC;                                                                                       \
        time = from_now(clock, 100000);                                                                                \
        IS(0, call);                                                                                                   \
        DO(undo);                                                                                                      \
        memset(&time, 0x7f, sizeof time);                                                                              \
        time.tv_nsec = 999999999;                                                                                      \
        IS(0, call);                                                                                                   \
        DO(undo);                                                                                                      \
    } while (0)

#define EXCLUSIVE(kind, object)                                                                                        \
    DO(lw_##kind##_lock(&object));                                                                                     \
    IS(EBUSY, lw_##kind##_try_lock(&object));                                                                          \
    TIMES_OUT(lw_##kind##_lock_until(&object, clock, deadline));                                                       \
    DO(lw_##kind##_unlock(&object));                                                                                   \
    IS(0, lw_##kind##_try_lock(&object));                                                                              \
    DO(lw_##kind##_unlock(&object));                                                                                   \
    IN_TIME(lw_##kind##_lock_until(&object, clock, deadline), lw_##kind##_unlock(&object))

#define SHARED(kind, object)                                                                                           \
    DO(lw_##kind##_lock_shared(&object));                                                                              \
    IS(0, lw_##kind##_try_lock_shared(&object));                                                                       \
    IN_TIME(lw_##kind##_lock_shared_until(&object, clock, deadline), lw_##kind##_unlock_shared(&object));              \
    IS(EBUSY, lw_##kind##_try_lock(&object));                                                                          \
    TIMES_OUT(lw_##kind##_lock_until(&object, clock, deadline));                                                       \
    DO(lw_##kind##_unlock_shared(&object));                                                                            \
    DO(lw_##kind##_unlock_shared(&object));                                                                            \
    IS(0, lw_##kind##_try_lock(&object));                                                                              \
    IS(EBUSY, lw_##kind##_try_lock_shared(&object));                                                                   \
    TIMES_OUT(lw_##kind##_lock_shared_until(&object, clock, deadline));                                                \
    DO(lw_##kind##_downgrade(&object));                                                                                \
    IS(0, lw_##kind##_try_lock_shared(&object));                                                                       \
    DO(lw_##kind##_unlock_shared(&object));                                                                            \
    DO(lw_##kind##_unlock_shared(&object))

/* Objects of zeroes, without initialisers. */
static lw_mutex_t mutex;
static lw_cond_t cond;
static lw_rwlock_t rwlock;
static lw_percpu_rwlock_t percpu_rwlock;
static lw_rwsem_t rwsem;
static lw_spinlock_t spinlock;
static lw_cna_spinlock_t cna_spinlock;
static lw_semaphore_t semaphore;

static void locks(void)
{
    EXCLUSIVE(mutex, mutex);
    DO(lw_mutex_lock(&mutex));
    DO(lw_mutex_unlock_fair(&mutex));
    EXCLUSIVE(spinlock, spinlock);
    EXCLUSIVE(cna_spinlock, cna_spinlock);
    EXCLUSIVE(rwlock, rwlock);
    SHARED(rwlock, rwlock);
    EXCLUSIVE(percpu_rwlock, percpu_rwlock);
    SHARED(percpu_rwlock, percpu_rwlock);
    EXCLUSIVE(rwsem, rwsem);
    SHARED(rwsem, rwsem);
    puts("locks");
}

static void upgrades(void)
{
    DO(lw_rwlock_lock_upgradable(&rwlock));
    IS(EBUSY, lw_rwlock_try_lock_upgradable(&rwlock));
    TIMES_OUT(lw_rwlock_lock_upgradable_until(&rwlock, clock, deadline));
    IS(0, lw_rwlock_try_lock_shared(&rwlock));
    IS(EBUSY, lw_rwlock_try_upgrade(&rwlock));
    TIMES_OUT(lw_rwlock_upgrade_until(&rwlock, clock, deadline));
    DO(lw_rwlock_lock_shared_again(&rwlock));
    DO(lw_rwlock_unlock_shared_fair(&rwlock));
    DO(lw_rwlock_unlock_shared(&rwlock));
    IN_TIME(lw_rwlock_upgrade_until(&rwlock, clock, deadline), lw_rwlock_downgrade_to_upgradable(&rwlock));
    IS(0, lw_rwlock_try_upgrade(&rwlock));
    IS(EBUSY, lw_rwlock_try_lock_shared(&rwlock));
    DO(lw_rwlock_downgrade_to_upgradable(&rwlock));
    DO(lw_rwlock_upgrade(&rwlock));
    DO(lw_rwlock_downgrade_to_upgradable(&rwlock));
    DO(lw_rwlock_downgrade_upgradable(&rwlock));
    IS(0, lw_rwlock_try_lock_upgradable(&rwlock));
    DO(lw_rwlock_unlock_upgradable(&rwlock));
    DO(lw_rwlock_unlock_shared(&rwlock));
    IN_TIME(lw_rwlock_lock_upgradable_until(&rwlock, clock, deadline), lw_rwlock_unlock_upgradable(&rwlock));
    DO(lw_rwlock_lock(&rwlock));
    DO(lw_rwlock_unlock_fair(&rwlock));
    IS(0, rwlock.lw_private[0]);
    puts("upgrades");
}

static void permits(void)
{
    static lw_semaphore_t three = LW_SEMAPHORE_INIT(3);
    IS(3, lw_semaphore_available(&three));
    IS(0, lw_semaphore_available(&semaphore));
    IS(EBUSY, lw_semaphore_try_acquire(&semaphore, 1));
    IS(0, lw_semaphore_release(&semaphore, 2));
    DO(lw_semaphore_acquire(&semaphore, 1));
    IS(EBUSY, lw_semaphore_try_acquire(&semaphore, 2));
    TIMES_OUT(lw_semaphore_acquire_until(&semaphore, 2, clock, deadline));
    IN_TIME(lw_semaphore_acquire_until(&semaphore, 1, clock, deadline), (void)lw_semaphore_release(&semaphore, 1));
    IS(0, lw_semaphore_try_acquire(&semaphore, 1));
    IS(EINVAL, lw_semaphore_init(&semaphore, LW_SEMAPHORE_MAX + 1));
    IS(0, lw_semaphore_init(&semaphore, LW_SEMAPHORE_MAX));
    IS(EOVERFLOW, lw_semaphore_release(&semaphore, 1));
    IS(0, lw_semaphore_init(&semaphore, 0));
    puts("permits");
}

static int waiting, told;

static void *wait_until_told(void *unused)
{
    lw_mutex_lock(&mutex);
    waiting++;
    while (!told)
        lw_cond_wait(&cond, &mutex);
    waiting--;
    lw_mutex_unlock(&mutex);
    return unused;
}

/* Tells threads that sleep, while the caller holds the mutex: a system call in it fails then. */
static void tell_sleepers(int count)
{
    static const struct timespec while_they_fall_asleep = {0, 20000000};
    pthread_t threads[2];
    int at, are_there = 0;
    told = 0;
    for (at = 0; at < count; at++)
        pthread_create(&threads[at], NULL, wait_until_told, NULL);
    while (!are_there) {
        nanosleep(&while_they_fall_asleep, NULL);
        lw_mutex_lock(&mutex);
        are_there = waiting == count;
        lw_mutex_unlock(&mutex);
    }
    nanosleep(&while_they_fall_asleep, NULL);
    DO(lw_mutex_lock(&mutex));
    told = 1;
    if (count == 1)
        DO(lw_cond_signal(&cond));
    else
        DO(lw_cond_broadcast(&cond));
    DO(lw_mutex_unlock(&mutex));
    for (at = 0; at < count; at++)
        pthread_join(threads[at], NULL);
    IS(0, waiting);
}

static void waits(void)
{
    tell_sleepers(1);
    tell_sleepers(2);
    DO(lw_cond_signal(&cond));
    DO(lw_cond_broadcast(&cond));
    DO(lw_mutex_lock(&mutex));
    TIMES_OUT(lw_cond_wait_until(&cond, &mutex, clock, deadline));
    IS(EBUSY, lw_mutex_try_lock(&mutex));
    DO(lw_mutex_unlock(&mutex));
    puts("waits");
}

enum { THREADS = 8, ROUNDS = 4000 };

static long sums[8], shared_looks;

/* What a thread returns that finds something wrong. */
static void *number_of_line(long line)
{
    return (void *)line;
}

/* Every thread adds to every sum, under the lock that guards it. */
static void *storm(void *number)
{
    long odd = (long)number % 2;
    int round;
    errno = 77;
    for (round = 0; round < ROUNDS; round++) {
        lw_mutex_lock(&mutex);
        sums[0]++;
        if (round % 64 == 0)
            lw_mutex_unlock_fair(&mutex);
        else
            lw_mutex_unlock(&mutex);
        lw_rwlock_lock(&rwlock);
        sums[1]++;
        lw_rwlock_unlock(&rwlock);
        if (round % 16 == 0) {
            lw_percpu_rwlock_lock(&percpu_rwlock);
            sums[2]++;
            lw_percpu_rwlock_unlock(&percpu_rwlock);
        }
        lw_rwsem_lock(&rwsem);
        sums[3]++;
        lw_rwsem_downgrade(&rwsem);
        lw_rwsem_unlock_shared(&rwsem);
        lw_semaphore_acquire(&semaphore, 1);
        sums[4]++;
        (void)lw_semaphore_release(&semaphore, 1);
        lw_rwlock_lock_shared(&rwlock);
        lw_percpu_rwlock_lock_shared(&percpu_rwlock);
        if (sums[1] < 0 || sums[2] < 0)
            abort();
        lw_percpu_rwlock_unlock_shared(&percpu_rwlock);
        lw_rwlock_unlock_shared(&rwlock);
        /* The spinlocks for two threads only: more would wait for others that have no CPU. */
        if ((long)number < 2) {
            lw_spinlock_lock(&spinlock);
            sums[5]++;
            lw_spinlock_unlock(&spinlock);
            lw_cna_spinlock_lock(&cna_spinlock);
            sums[6]++;
            lw_cna_spinlock_unlock(&cna_spinlock);
        }
        /* In pairs: an even thread tells an odd one that it may go on. */
        lw_mutex_lock(&mutex);
        if (odd) {
            while (sums[7] == 0)
                lw_cond_wait(&cond, &mutex);
            sums[7]--;
        } else {
            sums[7]++;
            if (round % 32 == 0)
                lw_cond_broadcast(&cond);
            else
                lw_cond_signal(&cond);
        }
        lw_mutex_unlock(&mutex);
    }
    return errno == 77 ? NULL : number_of_line(__LINE__);
}

/* Readers on the percpu lock until they have memory of their own, and a writer that has to wait for them. */
static void *read_often(void *unused)
{
    int round;
    (void)unused;
    for (round = 0; round < 200000; round++) {
        lw_percpu_rwlock_lock_shared(&percpu_rwlock);
        if (shared_looks < 0)
            abort();
        lw_percpu_rwlock_unlock_shared(&percpu_rwlock);
        if (round % 50000 == 49999) {
            lw_percpu_rwlock_lock(&percpu_rwlock);
            shared_looks = -1;
            shared_looks = 1;
            lw_percpu_rwlock_unlock(&percpu_rwlock);
        }
    }
    return NULL;
}

static void run_all(void *(*body)(void *))
{
    pthread_t threads[THREADS];
    long at;
    for (at = 0; at < THREADS; at++)
        pthread_create(&threads[at], NULL, body, (void *)at);
    for (at = 0; at < THREADS; at++) {
        void *line;
        pthread_join(threads[at], &line);
        if (line != NULL) {
            printf("line %ld: errno has changed\n", (long)line);
            failures++;
        }
    }
}

static void storms(void)
{
    const long all = (long)THREADS * ROUNDS;
    IS(0, lw_semaphore_release(&semaphore, 1));
    run_all(storm);
    IS(1, sums[0] == all && sums[1] == all && sums[2] == all / 16 && sums[3] == all && sums[4] == all);
    IS(1, sums[5] == 2 * ROUNDS && sums[6] == 2 * ROUNDS && sums[7] == 0);
    run_all(read_often);
    IS(0, lw_percpu_rwlock_try_lock(&percpu_rwlock));
    DO(lw_percpu_rwlock_unlock(&percpu_rwlock));
    puts("storms");
}

int main(void)
{
    /* A thread that is not woken waits for ever. */
    alarm(300);
    DO(lw_prepare());
    locks();
    upgrades();
    permits();
    waits();
    storms();
    return failures != 0;
}
