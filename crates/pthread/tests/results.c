/*
 * Puts locks into states, makes every attempt in each, and prints what it returns. The results are those of glibc, or
 * with the library in front of it, those of the library. Without an argument it walks the table. `given` walks the
 * states that policy `fair` has, `full` reads until no reader can be counted.
 */
#define _GNU_SOURCE
#include "check.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

/* A waiter, which can be kept where it sleeps. */

static atomic_bool parks, is_parked;
static atomic_int number;

static void park_here(int signal)
{
    int before = errno;
    (void)signal;
    while (atomic_load(&parks)) {
        atomic_store(&is_parked, true);
        usleep(100);
    }
    atomic_store(&is_parked, false);
    errno = before;
}

enum wanted { MUTEX, READ, WRITE };
struct waiter {
    pthread_t thread;
    enum wanted wants;
    void *lock;
    pid_t number;
};

static void *wait_for_it(void *of)
{
    struct waiter *me = of;
    atomic_store(&number, gettid());
    if (me->wants == MUTEX) {
        CHECK(pthread_mutex_lock(me->lock) == 0);
        CHECK(pthread_mutex_unlock(me->lock) == 0);
    } else {
        CHECK((me->wants == READ ? pthread_rwlock_rdlock : pthread_rwlock_wrlock)(me->lock) == 0);
        CHECK(pthread_rwlock_unlock(me->lock) == 0);
    }
    return NULL;
}

/* Waits until the kernel says that the thread sleeps. */
static void await_sleep(pid_t thread)
{
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
    for (;;) {
        FILE *file = fopen(path, "r");
        CHECK(file != NULL && fgets(line, sizeof line, file) != NULL);
        fclose(file);
        const char *state = strrchr(line, ')');
        if (state != NULL && state[2] == 'S')
            return;
        sched_yield();
    }
}

static void start_waiter(struct waiter *waiter, enum wanted wants, void *lock)
{
    waiter->wants = wants;
    waiter->lock = lock;
    atomic_store(&number, 0);
    CHECK(pthread_create(&waiter->thread, NULL, wait_for_it, waiter) == 0);
    while (atomic_load(&number) == 0)
        sched_yield();
    waiter->number = atomic_load(&number);
    await_sleep(waiter->number);
    /* A reader-writer lock is not reserved for a waiter that has slept for a moment only. */
    usleep(2000);
}

/* Ends its sleep some times, for longer than a waiter lets others pass. */
static void rouse(struct waiter *waiter)
{
    for (int i = 0; i < 4; i++) {
        CHECK(pthread_kill(waiter->thread, SIGUSR1) == 0);
        usleep(5000);
        await_sleep(waiter->number);
    }
}

static void park(struct waiter *waiter)
{
    atomic_store(&parks, true);
    CHECK(pthread_kill(waiter->thread, SIGUSR1) == 0);
    while (!atomic_load(&is_parked))
        sched_yield();
}

static void resume(struct waiter *waiter)
{
    atomic_store(&parks, false);
    CHECK(pthread_join(waiter->thread, NULL) == 0);
}

/* Runs `work` in another thread and returns what it returns. */
struct elsewhere {
    int (*work)(void *lock);
    void *lock;
    int result;
};
static void *run_elsewhere(void *of)
{
    struct elsewhere *elsewhere = of;
    elsewhere->result = elsewhere->work(elsewhere->lock);
    return NULL;
}
static int elsewhere(int (*work)(void *), void *lock)
{
    struct elsewhere elsewhere = {work, lock, 0};
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, run_elsewhere, &elsewhere) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    return elsewhere.result;
}

/* The attempts. Each gives the lock back if it has taken it. */

static const struct timespec past = {.tv_sec = 1};

static int mutex_trylock(void *of)
{
    int result = pthread_mutex_trylock(of);
    CHECK(result != 0 || pthread_mutex_unlock(of) == 0);
    return result;
}
static int mutex_timedlock(void *of)
{
    int result = pthread_mutex_timedlock(of, &past);
    CHECK(result != 0 || pthread_mutex_unlock(of) == 0);
    return result;
}
#define OF_RWLOCK(name, call)                                                                      \
    static int rwlock_##name(void *of)                                                             \
    {                                                                                              \
        int result = call;                                                                         \
        CHECK(result != 0 || pthread_rwlock_unlock(of) == 0);                                      \
        return result;                                                                             \
    }
OF_RWLOCK(tryrdlock, pthread_rwlock_tryrdlock(of))
OF_RWLOCK(timedrdlock, pthread_rwlock_timedrdlock(of, &past))
OF_RWLOCK(trywrlock, pthread_rwlock_trywrlock(of))
OF_RWLOCK(timedwrlock, pthread_rwlock_timedwrlock(of, &past))

typedef int (*attempt_t)(void *);
static const attempt_t of_mutex[] = {mutex_trylock, mutex_timedlock};
static const attempt_t of_rwlock[] = {rwlock_tryrdlock, rwlock_timedrdlock, rwlock_trywrlock, rwlock_timedwrlock};

static const char *text(int result)
{
    switch (result) {
    case 0:
        return "0";
    case EBUSY:
        return "EBUSY";
    case ETIMEDOUT:
        return "ETIMEDOUT";
    case EDEADLK:
        return "EDEADLK";
    case EAGAIN:
        return "EAGAIN";
    default:
        return strerror(result);
    }
}

static void begin_row(const char *kind, const char *state)
{
    printf("%s|%s", kind, state);
}

/* Mutexes. */

static const struct {
    const char *name;
    int kind;
} mutex_kinds[] = {{"normal", PTHREAD_MUTEX_NORMAL},
                   {"adaptive", PTHREAD_MUTEX_ADAPTIVE_NP},
                   {"recursive", PTHREAD_MUTEX_RECURSIVE},
                   {"error-checking", PTHREAD_MUTEX_ERRORCHECK}};

static void make_mutex(pthread_mutex_t *mutex, int kind)
{
    pthread_mutexattr_t attributes;
    CHECK(pthread_mutexattr_init(&attributes) == 0 && pthread_mutexattr_settype(&attributes, kind) == 0);
    CHECK(pthread_mutex_init(mutex, &attributes) == 0);
}

enum mutex_state { MUTEX_FREE, MUTEX_HELD, MUTEX_MINE, MUTEX_RESERVED, MUTEX_STATES };
static const char *const mutex_states[] = {"free", "held by another thread", "held by the caller",
                                           "released, and a waiter has no CPU"};

static int in_mutex_state(int kind, enum mutex_state state, attempt_t attempt)
{
    pthread_mutex_t mutex;
    struct waiter waiter;
    int result;
    make_mutex(&mutex, kind);
    if (state == MUTEX_FREE)
        return attempt(&mutex);
    CHECK(pthread_mutex_lock(&mutex) == 0);
    if (state == MUTEX_RESERVED) {
        start_waiter(&waiter, MUTEX, &mutex);
        rouse(&waiter);
        park(&waiter);
        CHECK(pthread_mutex_unlock(&mutex) == 0);
        result = attempt(&mutex);
        resume(&waiter);
        return result;
    }
    result = state == MUTEX_HELD ? elsewhere(attempt, &mutex) : attempt(&mutex);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    return result;
}

static void walk_mutexes(void)
{
    for (unsigned kind = 0; kind < sizeof mutex_kinds / sizeof *mutex_kinds; kind++)
        for (enum mutex_state state = 0; state < MUTEX_STATES; state++) {
            begin_row(mutex_kinds[kind].name, mutex_states[state]);
            for (unsigned i = 0; i < sizeof of_mutex / sizeof *of_mutex; i++)
                printf("|%s", text(in_mutex_state(mutex_kinds[kind].kind, state, of_mutex[i])));
            printf("\n");
        }
}

/* A release that has chosen the next owner, which has not run. Bit 4 of the first word says that it is so. */
static void walk_given(void)
{
    pthread_mutex_t mutex;
    struct waiter waiter;
    make_mutex(&mutex, PTHREAD_MUTEX_NORMAL);
    for (;;) {
        CHECK(pthread_mutex_lock(&mutex) == 0);
        start_waiter(&waiter, MUTEX, &mutex);
        CHECK(pthread_mutex_unlock(&mutex) == 0);
        int before = mutex.__data.__lock & 16, result = mutex_trylock(&mutex), after = mutex.__data.__lock & 16;
        resume(&waiter);
        if (before != 0 && (after != 0 || result == 0)) {
            begin_row("normal, policy `fair`", "given to a waiter that has no CPU");
            printf("|%s\n", text(result));
            return;
        }
    }
}

/* Reader-writer locks. */

static const struct {
    const char *name;
    int kind;
} rwlock_kinds[] = {{"prefers readers", PTHREAD_RWLOCK_PREFER_READER_NP},
                    {"prefers writers", PTHREAD_RWLOCK_PREFER_WRITER_NP},
                    {"prefers writers, not recursive", PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP}};

enum rwlock_state {
    RWLOCK_FREE,
    RWLOCK_READ,
    RWLOCK_WRITTEN,
    RWLOCK_MINE,
    RWLOCK_READ_WRITER_WAITS,
    RWLOCK_FREE_WRITER_WAITS,
    RWLOCK_FREE_READER_WAITS,
    RWLOCK_STATES
};
static const char *const rwlock_states[] = {
    "free",
    "read by the caller",
    "written by another thread",
    "written by the caller",
    "read by the caller, and a writer waits",
    "released by a writer, and a writer that waits has no CPU",
    "released by a writer, and a reader that waits has no CPU",
};

static int in_rwlock_state(int kind, enum rwlock_state state, attempt_t attempt)
{
    pthread_rwlockattr_t attributes;
    pthread_rwlock_t lock;
    struct waiter waiter;
    int result;
    CHECK(pthread_rwlockattr_init(&attributes) == 0 && pthread_rwlockattr_setkind_np(&attributes, kind) == 0);
    CHECK(pthread_rwlock_init(&lock, &attributes) == 0);
    switch (state) {
    case RWLOCK_FREE:
        return attempt(&lock);
    case RWLOCK_READ:
    case RWLOCK_READ_WRITER_WAITS:
        CHECK(pthread_rwlock_rdlock(&lock) == 0);
        if (state == RWLOCK_READ)
            break;
        start_waiter(&waiter, WRITE, &lock);
        result = attempt(&lock);
        CHECK(pthread_rwlock_unlock(&lock) == 0);
        resume(&waiter);
        return result;
    case RWLOCK_WRITTEN:
    case RWLOCK_MINE:
        CHECK(pthread_rwlock_wrlock(&lock) == 0);
        break;
    default:
        CHECK(pthread_rwlock_wrlock(&lock) == 0);
        start_waiter(&waiter, state == RWLOCK_FREE_WRITER_WAITS ? WRITE : READ, &lock);
        park(&waiter);
        CHECK(pthread_rwlock_unlock(&lock) == 0);
        result = attempt(&lock);
        resume(&waiter);
        return result;
    }
    result = state == RWLOCK_WRITTEN ? elsewhere(attempt, &lock) : attempt(&lock);
    CHECK(pthread_rwlock_unlock(&lock) == 0);
    return result;
}

static void walk_rwlocks(void)
{
    for (unsigned kind = 0; kind < sizeof rwlock_kinds / sizeof *rwlock_kinds; kind++)
        for (enum rwlock_state state = 0; state < RWLOCK_STATES; state++) {
            begin_row(rwlock_kinds[kind].name, rwlock_states[state]);
            for (unsigned i = 0; i < sizeof of_rwlock / sizeof *of_rwlock; i++)
                printf("|%s", text(in_rwlock_state(rwlock_kinds[kind].kind, state, of_rwlock[i])));
            printf("\n");
        }
}

/* Reads until that fails, then as often backwards. */
static void fill(void)
{
    for (unsigned kind = 0; kind < sizeof rwlock_kinds / sizeof *rwlock_kinds; kind++) {
        pthread_rwlockattr_t attributes;
        pthread_rwlock_t lock;
        long readers = 0;
        int result;
        CHECK(pthread_rwlockattr_init(&attributes) == 0);
        CHECK(pthread_rwlockattr_setkind_np(&attributes, rwlock_kinds[kind].kind) == 0);
        CHECK(pthread_rwlock_init(&lock, &attributes) == 0);
        while ((result = pthread_rwlock_rdlock(&lock)) == 0)
            readers++;
        printf("%s|%ld|%s", rwlock_kinds[kind].name, readers, text(result));
        for (unsigned i = 0; i < sizeof of_rwlock / sizeof *of_rwlock; i++)
            printf("|%s", text(of_rwlock[i](&lock)));
        for (long i = 0; i < readers; i++)
            CHECK(pthread_rwlock_unlock(&lock) == 0);
        printf("|%s\n", text(rwlock_trywrlock(&lock)));
    }
}

int main(int count, char **arguments)
{
    struct sigaction action = {.sa_handler = park_here};
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    if (count > 1 && strcmp(arguments[1], "given") == 0) {
        walk_given();
    } else if (count > 1 && strcmp(arguments[1], "full") == 0) {
        fill();
    } else {
        walk_mutexes();
        walk_rwlocks();
    }
    return 0;
}
