/*
 * Ten thousand threads and a hundred thousand mutexes, a storm of forks, and a process that is killed while it holds
 * locks that it shares. crowd [THREADS MUTEXES]. Ends with 1 and a line if something is wrong.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { TRANSFERS = 20, STACK = 64 * 1024 };

static pthread_t started(void *(*run)(void *), void *argument)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    CHECK(pthread_attr_setstacksize(&attributes, STACK) == 0);
    pthread_t thread;
    int error = pthread_create(&thread, &attributes, run, argument);
    if (error != 0) {
        printf("a thread was refused: %s\n", strerror(error));
        exit(1);
    }
    pthread_attr_destroy(&attributes);
    return thread;
}

/* Accounts with a mutex each. A transfer takes two of them. */

struct account {
    pthread_mutex_t mutex;
    long coins;
};

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t is_open;
    long waiting;
    bool is_open_now;
} gate = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, false};

static struct account *accounts;
static long accounts_count;
/* All threads stand in this line once, some with a deadline that passes. */
static pthread_mutex_t line = PTHREAD_MUTEX_INITIALIZER;
static long passed, in_line, late;

static unsigned long next_number(unsigned long *state)
{
    *state = *state * 6364136223846793005ul + 1442695040888963407ul;
    return *state >> 33;
}

static void transfer(unsigned long *state)
{
    long from = next_number(state) % accounts_count, to = next_number(state) % accounts_count;
    if (from == to)
        return;
    struct account *low = &accounts[from < to ? from : to], *high = &accounts[from < to ? to : from];
    CHECK(pthread_mutex_lock(&low->mutex) == 0);
    CHECK(pthread_mutex_lock(&high->mutex) == 0);
    long coins = next_number(state) % 100;
    accounts[from].coins -= coins;
    accounts[to].coins += coins;
    CHECK(pthread_mutex_unlock(&high->mutex) == 0);
    CHECK(pthread_mutex_unlock(&low->mutex) == 0);
}

static void *one_of_many(void *argument)
{
    long number = (long)argument;
    unsigned long state = number + 1;
    pthread_mutex_lock(&gate.mutex);
    gate.waiting++;
    while (!gate.is_open_now)
        CHECK(pthread_cond_wait(&gate.is_open, &gate.mutex) == 0);
    pthread_mutex_unlock(&gate.mutex);

    for (int i = 0; i < TRANSFERS; i++)
        transfer(&state);

    __atomic_fetch_add(&in_line, 1, __ATOMIC_SEQ_CST);
    struct timespec deadline = in_us(CLOCK_MONOTONIC, 1000);
    int error = number % 4 == 0 ? pthread_mutex_clocklock(&line, CLOCK_MONOTONIC, &deadline)
                                : pthread_mutex_lock(&line);
    if (error == 0) {
        passed++;
        CHECK(pthread_mutex_unlock(&line) == 0);
    } else {
        CHECK(error == ETIMEDOUT && number % 4 == 0);
        __atomic_fetch_add(&late, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void many(long threads_count)
{
    accounts = calloc(accounts_count, sizeof *accounts);
    pthread_t *threads = calloc(threads_count, sizeof *threads);
    CHECK(accounts != NULL && threads != NULL);
    for (long i = 0; i < accounts_count; i++)
        CHECK(pthread_mutex_init(&accounts[i].mutex, NULL) == 0);
    CHECK(pthread_mutex_lock(&line) == 0);
    for (long i = 0; i < threads_count; i++)
        threads[i] = started(one_of_many, (void *)i);
    for (bool all = false; !all; usleep(1000)) {
        pthread_mutex_lock(&gate.mutex);
        all = gate.is_open_now = gate.waiting == threads_count;
        if (all)
            CHECK(pthread_cond_broadcast(&gate.is_open) == 0);
        pthread_mutex_unlock(&gate.mutex);
    }
    while (__atomic_load_n(&in_line, __ATOMIC_SEQ_CST) < threads_count)
        usleep(1000);
    CHECK(pthread_mutex_unlock(&line) == 0);
    for (long i = 0; i < threads_count; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(passed + late == threads_count && passed >= threads_count - threads_count / 4 - 1);
    long sum = 0;
    for (long i = 0; i < accounts_count; i++) {
        sum += accounts[i].coins;
        CHECK(pthread_mutex_destroy(&accounts[i].mutex) == 0);
    }
    CHECK(sum == 0);
    free(threads);
    free(accounts);
}

/*
 * Threads fork at the same time while others use the same locks. Handlers take the locks before a fork and release
 * them after it, in the child too, so every child finds them free; it starts threads that use them.
 */

enum { FORKING = 4, FORKS = 25, IN_CHILD = 200 };

static pthread_mutex_t of_all = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t read_by_all = PTHREAD_RWLOCK_INITIALIZER;
static long taken;
static bool is_over;

static void before(void)
{
    pthread_mutex_lock(&of_all);
    pthread_rwlock_wrlock(&read_by_all);
}

static void after(void)
{
    pthread_rwlock_unlock(&read_by_all);
    pthread_mutex_unlock(&of_all);
}

/* The child has another number than the thread that locked, so a release by the writer would not be one for glibc. */
static void after_in_child(void)
{
    pthread_rwlock_init(&read_by_all, NULL);
    pthread_mutex_init(&of_all, NULL);
}

static void *use_both(void *until_told)
{
    for (int i = 0; until_told ? !__atomic_load_n(&is_over, __ATOMIC_RELAXED) : i < IN_CHILD; i++) {
        pthread_mutex_lock(&of_all);
        taken += until_told == NULL;
        pthread_mutex_unlock(&of_all);
        pthread_rwlock_rdlock(&read_by_all);
        pthread_rwlock_unlock(&read_by_all);
    }
    return NULL;
}

static void *fork_often(void *unused)
{
    (void)unused;
    for (int i = 0; i < FORKS; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            alarm(60);
            taken = 0;
            pthread_t here[] = {started(use_both, NULL), started(use_both, NULL)};
            for (int j = 0; j < 2; j++)
                pthread_join(here[j], NULL);
            _exit(taken == 2 * IN_CHILD ? 0 : 1);
        }
        int status;
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
    return NULL;
}

static void storm_of_forks(void)
{
    CHECK(pthread_atfork(before, after, after_in_child) == 0);
    pthread_t others[] = {started(use_both, &is_over), started(use_both, &is_over)};
    pthread_t forking[FORKING];
    for (int i = 0; i < FORKING; i++)
        forking[i] = started(fork_often, NULL);
    for (int i = 0; i < FORKING; i++)
        CHECK(pthread_join(forking[i], NULL) == 0);
    __atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(others[i], NULL) == 0);
}

/* Locks in memory that two processes share. The other process is killed; it may have glibc's locks. */

struct shared {
    pthread_mutex_t robust, plain;
    pthread_rwlock_t rwlock;
    bool is_held;
};

static void initialise(struct shared *shared)
{
    pthread_mutexattr_t of_mutex;
    pthread_mutexattr_init(&of_mutex);
    pthread_mutexattr_setpshared(&of_mutex, PTHREAD_PROCESS_SHARED);
    CHECK(pthread_mutex_init(&shared->plain, &of_mutex) == 0);
    pthread_mutexattr_setrobust(&of_mutex, PTHREAD_MUTEX_ROBUST);
    CHECK(pthread_mutex_init(&shared->robust, &of_mutex) == 0);
    pthread_rwlockattr_t of_rwlock;
    pthread_rwlockattr_init(&of_rwlock);
    pthread_rwlockattr_setpshared(&of_rwlock, PTHREAD_PROCESS_SHARED);
    CHECK(pthread_rwlock_init(&shared->rwlock, &of_rwlock) == 0);
}

static struct shared *mapped(int file)
{
    struct shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    CHECK(shared != MAP_FAILED);
    return shared;
}

/* The process that is killed. */
static int hold(int file)
{
    struct shared *shared = mapped(file);
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    CHECK(pthread_mutex_lock(&own) == 0);
    CHECK(pthread_mutex_lock(&shared->robust) == 0);
    CHECK(pthread_mutex_lock(&shared->plain) == 0);
    CHECK(pthread_rwlock_rdlock(&shared->rwlock) == 0);
    __atomic_store_n(&shared->is_held, true, __ATOMIC_SEQ_CST);
    for (;;)
        pause();
}

static void *take_robust(void *argument)
{
    struct shared *shared = argument;
    return (void *)(long)pthread_mutex_lock(&shared->robust);
}

static void killed(char *self, bool is_with_library)
{
    int file = memfd_create("shared", 0);
    CHECK(file >= 0 && ftruncate(file, sizeof(struct shared)) == 0);
    struct shared *shared = mapped(file);
    initialise(shared);
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        char number[16];
        snprintf(number, sizeof number, "%d", file);
        if (!is_with_library)
            unsetenv("LD_PRELOAD");
        execl("/proc/self/exe", self, "hold", number, NULL);
        _exit(1);
    }
    while (!__atomic_load_n(&shared->is_held, __ATOMIC_SEQ_CST))
        usleep(1000);
    CHECK(pthread_mutex_trylock(&shared->robust) == EBUSY);
    CHECK(pthread_rwlock_trywrlock(&shared->rwlock) == EBUSY);
    /* One waits for the robust mutex while the other process dies. */
    pthread_t waiter = started(take_robust, shared);
    usleep(20000);
    CHECK(kill(child, SIGKILL) == 0);
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
    void *result;
    CHECK(pthread_join(waiter, &result) == 0 && (long)result == EOWNERDEAD);
    /* That thread has ended with it, and has not mended it. */
    CHECK(pthread_mutex_lock(&shared->robust) == EOWNERDEAD);
    CHECK(pthread_mutex_consistent(&shared->robust) == 0);
    CHECK(pthread_mutex_unlock(&shared->robust) == 0);
    CHECK(pthread_mutex_lock(&shared->robust) == 0);
    CHECK(pthread_mutex_unlock(&shared->robust) == 0);
    /* Nobody gives the others back. */
    struct timespec deadline = in_us(CLOCK_REALTIME, 20000);
    CHECK(pthread_mutex_timedlock(&shared->plain, &deadline) == ETIMEDOUT);
    CHECK(pthread_rwlock_rdlock(&shared->rwlock) == 0);
    CHECK(pthread_rwlock_unlock(&shared->rwlock) == 0);
    CHECK(pthread_rwlock_timedwrlock(&shared->rwlock, &deadline) == ETIMEDOUT);
    munmap(shared, sizeof *shared);
    close(file);
}

int main(int count, char **arguments)
{
    if (count == 3 && strcmp(arguments[1], "hold") == 0)
        return hold(atoi(arguments[2]));
    long threads = count == 3 ? atol(arguments[1]) : 10000;
    accounts_count = count == 3 ? atol(arguments[2]) : 100000;
    CHECK(threads > 0 && accounts_count > 1);
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    alarm(120);
    many(threads);
    puts("threads and mutexes");
    storm_of_forks();
    puts("forks");
    killed(arguments[0], true);
    puts("a process that was killed");
    killed(arguments[0], false);
    puts("a process with other locks that was killed");
    return 0;
}
