/*
 * A program for the sanitizers of a compiler. It has no error, unless an argument asks for one: `race`, two threads that
 * write without a lock; `overflow`, a write behind a block of memory.
 */
#include "check.h"
#include <pthread.h>
#include <string.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static long with_mutex, with_rwlock, without;
static int is_racing, arrived;
#define THREADS 4
#define ROUNDS 2000

static void *count(void *unused)
{
    pthread_mutex_lock(&mutex);
    arrived++;
    pthread_cond_broadcast(&changed);
    while (arrived < THREADS)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&mutex);
        with_mutex++;
        pthread_mutex_unlock(&mutex);
        pthread_rwlock_wrlock(&rwlock);
        with_rwlock++;
        pthread_rwlock_unlock(&rwlock);
        pthread_rwlock_rdlock(&rwlock);
        long seen = with_rwlock;
        pthread_rwlock_unlock(&rwlock);
        CHECK(seen > 0);
        if (is_racing)
            without++;
    }
    return unused;
}

int main(int many, char **arguments)
{
    pthread_t threads[THREADS];
    const char *error = many > 1 ? arguments[1] : "";
    is_racing = strcmp(error, "race") == 0;
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, count, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(with_mutex == THREADS * ROUNDS && with_rwlock == THREADS * ROUNDS);
    if (strcmp(error, "overflow") == 0) {
        volatile char *block = malloc(8);
        volatile int at = 8;
        block[at] = 1;
        free((void *)block);
    }
    puts("all there");
    return 0;
}
