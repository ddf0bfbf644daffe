/* Calls and their results. The output has to be the same with glibc's locks and with ours. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define SHOW(call) printf("%-60s %s\n", #call, name_of(call))

#define SHOW_C11(call) printf("%-60s %d\n", #call, call)

static const char *name_of(int result)
{
    static char other[16];
    switch (result) {
    case 0: return "0";
    case EAGAIN: return "EAGAIN";
    case EBUSY: return "EBUSY";
    case EDEADLK: return "EDEADLK";
    case EINVAL: return "EINVAL";
    case EPERM: return "EPERM";
    case ETIMEDOUT: return "ETIMEDOUT";
    case EOWNERDEAD: return "EOWNERDEAD";
    case ENOTRECOVERABLE: return "ENOTRECOVERABLE";
    default: snprintf(other, sizeof other, "%d", result); return other;
    }
}

static struct timespec in_ms(clockid_t clock, long ms)
{
    struct timespec time;
    clock_gettime(clock, &time);
    long ns = time.tv_nsec + ms * 1000000;
    time.tv_sec += ns / 1000000000;
    time.tv_nsec = ns % 1000000000;
    if (time.tv_nsec < 0) {
        time.tv_nsec += 1000000000;
        time.tv_sec--;
    }
    return time;
}

/* Runs a function in another thread, to its end. */
static void elsewhere(void *(*run)(void *), void *argument)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, argument) != 0)
        abort();
    pthread_join(thread, NULL);
}

static const struct timespec bad = {.tv_sec = 0, .tv_nsec = 1000000000};
static const struct timespec negative = {.tv_sec = -1, .tv_nsec = 0};

static void *attempts(void *argument)
{
    pthread_mutex_t *mutex = argument;
    struct timespec real = in_ms(CLOCK_REALTIME, 5), monotonic = in_ms(CLOCK_MONOTONIC, 5);
    puts("  in another thread:");
    SHOW(pthread_mutex_trylock(mutex));
    SHOW(pthread_mutex_timedlock(mutex, &real));
    SHOW(pthread_mutex_timedlock(mutex, &bad));
    SHOW(pthread_mutex_timedlock(mutex, &negative));
    SHOW(pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &monotonic));
    SHOW(pthread_mutex_clocklock(mutex, CLOCK_PROCESS_CPUTIME_ID, &monotonic));
    /* glibc destroys a robust mutex even if it is held. */
    if (!(mutex->__data.__kind & 0x10))
        SHOW(pthread_mutex_destroy(mutex));
    return NULL;
}

static void *foreign_unlock(void *argument)
{
    puts("  in another thread:");
    SHOW(pthread_mutex_unlock((pthread_mutex_t *)argument));
    return NULL;
}

static void of_kind(const char *name, int kind, int protocol, int robust, int shared)
{
    pthread_mutexattr_t attributes;
    pthread_mutex_t object, *mutex = &object;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, kind);
    pthread_mutexattr_setprotocol(&attributes, protocol);
    pthread_mutexattr_setrobust(&attributes, robust);
    pthread_mutexattr_setpshared(&attributes, shared);
    printf("%s\n", name);
    errno = 77;
    SHOW(pthread_mutex_init(mutex, &attributes));
    bool knows_owner = kind == PTHREAD_MUTEX_RECURSIVE || kind == PTHREAD_MUTEX_ERRORCHECK || robust;
    if (knows_owner)
        SHOW(pthread_mutex_unlock(mutex));
    SHOW(pthread_mutex_lock(mutex));
    printf("owner is the caller: %d\n", mutex->__data.__owner == gettid());
    printf("count: %u, kind: %#x\n", mutex->__data.__count, (unsigned)mutex->__data.__kind);
    elsewhere(attempts, mutex);
    if (knows_owner)
        elsewhere(foreign_unlock, mutex);
    SHOW(pthread_mutex_trylock(mutex));
    if (kind == PTHREAD_MUTEX_RECURSIVE || kind == PTHREAD_MUTEX_ERRORCHECK) {
        struct timespec real = in_ms(CLOCK_REALTIME, 5);
        SHOW(pthread_mutex_lock(mutex));
        SHOW(pthread_mutex_timedlock(mutex, &real));
        SHOW(pthread_mutex_timedlock(mutex, &bad));
        printf("count: %u\n", mutex->__data.__count);
        if (kind == PTHREAD_MUTEX_RECURSIVE) {
            unsigned count = mutex->__data.__count;
            mutex->__data.__count = UINT32_MAX;
            SHOW(pthread_mutex_lock(mutex));
            SHOW(pthread_mutex_trylock(mutex));
            for (mutex->__data.__count = count; count > 1; count--)
                SHOW(pthread_mutex_unlock(mutex));
        }
    }
    SHOW(pthread_mutex_unlock(mutex));
    printf("owner: %d, word: %d\n", mutex->__data.__owner, mutex->__data.__lock);
    SHOW(pthread_mutex_timedlock(mutex, &negative));
    SHOW(pthread_mutex_unlock(mutex));
    SHOW(pthread_mutex_destroy(mutex));
    SHOW(pthread_mutex_lock(mutex));
    SHOW(pthread_mutex_trylock(mutex));
    SHOW(pthread_mutex_unlock(mutex));
    printf("errno: %d\n", errno);
    pthread_mutexattr_destroy(&attributes);
}

static void *die_with_it(void *argument)
{
    pthread_mutex_lock(argument);
    return NULL;
}

static void robust(void)
{
    pthread_mutexattr_t attributes;
    pthread_mutex_t mutex;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mutex, &attributes);
    puts("a robust mutex");
    elsewhere(die_with_it, &mutex);
    SHOW(pthread_mutex_lock(&mutex));
    SHOW(pthread_mutex_consistent(&mutex));
    SHOW(pthread_mutex_unlock(&mutex));
    elsewhere(die_with_it, &mutex);
    SHOW(pthread_mutex_lock(&mutex));
    SHOW(pthread_mutex_unlock(&mutex));
    SHOW(pthread_mutex_lock(&mutex));
}

static pthread_mutex_t mutex_of_statics[] = {
    PTHREAD_MUTEX_INITIALIZER,
    PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP,
    PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP,
    PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP,
};

static void statics(void)
{
    puts("statics");
    for (int i = 0; i < 4; i++) {
        pthread_mutex_t *mutex = &mutex_of_statics[i];
        SHOW(pthread_mutex_lock(mutex));
        SHOW(pthread_mutex_trylock(mutex));
        SHOW(pthread_mutex_destroy(mutex));
        SHOW(pthread_mutex_unlock(mutex));
    }
}

struct meeting {
    pthread_cond_t condvar;
    pthread_mutex_t mutex;
    int waits, is_open;
};

static void *wait_until_open(void *argument)
{
    struct meeting *meeting = argument;
    pthread_mutex_lock(&meeting->mutex);
    meeting->waits++;
    while (!meeting->is_open)
        pthread_cond_wait(&meeting->condvar, &meeting->mutex);
    meeting->waits--;
    pthread_mutex_unlock(&meeting->mutex);
    return NULL;
}

enum { PTHREAD_MUTEX_ROBUST_NORMAL = 16 };

/* Waits until all threads wait, and opens. */
static void open_for(struct meeting *meeting, int threads, bool one_by_one)
{
    for (bool ready = false; !ready; usleep(1000)) {
        pthread_mutex_lock(&meeting->mutex);
        ready = meeting->waits == threads;
        if (ready) {
            printf("destroy while they wait: %s\n", name_of(pthread_mutex_destroy(&meeting->mutex)));
            /* glibc destroys a robust one. */
            if ((meeting->mutex.__data.__kind & PTHREAD_MUTEX_ROBUST_NORMAL) == 0) {
                pthread_mutex_unlock(&meeting->mutex);
                printf("the same, and it is free: %s\n", name_of(pthread_mutex_destroy(&meeting->mutex)));
                pthread_mutex_lock(&meeting->mutex);
            }
            meeting->is_open = 1;
            if (!one_by_one)
                pthread_cond_broadcast(&meeting->condvar);
        }
        pthread_mutex_unlock(&meeting->mutex);
    }
    for (int i = 0; one_by_one && i < threads; i++)
        pthread_cond_signal(&meeting->condvar);
}

static void condvars(const char *name, int kind, int robust, clockid_t clock, int shared)
{
    enum { THREADS = 5 };
    pthread_condattr_t attributes;
    pthread_mutexattr_t of_mutex;
    printf("%s\n", name);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, clock);
    pthread_condattr_setpshared(&attributes, shared);
    pthread_mutexattr_init(&of_mutex);
    pthread_mutexattr_settype(&of_mutex, kind);
    pthread_mutexattr_setrobust(&of_mutex, robust);
    struct meeting *meeting = calloc(1, sizeof *meeting);
    pthread_cond_t *condvar = &meeting->condvar;
    pthread_mutex_t *mutex = &meeting->mutex;
    SHOW(pthread_mutex_init(mutex, &of_mutex));
    SHOW(pthread_cond_init(condvar, &attributes));
    errno = 77;
    if (kind == PTHREAD_MUTEX_RECURSIVE || kind == PTHREAD_MUTEX_ERRORCHECK)
        SHOW(pthread_cond_wait(condvar, mutex));
    pthread_mutex_lock(mutex);
    struct timespec later = in_ms(clock, 5), past = in_ms(clock, -5);
    struct timespec real = in_ms(CLOCK_REALTIME, 5), monotonic = in_ms(CLOCK_MONOTONIC, 5);
    SHOW(pthread_cond_timedwait(condvar, mutex, &later));
    SHOW(pthread_cond_timedwait(condvar, mutex, &past));
    SHOW(pthread_cond_timedwait(condvar, mutex, &bad));
    SHOW(pthread_cond_timedwait(condvar, mutex, &negative));
    SHOW(pthread_cond_clockwait(condvar, mutex, CLOCK_REALTIME, &real));
    SHOW(pthread_cond_clockwait(condvar, mutex, CLOCK_MONOTONIC, &monotonic));
    SHOW(pthread_cond_clockwait(condvar, mutex, CLOCK_PROCESS_CPUTIME_ID, &monotonic));
    printf("owner is the caller: %d\n", mutex->__data.__owner == gettid());
    if (kind == PTHREAD_MUTEX_RECURSIVE) {
        pthread_mutex_lock(mutex);
        SHOW(pthread_cond_timedwait(condvar, mutex, &later));
        printf("count: %u\n", mutex->__data.__count);
        SHOW(pthread_mutex_unlock(mutex));
    }
    SHOW(pthread_mutex_unlock(mutex));
    SHOW(pthread_cond_signal(condvar));
    SHOW(pthread_cond_broadcast(condvar));
    for (int one_by_one = 0; one_by_one < 2; one_by_one++) {
        pthread_t threads[THREADS];
        meeting->is_open = 0;
        for (int i = 0; i < THREADS; i++)
            pthread_create(&threads[i], NULL, wait_until_open, meeting);
        open_for(meeting, THREADS, one_by_one);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        printf("all came out, %d wait\n", meeting->waits);
    }
    printf("errno: %d\n", errno);
    SHOW(pthread_cond_destroy(condvar));
    SHOW(pthread_mutex_destroy(mutex));
    free(meeting);
}

static void say_who_owns(void *argument)
{
    struct meeting *meeting = argument;
    printf("the handler runs, the owner is the caller: %d\n", meeting->mutex.__data.__owner == gettid());
    pthread_mutex_unlock(&meeting->mutex);
}

static void *be_cancelled(void *argument)
{
    struct meeting *meeting = argument;
    struct timespec deadline = in_ms(CLOCK_REALTIME, 60000);
    pthread_mutex_lock(&meeting->mutex);
    pthread_cleanup_push(say_who_owns, meeting);
    meeting->waits++;
    while (true) {
        if (meeting->is_open)
            pthread_cond_timedwait(&meeting->condvar, &meeting->mutex, &deadline);
        else
            pthread_cond_wait(&meeting->condvar, &meeting->mutex);
    }
    pthread_cleanup_pop(1);
    return NULL;
}

static void cancellation(const char *name, int robust, int shared)
{
    pthread_condattr_t attributes;
    pthread_mutexattr_t of_mutex;
    pthread_condattr_init(&attributes);
    pthread_condattr_setpshared(&attributes, shared);
    pthread_mutexattr_init(&of_mutex);
    pthread_mutexattr_setrobust(&of_mutex, robust);
    printf("%s\n", name);
    for (int is_timed = 0; is_timed < 2; is_timed++) {
        struct meeting meeting = {.is_open = is_timed};
        pthread_mutex_init(&meeting.mutex, &of_mutex);
        pthread_cond_init(&meeting.condvar, &attributes);
        pthread_t thread;
        pthread_create(&thread, NULL, be_cancelled, &meeting);
        for (bool waits = false; !waits; usleep(1000)) {
            pthread_mutex_lock(&meeting.mutex);
            waits = meeting.waits == 1;
            pthread_mutex_unlock(&meeting.mutex);
        }
        pthread_cancel(thread);
        void *result;
        pthread_join(thread, &result);
        printf("cancelled: %d\n", result == PTHREAD_CANCELED);
        SHOW(pthread_mutex_trylock(&meeting.mutex));
        SHOW(pthread_mutex_unlock(&meeting.mutex));
        SHOW(pthread_cond_destroy(&meeting.condvar));
    }
}

static void *reader_attempts(void *argument)
{
    pthread_rwlock_t *lock = argument;
    struct timespec real = in_ms(CLOCK_REALTIME, 5), monotonic = in_ms(CLOCK_MONOTONIC, 5);
    puts("  in another thread:");
    SHOW(pthread_rwlock_tryrdlock(lock));
    SHOW(pthread_rwlock_timedrdlock(lock, &real));
    SHOW(pthread_rwlock_timedrdlock(lock, &bad));
    SHOW(pthread_rwlock_timedrdlock(lock, &negative));
    SHOW(pthread_rwlock_clockrdlock(lock, CLOCK_MONOTONIC, &monotonic));
    SHOW(pthread_rwlock_clockrdlock(lock, CLOCK_PROCESS_CPUTIME_ID, &monotonic));
    return NULL;
}

static void *writer_attempts(void *argument)
{
    pthread_rwlock_t *lock = argument;
    struct timespec real = in_ms(CLOCK_REALTIME, 5), monotonic = in_ms(CLOCK_MONOTONIC, 5);
    puts("  in another thread:");
    SHOW(pthread_rwlock_trywrlock(lock));
    SHOW(pthread_rwlock_timedwrlock(lock, &real));
    SHOW(pthread_rwlock_timedwrlock(lock, &bad));
    SHOW(pthread_rwlock_timedwrlock(lock, &negative));
    SHOW(pthread_rwlock_clockwrlock(lock, CLOCK_MONOTONIC, &monotonic));
    SHOW(pthread_rwlock_clockwrlock(lock, CLOCK_PROCESS_CPUTIME_ID, &monotonic));
    return NULL;
}

static void *write_once(void *argument)
{
    pthread_rwlock_wrlock(argument);
    pthread_rwlock_unlock(argument);
    return NULL;
}

static void rwlocks(const char *name, int kind, int shared)
{
    pthread_rwlockattr_t attributes;
    pthread_rwlock_t object, *lock = &object;
    pthread_rwlockattr_init(&attributes);
    pthread_rwlockattr_setkind_np(&attributes, kind);
    pthread_rwlockattr_setpshared(&attributes, shared);
    printf("%s\n", name);
    errno = 77;
    SHOW(pthread_rwlock_init(lock, &attributes));
    SHOW(pthread_rwlock_rdlock(lock));
    SHOW(pthread_rwlock_rdlock(lock));
    elsewhere(writer_attempts, lock);
    SHOW(pthread_rwlock_trywrlock(lock));
    if (kind != PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP) {
        /* A thread that reads already gets in past a writer that waits. */
        pthread_t writer;
        pthread_create(&writer, NULL, write_once, lock);
        usleep(20000);
        SHOW(pthread_rwlock_tryrdlock(lock));
        SHOW(pthread_rwlock_rdlock(lock));
        for (int i = 0; i < 4; i++)
            SHOW(pthread_rwlock_unlock(lock));
        pthread_join(writer, NULL);
    } else {
        SHOW(pthread_rwlock_unlock(lock));
        SHOW(pthread_rwlock_unlock(lock));
    }
    SHOW(pthread_rwlock_wrlock(lock));
    printf("the writer is the caller: %d\n", lock->__data.__cur_writer == gettid());
    elsewhere(reader_attempts, lock);
    elsewhere(writer_attempts, lock);
    struct timespec later = in_ms(CLOCK_REALTIME, 5);
    SHOW(pthread_rwlock_rdlock(lock));
    SHOW(pthread_rwlock_wrlock(lock));
    SHOW(pthread_rwlock_tryrdlock(lock));
    SHOW(pthread_rwlock_trywrlock(lock));
    SHOW(pthread_rwlock_timedrdlock(lock, &later));
    SHOW(pthread_rwlock_timedwrlock(lock, &later));
    SHOW(pthread_rwlock_unlock(lock));
    SHOW(pthread_rwlock_timedwrlock(lock, &bad));
    SHOW(pthread_rwlock_timedrdlock(lock, &bad));
    SHOW(pthread_rwlock_timedrdlock(lock, &negative));
    SHOW(pthread_rwlock_unlock(lock));
    SHOW(pthread_rwlock_destroy(lock));
    printf("errno: %d\n", errno);
}

static void *of_c11_elsewhere(void *argument)
{
    mtx_t *mutex = argument;
    struct timespec later = in_ms(CLOCK_REALTIME, 5);
    puts("  in another thread:");
    SHOW_C11(mtx_trylock(mutex));
    SHOW_C11(mtx_timedlock(mutex, &later));
    SHOW_C11(mtx_timedlock(mutex, &bad));
    return NULL;
}

static void c11(int type)
{
    mtx_t object, *mutex = &object;
    cnd_t condvar;
    struct timespec later = in_ms(CLOCK_REALTIME, 5);
    printf("C11, type %d\n", type);
    SHOW_C11(mtx_init(mutex, 77));
    SHOW_C11(mtx_init(mutex, type));
    SHOW_C11(cnd_init(&condvar));
    SHOW_C11(mtx_lock(mutex));
    elsewhere(of_c11_elsewhere, mutex);
    if (type & mtx_recursive) {
        SHOW_C11(mtx_lock(mutex));
        SHOW_C11(mtx_unlock(mutex));
    }
    SHOW_C11(cnd_timedwait(&condvar, mutex, &later));
    SHOW_C11(cnd_timedwait(&condvar, mutex, &bad));
    SHOW_C11(cnd_signal(&condvar));
    SHOW_C11(cnd_broadcast(&condvar));
    SHOW_C11(mtx_unlock(mutex));
    if (type & mtx_recursive)
        SHOW_C11(mtx_unlock(mutex));
    cnd_destroy(&condvar);
    mtx_destroy(mutex);
}

/* The child has the locks of the thread that forked, and can use them. */
static void forks(void)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    puts("a fork");
    pthread_mutex_lock(&mutex);
    pthread_rwlock_wrlock(&lock);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        struct timespec later = in_ms(CLOCK_REALTIME, 5);
        pthread_cond_t condvar = PTHREAD_COND_INITIALIZER;
        SHOW(pthread_mutex_trylock(&mutex));
        SHOW(pthread_mutex_unlock(&mutex));
        SHOW(pthread_mutex_lock(&mutex));
        SHOW(pthread_cond_timedwait(&condvar, &mutex, &later));
        elsewhere(attempts, &mutex);
        fflush(stdout);
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    printf("the child ended with %d\n", status);
    SHOW(pthread_rwlock_unlock(&lock));
    SHOW(pthread_mutex_unlock(&mutex));
}

/* Objects that two processes share. */
static void between_processes(void)
{
    struct meeting *meeting = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_t of_mutex;
    pthread_condattr_t of_condvar;
    pthread_mutexattr_init(&of_mutex);
    pthread_mutexattr_setpshared(&of_mutex, PTHREAD_PROCESS_SHARED);
    pthread_condattr_init(&of_condvar);
    pthread_condattr_setpshared(&of_condvar, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&meeting->mutex, &of_mutex);
    pthread_cond_init(&meeting->condvar, &of_condvar);
    puts("two processes");
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        wait_until_open(meeting);
        _exit(0);
    }
    for (bool ready = false; !ready; usleep(1000)) {
        pthread_mutex_lock(&meeting->mutex);
        ready = meeting->waits == 1;
        meeting->is_open = ready;
        pthread_mutex_unlock(&meeting->mutex);
    }
    pthread_cond_signal(&meeting->condvar);
    int status;
    waitpid(child, &status, 0);
    printf("the child ended with %d\n", status);
}

int main(void)
{
    alarm(60);
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    enum { NONE = PTHREAD_PRIO_NONE, PRIVATE = PTHREAD_PROCESS_PRIVATE, SHARED = PTHREAD_PROCESS_SHARED };
    of_kind("default", PTHREAD_MUTEX_DEFAULT, NONE, 0, PRIVATE);
    of_kind("normal", PTHREAD_MUTEX_NORMAL, NONE, 0, PRIVATE);
    of_kind("recursive", PTHREAD_MUTEX_RECURSIVE, NONE, 0, PRIVATE);
    of_kind("errorcheck", PTHREAD_MUTEX_ERRORCHECK, NONE, 0, PRIVATE);
    of_kind("adaptive", PTHREAD_MUTEX_ADAPTIVE_NP, NONE, 0, PRIVATE);
    of_kind("inheriting", PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_INHERIT, 0, PRIVATE);
    of_kind("inheriting and recursive", PTHREAD_MUTEX_RECURSIVE, PTHREAD_PRIO_INHERIT, 0, PRIVATE);
    of_kind("shared", PTHREAD_MUTEX_NORMAL, NONE, 0, SHARED);
    of_kind("robust and errorcheck", PTHREAD_MUTEX_ERRORCHECK, NONE, PTHREAD_MUTEX_ROBUST, SHARED);
    robust();
    statics();
    condvars("a condition variable", PTHREAD_MUTEX_DEFAULT, 0, CLOCK_REALTIME, PRIVATE);
    condvars("monotonic", PTHREAD_MUTEX_ERRORCHECK, 0, CLOCK_MONOTONIC, PRIVATE);
    condvars("with a recursive mutex", PTHREAD_MUTEX_RECURSIVE, 0, CLOCK_REALTIME, PRIVATE);
    condvars("with a robust mutex", PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST, CLOCK_REALTIME, PRIVATE);
    condvars("shared, with a private mutex", PTHREAD_MUTEX_NORMAL, 0, CLOCK_REALTIME, SHARED);
    condvars("shared, with a private recursive mutex", PTHREAD_MUTEX_RECURSIVE, 0, CLOCK_MONOTONIC, SHARED);
    cancellation("cancelled", 0, PRIVATE);
    cancellation("cancelled with a robust mutex", PTHREAD_MUTEX_ROBUST, PRIVATE);
    cancellation("cancelled at a shared one", 0, SHARED);
    rwlocks("a reader-writer lock", PTHREAD_RWLOCK_PREFER_READER_NP, PRIVATE);
    rwlocks("that prefers writers", PTHREAD_RWLOCK_PREFER_WRITER_NP, PRIVATE);
    rwlocks("that prefers writers to readers that read", PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP, PRIVATE);
    rwlocks("a shared one", PTHREAD_RWLOCK_PREFER_READER_NP, SHARED);
    c11(mtx_plain);
    c11(mtx_timed);
    c11(mtx_plain | mtx_recursive);
    forks();
    between_processes();
    return 0;
}
