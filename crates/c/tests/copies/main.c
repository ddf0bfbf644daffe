/*
 * Two copies of the library in one process, which use the same locks. The arguments are two libraries, opened so that
 * neither sees the other; "-" is the copy in the program itself. Ends by a signal if a thread is not woken.
 */
#define _GNU_SOURCE
#include "copy.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct copy *copies[2];

static void *open_copy(const char *path, const struct copy **copy)
{
    const struct copy *(*get)(void);
    void *library = dlopen(strcmp(path, "-") == 0 ? NULL : path, RTLD_NOW | RTLD_LOCAL);
    void *symbol = library == NULL ? NULL : dlsym(library, "get_copy");
    if (symbol == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(2);
    }
    memcpy(&get, &symbol, sizeof get);
    *copy = get();
    return library;
}

static void check(int is_so, const char *what)
{
    if (!is_so) {
        printf("not so: %s\n", what);
        exit(1);
    }
}

/* A thread that waits by one copy for what the other releases. */
struct waiter {
    const struct copy *copy;
    enum kind kind;
    union object *object;
    int tid;
};

static void *wait_for_it(void *argument)
{
    struct waiter *waiter = argument;
    __atomic_store_n(&waiter->tid, gettid(), __ATOMIC_RELEASE);
    waiter->copy->take(waiter->kind, waiter->object);
    waiter->copy->release(waiter->kind, waiter->object);
    return NULL;
}

/* Waits until the thread sleeps: the letter behind its name in the kernel's file says so. */
static void await_sleep(const int *tid)
{
    char path[64], line[256], state = 0;
    while (state != 'S') {
        FILE *file;
        snprintf(path, sizeof path, "/proc/self/task/%d/stat", __atomic_load_n(tid, __ATOMIC_ACQUIRE));
        file = fopen(path, "r");
        if (file != NULL) {
            if (fgets(line, sizeof line, file) != NULL && strrchr(line, ')') != NULL)
                state = strrchr(line, ')')[2];
            fclose(file);
        }
        usleep(1000);
    }
}

/* `holder` has the lock while the waiter goes to sleep. */
static void hand_over(const struct copy *holder, const struct copy *other, enum kind held, enum kind wanted)
{
    union object *object = calloc(1, sizeof *object);
    struct waiter waiter = {other, wanted, object, 0};
    pthread_t thread;
    int round;
    if (held == SEMAPHORE)
        other->release(held, object);
    /* Until its release finds that no thread has slept for long, and a reader uses memory of its own. */
    for (round = 0; round < 10000; round++) {
        holder->take(held, object);
        (round % 2 == 0 ? holder : other)->release(held, object);
    }
    holder->take(held, object);
    pthread_create(&thread, NULL, wait_for_it, &waiter);
    await_sleep(&waiter.tid);
    holder->release(held, object);
    pthread_join(thread, NULL);
    free(object);
}

static void hand_over_all(void)
{
    static const enum kind pairs[][2] = {
        {MUTEX, MUTEX},         {RWLOCK, RWLOCK}, {RWLOCK, RWLOCK_SHARED}, {RWLOCK_SHARED, RWLOCK},
        {PERCPU, PERCPU_SHARED}, {PERCPU_SHARED, PERCPU}, {RWSEM, RWSEM}, {RWSEM_SHARED, RWSEM}, {SEMAPHORE, SEMAPHORE},
    };
    size_t at;
    for (at = 0; at < sizeof pairs / sizeof pairs[0]; at++) {
        hand_over(copies[0], copies[1], pairs[at][0], pairs[at][1]);
        hand_over(copies[1], copies[0], pairs[at][0], pairs[at][1]);
    }
}

/* Reads once more, and gives back both shares. */
static void *read_again(void *argument)
{
    struct waiter *reader = argument;
    reader->copy->take(RWLOCK_SHARED, reader->object);
    reader->copy->release(RWLOCK_SHARED, reader->object);
    reader->copy->release(RWLOCK_SHARED, reader->object);
    return NULL;
}

/*
 * A thread reads by one copy. While a writer waits, which has closed the door, it reads again by `again`, or hands its
 * share to another thread that does. If one waited for the other, the alarm would end the program.
 */
static void read_past_writer(const struct copy *again, int is_handed_over)
{
    union object *object = calloc(1, sizeof *object);
    struct waiter writer = {copies[1], RWLOCK, object, 0}, reader = {again, RWLOCK_SHARED, object, 0};
    pthread_t thread, other;
    copies[0]->take(RWLOCK_SHARED, object);
    pthread_create(&thread, NULL, wait_for_it, &writer);
    await_sleep(&writer.tid);
    usleep(20000);
    if (is_handed_over) {
        pthread_create(&other, NULL, read_again, &reader);
        pthread_join(other, NULL);
    } else {
        read_again(&reader);
    }
    pthread_join(thread, NULL);
    free(object);
}

/* Each thread takes the lock by one copy and releases it by the other. */
struct storm {
    enum kind kind, shared;
    union object object;
    volatile long sum;
    long rounds, number;
    struct storm *first;
};

static void *storm(void *argument)
{
    struct storm *me = argument, *all = me->first;
    long round;
    for (round = 0; round < me->rounds; round++) {
        const int at = (int)(round + me->number) % 2;
        if (all->shared != KINDS && round % 8 != 0) {
            copies[at]->take(all->shared, &all->object);
            check(all->sum >= 0, "a reader sees no writer");
            copies[1 - at]->release(all->shared, &all->object);
        } else {
            copies[at]->take(all->kind, &all->object);
            all->sum = -all->sum - 1;
            all->sum = -all->sum;
            copies[1 - at]->release(all->kind, &all->object);
        }
    }
    return NULL;
}

static void run_storm(enum kind kind, enum kind shared, int threads, long rounds)
{
    struct storm of[8];
    pthread_t handles[8];
    int at;
    long expected = 0, round;
    memset(of, 0, sizeof of);
    of[0].kind = kind;
    of[0].shared = shared;
    if (kind == SEMAPHORE)
        copies[0]->release(kind, &of[0].object);
    for (round = 0; round < rounds; round++)
        expected += shared == KINDS || round % 8 == 0;
    for (at = 0; at < threads; at++) {
        of[at].rounds = rounds;
        of[at].number = at;
        of[at].first = of;
        pthread_create(&handles[at], NULL, storm, &of[at]);
    }
    for (at = 0; at < threads; at++)
        pthread_join(handles[at], NULL);
    check(of[0].sum == threads * expected, "no addition is lost");
}

/* Two threads take turns; the waiter of one copy is notified by the other. */
static lw_mutex_t turn_mutex;
static lw_cond_t turn_changed;
static int turn;

static void *take_turns(void *number)
{
    const struct copy *mine = copies[(long)number];
    int round;
    for (round = 0; round < 5000; round++) {
        mine->take(MUTEX, (union object *)&turn_mutex);
        while (turn % 2 != (int)(long)number)
            mine->wait(&turn_changed, &turn_mutex);
        turn++;
        if (round % 2 == 0)
            mine->signal(&turn_changed);
        else
            mine->broadcast(&turn_changed);
        mine->release(MUTEX, (union object *)&turn_mutex);
    }
    return NULL;
}

static void all(void)
{
    pthread_t other;
    hand_over_all();
    read_past_writer(copies[0], 0);
    read_past_writer(copies[1], 0);
    read_past_writer(copies[0], 1);
    run_storm(MUTEX, KINDS, 6, 10000);
    run_storm(SEMAPHORE, KINDS, 4, 5000);
    run_storm(RWLOCK, RWLOCK_SHARED, 6, 20000);
    run_storm(PERCPU, PERCPU_SHARED, 4, 20000);
    run_storm(RWSEM, RWSEM_SHARED, 4, 10000);
    run_storm(SPINLOCK, KINDS, 2, 20000);
    run_storm(CNA, KINDS, 2, 20000);
    pthread_create(&other, NULL, take_turns, (void *)1);
    take_turns(NULL);
    pthread_join(other, NULL);
}

int main(int count, char **arguments)
{
    void *libraries[2];
    int at, status;
    pid_t child;
    if (count != 4)
        return 2;
    /* A thread that is not woken waits for ever. */
    alarm((unsigned)atoi(arguments[3]));
    for (at = 0; at < 2; at++)
        libraries[at] = open_copy(arguments[1 + at], &copies[at]);
    check(copies[0]->code != copies[1]->code, "these are two copies");
    printf("%s\n", copies[0]->table == copies[1]->table ? "one table" : "two tables");
    fflush(stdout);
    all();
    child = fork();
    if (child == 0) {
        alarm((unsigned)atoi(arguments[3]));
        all();
        _exit(0);
    }
    check(waitpid(child, &status, 0) == child && status == 0, "a forked child does the same");
    /* The copy whose memory both use. */
    if (strcmp(arguments[1], "-") != 0)
        check(dlclose(libraries[0]) == 0, "it can be closed");
    copies[0] = copies[1];
    all();
    puts("done");
    return 0;
}
