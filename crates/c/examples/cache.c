/* A cache that is read by all threads: readers share a lock, and the writer of an entry goes on as a reader of it. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <lockwright.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

enum { ENTRIES = 64, THREADS = 4, LOOKS = 20000 };

static lw_rwlock_t lock = LW_RWLOCK_INIT;
static long squares[ENTRIES];
static unsigned computed;

static long square(long number)
{
    long result;
    lw_rwlock_lock_shared(&lock);
    result = squares[number];
    if (result == 0) {
        lw_rwlock_unlock_shared(&lock);
        lw_rwlock_lock(&lock);
        if (squares[number] == 0) {
            squares[number] = number * number;
            computed++;
        }
        lw_rwlock_downgrade(&lock);
        result = squares[number];
    }
    lw_rwlock_unlock_shared(&lock);
    return result;
}

static void *look(void *wrong)
{
    long at;
    for (at = 0; at < LOOKS; at++) {
        long number = 1 + at % (ENTRIES - 1);
        if (square(number) != number * number)
            ++*(int *)wrong;
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    int wrong[THREADS] = {0}, at, result;
    struct timespec deadline;
    for (at = 0; at < THREADS; at++)
        pthread_create(&threads[at], NULL, look, &wrong[at]);
    for (at = 0; at < THREADS; at++)
        pthread_join(threads[at], NULL);
    for (at = 1; at < THREADS; at++)
        wrong[0] += wrong[at];
    printf("%u entries computed, %d wrong\n", computed, wrong[0]);

    /* A writer waits no longer than 5 ms for a reader. */
    lw_rwlock_lock_shared(&lock);
    clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_nsec += 5000000;
    deadline.tv_sec += deadline.tv_nsec / 1000000000;
    deadline.tv_nsec %= 1000000000;
    result = lw_rwlock_lock_until(&lock, CLOCK_MONOTONIC, &deadline);
    printf("while it is read: %s\n", result == ETIMEDOUT ? "timed out" : "?");
    lw_rwlock_unlock_shared(&lock);
    return 0;
}
