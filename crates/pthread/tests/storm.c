/* Many threads at once, some of which are cancelled, and children that go on with the locks that they inherit. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { THREADS = 8, ROUNDS = 10000, ITEMS = 5000, SLOTS = 4 };

static void all(void *(*run)(void *), void *argument)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, run, argument) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}

/* Each round is one more, with a lock that is taken in different ways. */

static pthread_mutex_t mutex;
static long count, missed;

static void *add(void *argument)
{
    (void)argument;
    for (int i = 0; i < ROUNDS; i++) {
        struct timespec deadline = in_us(CLOCK_REALTIME, 50);
        int error = i % 4 == 0 ? pthread_mutex_trylock(&mutex)
                  : i % 4 == 1 ? pthread_mutex_timedlock(&mutex, &deadline)
                               : pthread_mutex_lock(&mutex);
        if (error != 0) {
            __atomic_fetch_add(&missed, 1, __ATOMIC_RELAXED);
            continue;
        }
        count++;
        CHECK(pthread_mutex_unlock(&mutex) == 0);
    }
    return NULL;
}

static void mutexes(int kind)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, kind);
    CHECK(pthread_mutex_init(&mutex, &attributes) == 0);
    count = missed = 0;
    all(add, NULL);
    CHECK(count + missed == (long)THREADS * ROUNDS);
    CHECK(pthread_mutex_destroy(&mutex) == 0);
}

/* Half of the threads put numbers into a queue and half take them. Some waits have a deadline. */

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t has_items, has_room;
    int used, roles;
    long next, sum;
} queue;

static void *put_or_take(void *argument)
{
    (void)argument;
    pthread_mutex_lock(&queue.mutex);
    bool puts = queue.roles++ % 2 == 0;
    pthread_mutex_unlock(&queue.mutex);
    for (int i = 0; i < ITEMS; i++) {
        pthread_mutex_lock(&queue.mutex);
        while (queue.used == (puts ? SLOTS : 0)) {
            struct timespec deadline = in_us(CLOCK_REALTIME, 200);
            pthread_cond_t *condvar = puts ? &queue.has_room : &queue.has_items;
            if (i % 8 == 0)
                pthread_cond_timedwait(condvar, &queue.mutex, &deadline);
            else
                pthread_cond_wait(condvar, &queue.mutex);
        }
        queue.used += puts ? 1 : -1;
        queue.sum += puts ? i : -i;
        CHECK(0 <= queue.used && queue.used <= SLOTS);
        if (i % 16 == 0)
            pthread_cond_broadcast(puts ? &queue.has_items : &queue.has_room);
        else
            pthread_cond_signal(puts ? &queue.has_items : &queue.has_room);
        pthread_mutex_unlock(&queue.mutex);
    }
    return NULL;
}

/* Threads that wait for tokens, and are cancelled now and then. No token is lost: the last waiter gets the last one. */

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t condvar;
    long tokens, taken, gone;
} tokens = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, 0};

static void leave(void *argument)
{
    (void)argument;
    tokens.gone++;
    pthread_mutex_unlock(&tokens.mutex);
}

static void *take_one(void *argument)
{
    (void)argument;
    pthread_mutex_lock(&tokens.mutex);
    pthread_cleanup_push(leave, NULL);
    while (tokens.tokens == 0)
        pthread_cond_wait(&tokens.condvar, &tokens.mutex);
    tokens.tokens--;
    tokens.taken++;
    pthread_cleanup_pop(1);
    return NULL;
}

static void cancellations(void)
{
    for (int round = 0; round < 300; round++) {
        pthread_t stays, goes;
        CHECK(pthread_create(&goes, NULL, take_one, NULL) == 0);
        usleep(round % 5 * 100);
        CHECK(pthread_create(&stays, NULL, take_one, NULL) == 0);
        usleep(round % 3 * 200);
        pthread_mutex_lock(&tokens.mutex);
        tokens.tokens++;
        pthread_cond_signal(&tokens.condvar);
        /* The first that waited is notified, and perhaps cancelled before it is awake. */
        if (round % 2 == 0)
            pthread_cancel(goes);
        pthread_mutex_unlock(&tokens.mutex);
        pthread_cancel(goes);
        void *result;
        CHECK(pthread_join(goes, &result) == 0);
        if (result != PTHREAD_CANCELED) {
            /* It has the token: another one for the other. */
            pthread_mutex_lock(&tokens.mutex);
            tokens.tokens++;
            pthread_cond_signal(&tokens.condvar);
            pthread_mutex_unlock(&tokens.mutex);
        }
        CHECK(pthread_join(stays, NULL) == 0);
        CHECK(tokens.tokens == 0);
    }
}

/* A condition variable is destroyed as soon as all were notified, and its memory is used for something else. */

struct gate {
    pthread_mutex_t mutex;
    pthread_cond_t condvar;
    int waits;
    bool is_open;
};

static void *pass(void *argument)
{
    struct gate *gate = argument;
    pthread_mutex_lock(&gate->mutex);
    gate->waits++;
    while (!gate->is_open)
        pthread_cond_wait(&gate->condvar, &gate->mutex);
    pthread_mutex_unlock(&gate->mutex);
    return NULL;
}

static void destroy_and_use(struct gate *gate)
{
    CHECK(pthread_cond_destroy(&gate->condvar) == 0);
    memset(&gate->condvar, 0xa5, sizeof gate->condvar);
}

/* In every other round the mutex is held meanwhile, so those that were notified cannot take it. */
static void destroyed_at_once(void)
{
    for (int round = 0; round < 200; round++) {
        struct gate gate = {.mutex = PTHREAD_MUTEX_INITIALIZER};
        pthread_t threads[THREADS];
        int count = round % 4 < 2 ? THREADS : 1;
        bool is_held = round % 2 == 1;
        CHECK(pthread_cond_init(&gate.condvar, NULL) == 0);
        for (int i = 0; i < count; i++)
            CHECK(pthread_create(&threads[i], NULL, pass, &gate) == 0);
        for (bool is_done = false; !is_done;) {
            pthread_mutex_lock(&gate.mutex);
            is_done = gate.waits == count;
            if (is_done) {
                gate.is_open = true;
                if (count == 1)
                    pthread_cond_signal(&gate.condvar);
                else
                    pthread_cond_broadcast(&gate.condvar);
                if (is_held)
                    destroy_and_use(&gate);
            }
            pthread_mutex_unlock(&gate.mutex);
            if (is_done && !is_held)
                destroy_and_use(&gate);
            if (!is_done)
                usleep(round % 3 * 100);
        }
        for (int i = 0; i < count; i++)
            CHECK(pthread_join(threads[i], NULL) == 0);
        for (unsigned i = 0; i < sizeof gate.condvar; i++)
            CHECK(((volatile unsigned char *)&gate.condvar)[i] == 0xa5);
    }
}

/* Readers see both numbers alike. */

static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static volatile long one, other;

static void *read_and_write(void *argument)
{
    (void)argument;
    for (int i = 0; i < ROUNDS; i++) {
        if (i % 8 == 0) {
            CHECK(pthread_rwlock_wrlock(&rwlock) == 0);
            one++;
            other++;
        } else {
            CHECK(pthread_rwlock_rdlock(&rwlock) == 0);
            CHECK(one == other);
            if (i % 8 == 1) {
                CHECK(pthread_rwlock_rdlock(&rwlock) == 0);
                CHECK(pthread_rwlock_unlock(&rwlock) == 0);
            }
        }
        CHECK(pthread_rwlock_unlock(&rwlock) == 0);
    }
    return NULL;
}

/* Children of a process whose other threads are anywhere. The locks of the caller are in order. */

static bool ends;

/* The library has locks of its own for mutexes that are glibc's. These condition variables have the same one. */
static pthread_mutex_t inheriting[2];
static struct {
    pthread_cond_t condvar;
    char apart[1024 - sizeof(pthread_cond_t)];
} waits[2];

static void wait_a_moment(int which)
{
    pthread_mutex_lock(&inheriting[which]);
    struct timespec deadline = in_us(CLOCK_REALTIME, 1);
    pthread_cond_timedwait(&waits[which].condvar, &inheriting[which], &deadline);
    pthread_mutex_unlock(&inheriting[which]);
}

static void *disturb(void *argument)
{
    (void)argument;
    while (!__atomic_load_n(&ends, __ATOMIC_RELAXED)) {
        wait_a_moment(0);
        pthread_mutex_lock(&mutex);
        count++;
        pthread_mutex_unlock(&mutex);
        pthread_rwlock_rdlock(&rwlock);
        pthread_rwlock_unlock(&rwlock);
    }
    return NULL;
}

static void forks(void)
{
    pthread_t threads[4];
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&mutex, NULL);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_mutex_init(&inheriting[i], &attributes) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, disturb, NULL) == 0);
    for (int round = 0; round < 50; round++) {
        pthread_mutex_lock(&mutex);
        pthread_rwlock_wrlock(&rwlock);
        pid_t child = fork();
        pthread_mutex_unlock(&mutex);
        if (child == 0) {
            alarm(20);
            count = missed = 0;
            wait_a_moment(1);
            pthread_t here[2];
            for (int i = 0; i < 2; i++)
                CHECK(pthread_create(&here[i], NULL, add, NULL) == 0);
            for (int i = 0; i < 2; i++)
                CHECK(pthread_join(here[i], NULL) == 0);
            _exit(count + missed == 2L * ROUNDS ? 0 : 1);
        }
        /* The child has another number, so for glibc it is not the thread that writes. */
        pthread_rwlock_unlock(&rwlock);
        int status;
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
    __atomic_store_n(&ends, true, __ATOMIC_RELAXED);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}

int main(void)
{
    alarm(120);
    mutexes(PTHREAD_MUTEX_NORMAL);
    mutexes(PTHREAD_MUTEX_ADAPTIVE_NP);
    mutexes(PTHREAD_MUTEX_ERRORCHECK);
    mutexes(PTHREAD_MUTEX_RECURSIVE);
    puts("mutexes");
    all(put_or_take, NULL);
    CHECK(queue.used == 0 && queue.sum == 0);
    puts("queue");
    cancellations();
    puts("cancellations");
    destroyed_at_once();
    puts("destroyed");
    all(read_and_write, NULL);
    CHECK(one == other && one == (long)THREADS * ROUNDS / 8);
    puts("readers and writers");
    forks();
    puts("forks");
    return 0;
}
