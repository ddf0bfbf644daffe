/*
 * What a function of a lock leaves as it was, whatever it does inside: errno, the signals that are blocked, the rounding
 * and the exceptions of floating-point numbers, open descriptors, the CPUs and the policy of the thread. And none is a
 * cancellation point, but for waits on a condition variable of pthread. Walks a table of operations, each on a lock that
 * no other thread uses and on one for which threads compete.
 *
 * With -DOF_PTHREAD the functions are those of pthread, which the library may take the place of.
 *
 * With a text as an argument it looks at the system calls instead: the kernel stops a thread of the table at a call that
 * the text does not name. Behind that, `refused` and calls that fail, `without` and calls that are not allowed although
 * the text names them, `fork` for a child whose parent has used the locks.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#ifndef OF_PTHREAD
#include <lockwright.h>
#endif
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            printf("line %d: %s\n", __LINE__, #condition);                                                             \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

static int failures;

/* The filter of system calls, if there is one. Each thread of the table begins with it. */

#define CALL(name) {#name, SYS_##name, 0}
#define OPERATION(name) {#name, SYS_futex, name}
static const struct call {
    const char *name;
    unsigned call, operation;
} calls[] = {
    CALL(rt_sigprocmask), CALL(getcpu), CALL(clock_gettime), CALL(sched_getscheduler), CALL(sched_yield),
    CALL(membarrier), CALL(sched_getaffinity), CALL(sched_setaffinity), CALL(gettid), CALL(kill), CALL(prctl),
    OPERATION(FUTEX_WAIT), OPERATION(FUTEX_WAKE), OPERATION(FUTEX_REQUEUE), OPERATION(FUTEX_CMP_REQUEUE),
    OPERATION(FUTEX_WAKE_OP), OPERATION(FUTEX_WAIT_BITSET), OPERATION(FUTEX_WAKE_BITSET), CALL(futex),
};
/* What this program calls itself: to pause, to end a thread, to say what was wrong. */
static const unsigned own_calls[] = {SYS_clock_nanosleep, SYS_exit,  SYS_exit_group, SYS_madvise,
                                     SYS_munmap,          SYS_write, SYS_rt_sigreturn};
static struct sock_filter instructions[128];
static struct sock_fprog filter = {0, instructions};
static const char *volatile doing[2] = {"the first", "operation"};

static void add(unsigned code, unsigned skipped_if_not, unsigned value)
{
    instructions[filter.len++] = (struct sock_filter)BPF_JUMP(code, value, 0, skipped_if_not);
}
static void load(unsigned at)
{
    add(BPF_LD | BPF_W | BPF_ABS, 0, at);
}
static void if_call(unsigned call, unsigned then)
{
    add(BPF_JMP | BPF_JEQ | BPF_K, 1, call);
    add(BPF_RET | BPF_K, 0, then);
}

static int has_word(const char *text, const char *word)
{
    static const char of_words[] = "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    size_t length;
    for (text += strcspn(text, of_words); *text != 0; text += length, text += strcspn(text, of_words)) {
        length = strspn(text, of_words);
        if (length == strlen(word) && strncmp(text, word, length) == 0)
            return 1;
    }
    return 0;
}

/* If the text names operations of futex, no others are allowed. */
static void make_filter(const char *text, const char *refused, const char *without)
{
    const unsigned number = offsetof(struct seccomp_data, nr), some = sizeof calls / sizeof *calls;
    int has_operations = 0;
    load(number);
    for (unsigned i = 0; i < sizeof own_calls / sizeof *own_calls; i++)
        if_call(own_calls[i], SECCOMP_RET_ALLOW);
    for (unsigned i = 0; i < some; i++) {
        const struct call *call = &calls[i];
        if (!has_word(text, call->name) || has_word(without, call->name))
            continue;
        if (call->call != SYS_futex) {
            if_call(call->call, has_word(refused, call->name) ? SECCOMP_RET_ERRNO | EPERM : SECCOMP_RET_ALLOW);
        } else if (strcmp(call->name, "futex") != 0) {
            has_operations = 1;
            add(BPF_JMP | BPF_JEQ | BPF_K, 5, SYS_futex);
            load(offsetof(struct seccomp_data, args) + 8 * 1);
            add(BPF_ALU | BPF_AND | BPF_K, 0, FUTEX_CMD_MASK);
            if_call(call->operation, SECCOMP_RET_ALLOW);
            load(number);
        } else if (!has_operations) {
            if_call(SYS_futex, SECCOMP_RET_ALLOW);
        }
    }
    add(BPF_RET | BPF_K, 0, SECCOMP_RET_TRAP);
}

static void say_call(int number, siginfo_t *of, void *unused)
{
    char line[160];
    (void)number, (void)unused;
    snprintf(line, sizeof line, "%s, %s: system call %d is not listed\n", doing[0], doing[1], of->si_syscall);
    if (write(1, line, strlen(line)) >= 0)
        _exit(1);
}

/* Puts the calling thread behind the filter. */
static void watch(void)
{
    if (filter.len != 0) {
        CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
        CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0);
    }
}

/* What has to be as before. */

struct state {
    int errno_is;
    sigset_t blocked;
    int rounding, exceptions;
    unsigned descriptors;
    cpu_set_t cpus;
    int policy;
};

static unsigned count_descriptors(void)
{
    unsigned count = 0;
    DIR *folder = opendir("/proc/self/fd");
    CHECK(folder != NULL);
    while (readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count;
}

/* All but errno, which other looks change. */
static void look(struct state *state)
{
    memset(state, 0, sizeof *state);
    if (filter.len != 0)
        return;
    CHECK(pthread_sigmask(SIG_SETMASK, NULL, &state->blocked) == 0);
    state->rounding = fegetround();
    state->exceptions = fetestexcept(FE_ALL_EXCEPT);
    state->descriptors = count_descriptors();
    CHECK(sched_getaffinity(0, sizeof state->cpus, &state->cpus) == 0);
    state->policy = sched_getscheduler(0);
}

static void compare(const char *lock, const char *operation, const struct state *before, const struct state *after)
{
#define SAME(what)                                                                                                     \
    if (memcmp(&before->what, &after->what, sizeof before->what) != 0) {                                               \
        printf("%s, %s: %s is not as before\n", lock, operation, #what);                                               \
        failures++;                                                                                                    \
    }
    SAME(errno_is) SAME(blocked) SAME(rounding) SAME(exceptions) SAME(descriptors) SAME(cpus) SAME(policy)
}

/* A lock, or one way to take one. `lock` and `until` return 0 if they have taken it. */

struct lock {
    const char *name;
    void *object;
    int (*lock)(void *);
    int (*attempt)(void *);
    int (*until)(void *, const struct timespec *);
    void (*unlock)(void *);
    /* How another thread takes it, so that they cannot hold it both. */
    int (*other_lock)(void *);
    void (*other_unlock)(void *);
};

#ifdef OF_PTHREAD
#define RETURNS(call) return call
#else
#define RETURNS(call)                                                                                                  \
    call;                                                                                                              \
    return 0
#endif

#define WAYS(name, Lock, lock, attempt, until, unlock)                                                                 \
    static int name##_lock(void *of) { RETURNS(lock); }                                                                \
    static int name##_attempt(void *of) { return attempt; }                                                            \
    static int name##_until(void *of, const struct timespec *deadline) { return until; }                               \
    static void name##_unlock(void *of) { unlock; }

#ifdef OF_PTHREAD
WAYS(mutex, pthread_mutex_t, pthread_mutex_lock(of), pthread_mutex_trylock(of),
     pthread_mutex_clocklock(of, CLOCK_MONOTONIC, deadline), pthread_mutex_unlock(of))
WAYS(write, pthread_rwlock_t, pthread_rwlock_wrlock(of), pthread_rwlock_trywrlock(of),
     pthread_rwlock_clockwrlock(of, CLOCK_MONOTONIC, deadline), pthread_rwlock_unlock(of))
WAYS(read, pthread_rwlock_t, pthread_rwlock_rdlock(of), pthread_rwlock_tryrdlock(of),
     pthread_rwlock_clockrdlock(of, CLOCK_MONOTONIC, deadline), pthread_rwlock_unlock(of))

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t adaptive = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t checking = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_rwlock_t in_order = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

#define MUTEX(name, object)                                                                                            \
    {name, &object, mutex_lock, mutex_attempt, mutex_until, mutex_unlock, mutex_lock, mutex_unlock}
#define RWLOCK(name, object)                                                                                           \
    {name ", writer", &object, write_lock, write_attempt, write_until, write_unlock, read_lock, read_unlock},          \
    {name ", reader", &object, read_lock, read_attempt, read_until, read_unlock, write_lock, write_unlock}
static const struct lock locks[] = {
    MUTEX("normal mutex", mutex),   MUTEX("adaptive mutex", adaptive),
    MUTEX("recursive mutex", recursive), MUTEX("error-checking mutex", checking),
    RWLOCK("rwlock", rwlock),       RWLOCK("rwlock that prefers writers", in_order),
};
#else
#define LW(name)                                                                                                       \
    WAYS(name, lw_##name##_t, lw_##name##_lock(of), lw_##name##_try_lock(of),                                          \
         lw_##name##_lock_until(of, CLOCK_MONOTONIC, deadline), lw_##name##_unlock(of))                                \
    static lw_##name##_t name;
#define LW_SHARED(name)                                                                                                \
    LW(name)                                                                                                           \
    WAYS(name##_shared, lw_##name##_t, lw_##name##_lock_shared(of), lw_##name##_try_lock_shared(of),                   \
         lw_##name##_lock_shared_until(of, CLOCK_MONOTONIC, deadline), lw_##name##_unlock_shared(of))
LW(mutex)
LW_SHARED(rwlock)
LW_SHARED(percpu_rwlock)
LW_SHARED(rwsem)
LW(spinlock)
LW(cna_spinlock)
WAYS(fair, lw_mutex_t, lw_mutex_lock(of), lw_mutex_try_lock(of), lw_mutex_lock_until(of, CLOCK_MONOTONIC, deadline),
     lw_mutex_unlock_fair(of))
WAYS(upgradable, lw_rwlock_t, lw_rwlock_lock_upgradable(of), lw_rwlock_try_lock_upgradable(of),
     lw_rwlock_lock_upgradable_until(of, CLOCK_MONOTONIC, deadline), lw_rwlock_unlock_upgradable(of))
WAYS(fair_write, lw_rwlock_t, lw_rwlock_lock(of), lw_rwlock_try_lock(of),
     lw_rwlock_lock_until(of, CLOCK_MONOTONIC, deadline), lw_rwlock_unlock_fair(of))
WAYS(fair_read, lw_rwlock_t, lw_rwlock_lock_shared(of), lw_rwlock_try_lock_shared(of),
     lw_rwlock_lock_shared_until(of, CLOCK_MONOTONIC, deadline), lw_rwlock_unlock_shared_fair(of))
WAYS(downgraded, lw_rwlock_t, lw_rwlock_lock(of), lw_rwlock_try_lock(of),
     lw_rwlock_lock_until(of, CLOCK_MONOTONIC, deadline), (lw_rwlock_downgrade(of), lw_rwlock_unlock_shared(of)))
WAYS(upgraded, lw_rwlock_t, (lw_rwlock_lock_upgradable(of), lw_rwlock_upgrade(of)), lw_rwlock_try_lock(of),
     lw_rwlock_lock_until(of, CLOCK_MONOTONIC, deadline), (lw_rwlock_downgrade_to_upgradable(of),
     lw_rwlock_downgrade_upgradable(of), lw_rwlock_unlock_shared(of)))
WAYS(semaphore, lw_semaphore_t, lw_semaphore_acquire(of, 1), lw_semaphore_try_acquire(of, 1),
     lw_semaphore_acquire_until(of, 1, CLOCK_MONOTONIC, deadline), (void)lw_semaphore_release(of, 1))
static lw_semaphore_t semaphore = LW_SEMAPHORE_INIT(1);

#define ONE(text, way, object)                                                                                         \
    {text, &object, way##_lock, way##_attempt, way##_until, way##_unlock, way##_lock, way##_unlock}
#define TWO(text, name, way, other)                                                                                    \
    {text, &name, way##_lock, way##_attempt, way##_until, way##_unlock, other##_lock, other##_unlock}
static const struct lock locks[] = {
    ONE("lw_mutex", mutex, mutex),
    ONE("lw_mutex, fair", fair, mutex),
    ONE("lw_spinlock", spinlock, spinlock),
    ONE("lw_cna_spinlock", cna_spinlock, cna_spinlock),
    ONE("lw_semaphore", semaphore, semaphore),
    TWO("lw_rwlock, writer", rwlock, rwlock, rwlock_shared),
    TWO("lw_rwlock, reader", rwlock, rwlock_shared, rwlock),
    TWO("lw_rwlock, writer, fair", rwlock, fair_write, rwlock_shared),
    TWO("lw_rwlock, reader, fair", rwlock, fair_read, rwlock),
    TWO("lw_rwlock, upgradable", rwlock, upgradable, rwlock),
    TWO("lw_rwlock, downgraded", rwlock, downgraded, rwlock),
    TWO("lw_rwlock, upgraded", rwlock, upgraded, rwlock),
    TWO("lw_percpu_rwlock, writer", percpu_rwlock, percpu_rwlock, percpu_rwlock_shared),
    TWO("lw_percpu_rwlock, reader", percpu_rwlock, percpu_rwlock_shared, percpu_rwlock),
    TWO("lw_rwsem, writer", rwsem, rwsem, rwsem_shared),
    TWO("lw_rwsem, reader", rwsem, rwsem_shared, rwsem),
};
#endif

static struct timespec in_ms(long ms)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    time.tv_nsec += ms * 1000000;
    time.tv_sec += time.tv_nsec / 1000000000;
    time.tv_nsec %= 1000000000;
    return time;
}

/* Another thread that holds the lock for a while, or waits for it. */

struct other {
    const struct lock *lock;
    long holds_ms;
    pthread_t thread;
    volatile int has_begun;
};

static void *hold(void *of)
{
    struct other *me = of;
    watch();
    CHECK(me->lock->other_lock(me->lock->object) == 0);
    me->has_begun = 1;
    usleep(me->holds_ms * 1000);
    me->lock->other_unlock(me->lock->object);
    return NULL;
}
static void *want(void *of)
{
    struct other *me = of;
    watch();
    me->has_begun = 1;
    CHECK(me->lock->other_lock(me->lock->object) == 0);
    me->lock->other_unlock(me->lock->object);
    return NULL;
}
static void begin_other(struct other *other, const struct lock *lock, void *(*does)(void *), long holds_ms)
{
    other->lock = lock;
    other->holds_ms = holds_ms;
    other->has_begun = 0;
    CHECK(pthread_create(&other->thread, NULL, does, other) == 0);
    while (!other->has_begun)
        usleep(100);
    if (does == want)
        usleep(5000);
}
static void end_other(struct other *other)
{
    CHECK(pthread_join(other->thread, NULL) == 0);
}

/* The table of operations, and how each begins and ends. */

enum operation { LOCK, ATTEMPT, UNTIL, UNLOCK, WAIT, ATTEMPT_HELD, WAIT_UNTIL, TIME_OUT, UNLOCK_WANTED, OPERATIONS };
static const char *const operations[] = {"lock", "attempt", "lock with a deadline", "unlock", "lock that is held",
                                         "attempt on one that is held", "lock that is held, with a deadline",
                                         "deadline that passes", "unlock while a thread waits"};

struct run {
    const struct lock *lock;
    enum operation operation;
    int is_cancelled;
    struct state before, after;
    volatile int has_returned;
};


/* Everything before the operation, by another thread where it must not be cancelled. */
static void prepare(struct run *run, struct other *other)
{
    switch (run->operation) {
    case WAIT:
    case WAIT_UNTIL:
        begin_other(other, run->lock, hold, 5);
        break;
    case ATTEMPT_HELD:
    case TIME_OUT:
        begin_other(other, run->lock, hold, 30);
        break;
    case UNLOCK_WANTED:
        CHECK(run->lock->lock(run->lock->object) == 0);
        begin_other(other, run->lock, want, 0);
        break;
    case UNLOCK:
        CHECK(run->lock->lock(run->lock->object) == 0);
        break;
    default:
        break;
    }
}

/* The operation itself. Returns 1 if the lock is held then. */
static int operate(struct run *run)
{
    const struct lock *lock = run->lock;
    const struct timespec late = in_ms(20000), soon = in_ms(3);
    int result;
    errno = 77;
    switch (run->operation) {
    case LOCK:
    case WAIT:
        result = lock->lock(lock->object);
        break;
    case ATTEMPT:
    case ATTEMPT_HELD:
        result = lock->attempt(lock->object);
        break;
    case UNTIL:
    case WAIT_UNTIL:
        result = lock->until(lock->object, &late);
        break;
    case TIME_OUT:
        result = lock->until(lock->object, &soon);
        break;
    default:
        lock->unlock(lock->object);
        result = -1;
    }
    run->after.errno_is = errno;
    return result == 0;
}

static void *perform(void *of)
{
    struct run *run = of;
    struct other other;
    sigset_t some;
    int errno_is, is_held;
    sigemptyset(&some);
    sigaddset(&some, SIGUSR2);
    sigaddset(&some, SIGSEGV);
    CHECK(pthread_sigmask(SIG_BLOCK, &some, NULL) == 0);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    prepare(run, &other);
    watch();
    fesetround(FE_UPWARD);
    feclearexcept(FE_ALL_EXCEPT);
    look(&run->before);
    run->before.errno_is = 77;
    if (run->is_cancelled) {
        pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
        pthread_cancel(pthread_self());
    }
    is_held = operate(run);
    errno_is = run->after.errno_is;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    run->has_returned = 1;
    look(&run->after);
    run->after.errno_is = errno_is;
    if (is_held)
        run->lock->unlock(run->lock->object);
    if (run->operation >= WAIT)
        end_other(&other);
    return NULL;
}

/* Until waiters tell it by membarrier that they are there, if they may. */
static void *use_often(void *of)
{
    const struct lock *lock = of;
    watch();
    for (int i = 0; i < 1 << 13; i++) {
        CHECK(lock->lock(lock->object) == 0);
        lock->unlock(lock->object);
    }
    return NULL;
}

static void walk(const struct lock *lock, int is_cancelled)
{
    pthread_t often;
    if (filter.len != 0) {
        doing[0] = lock->name;
        CHECK(pthread_create(&often, NULL, use_often, (void *)lock) == 0);
        CHECK(pthread_join(often, NULL) == 0);
    }
    for (int operation = 0; operation < OPERATIONS; operation++) {
        struct run run = {.lock = lock, .operation = operation, .is_cancelled = is_cancelled};
        pthread_t thread;
        doing[0] = lock->name;
        doing[1] = operations[operation];
        CHECK(pthread_create(&thread, NULL, perform, &run) == 0);
        CHECK(pthread_join(thread, NULL) == 0);
        if (!run.has_returned) {
            printf("%s, %s: it is a cancellation point\n", lock->name, operations[operation]);
            exit(1);
        }
        compare(lock->name, operations[operation], &run.before, &run.after);
    }
}

/* Condition variables. */

#ifdef OF_PTHREAD
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static void enter(void) { CHECK(pthread_mutex_lock(&guard) == 0); }
static void leave(void) { CHECK(pthread_mutex_unlock(&guard) == 0); }
static void condvar_wait(void) { CHECK(pthread_cond_wait(&changed, &guard) == 0); }
static void condvar_time_out(void)
{
    struct timespec soon = in_ms(3);
    CHECK(pthread_cond_clockwait(&changed, &guard, CLOCK_MONOTONIC, &soon) == ETIMEDOUT);
}
static void condvar_signal(void) { CHECK(pthread_cond_signal(&changed) == 0); }
static void condvar_broadcast(void) { CHECK(pthread_cond_broadcast(&changed) == 0); }
static const int waits_are_cancelled = 1;
#else
static lw_mutex_t guard;
static lw_cond_t changed;
static void enter(void) { lw_mutex_lock(&guard); }
static void leave(void) { lw_mutex_unlock(&guard); }
static void condvar_wait(void) { lw_cond_wait(&changed, &guard); }
static void condvar_time_out(void)
{
    struct timespec soon = in_ms(3);
    CHECK(lw_cond_wait_until(&changed, &guard, CLOCK_MONOTONIC, &soon) == ETIMEDOUT);
}
static void condvar_signal(void) { lw_cond_signal(&changed); }
static void condvar_broadcast(void) { lw_cond_broadcast(&changed); }
static const int waits_are_cancelled = 0;
#endif

static void *notify_soon(void *unused)
{
    watch();
    usleep(5000);
    enter();
    condvar_signal();
    leave();
    return unused;
}
static void *wait_once(void *unused)
{
    watch();
    enter();
    condvar_wait();
    leave();
    return unused;
}

struct step {
    const char *name;
    void (*call)(void);
    /* It needs the mutex; another thread notifies, or so many wait. */
    int has_guard, is_notified, waiters, is_cancelled;
    struct state before, after;
    volatile int has_returned;
};

static void *take_step(void *of)
{
    struct step *step = of;
    pthread_t others[2];
    int errno_is;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    for (int i = 0; i < step->waiters; i++)
        CHECK(pthread_create(&others[i], NULL, wait_once, NULL) == 0);
    if (step->is_notified)
        CHECK(pthread_create(&others[0], NULL, notify_soon, NULL) == 0);
    if (step->waiters != 0)
        usleep(10000);
    watch();
    if (step->has_guard)
        enter();
    fesetround(FE_UPWARD);
    feclearexcept(FE_ALL_EXCEPT);
    look(&step->before);
    if (step->is_cancelled) {
        pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
        pthread_cancel(pthread_self());
    }
    step->before.errno_is = errno = 77;
    step->call();
    errno_is = errno;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    step->has_returned = 1;
    look(&step->after);
    step->after.errno_is = errno_is;
    if (step->has_guard)
        leave();
    for (int i = 0; i < step->waiters + step->is_notified; i++) {
        /* One that has not begun to wait in time. */
        while (pthread_tryjoin_np(others[i], NULL) != 0) {
            condvar_broadcast();
            usleep(1000);
        }
    }
    return NULL;
}

static void walk_condvar(int is_cancelled)
{
    const struct step steps[] = {
        {.name = "signal", .call = condvar_signal},
        {.name = "broadcast", .call = condvar_broadcast},
        {.name = "signal while a thread waits", .call = condvar_signal, .waiters = 1},
        {.name = "broadcast while threads wait", .call = condvar_broadcast, .waiters = 2},
        {.name = "broadcast with the mutex", .call = condvar_broadcast, .waiters = 2, .has_guard = 1},
        {.name = "wait", .call = condvar_wait, .has_guard = 1, .is_notified = 1},
        {.name = "wait with a deadline", .call = condvar_time_out, .has_guard = 1},
    };
    for (unsigned i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct step step = steps[i];
        int is_wait = step.call == condvar_wait || step.call == condvar_time_out;
        pthread_t thread;
        doing[0] = "condition variable";
        doing[1] = step.name;
        /* POSIX says that these are cancellation points. */
        step.is_cancelled = is_cancelled && !(is_wait && waits_are_cancelled);
        CHECK(pthread_create(&thread, NULL, take_step, &step) == 0);
        CHECK(pthread_join(thread, NULL) == 0);
        if (!step.has_returned) {
            printf("condition variable, %s: it is a cancellation point\n", step.name);
            exit(1);
        }
        compare("condition variable", step.name, &step.before, &step.after);
    }
}

static const char *argument(char **arguments, const char *name)
{
    for (; *arguments != NULL && arguments[1] != NULL; arguments++)
        if (strcmp(*arguments, name) == 0)
            return arguments[1];
    return "";
}

/* As `main`, in a child if one is asked for. */
static int is_in_child(char **arguments)
{
    int status;
    pid_t child;
    if (strcmp(argument(arguments, "fork"), "yes") != 0)
        return 1;
    walk(&locks[0], 0);
    walk_condvar(0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0)
        return 1;
    CHECK(waitpid(child, &status, 0) == child);
    failures = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    return 0;
}

int main(int count, char **arguments)
{
    int is_watched = count > 1;
    if (is_watched) {
        struct sigaction action = {.sa_sigaction = say_call, .sa_flags = SA_SIGINFO};
        sigaction(SIGSYS, &action, NULL);
#ifndef OF_PTHREAD
        lw_prepare();
#endif
        if (!is_in_child(arguments))
            return failures;
        make_filter(arguments[1], argument(arguments, "refused"), argument(arguments, "without"));
    }
    for (int is_cancelled = 0; is_cancelled < 2 - is_watched; is_cancelled++) {
        for (unsigned i = 0; i < sizeof locks / sizeof *locks; i++)
            walk(&locks[i], is_cancelled);
        walk_condvar(is_cancelled);
    }
    return failures != 0;
}
