/*
 * Looks for lost wake-ups, such as those of glibc's condition variables before 2.41 (BZ 25847): threads that sleep
 * although each of them was notified. lost_wakeup SECONDS [THREADS]. Ends with 1 and a line if nothing has moved for
 * ten seconds.
 *
 * Takers wait for an item, and each item is notified once, to one of them. Makers put an item in only when another
 * was taken, so a notification that is lost stops them all in the end. Some takers come late, between a notification
 * and the thread that it was for: they take the item, and the woken thread has to wait again.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define THREADS_MAX 64
#define SILENT_S 10

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t is_there = PTHREAD_COND_INITIALIZER;
static pthread_cond_t is_taken = PTHREAD_COND_INITIALIZER;
static long items, room;
static unsigned long moved;
static bool ends;

static void *take(void *unused)
{
    while (!__atomic_load_n(&ends, __ATOMIC_RELAXED)) {
        pthread_mutex_lock(&mutex);
        while (items == 0)
            pthread_cond_wait(&is_there, &mutex);
        items--;
        room++;
        moved++;
        /* Notified while it is held, and after: both orders exist in programs. */
        if (moved % 2 == 0)
            pthread_cond_signal(&is_taken);
        bool is_late = moved % 2 != 0;
        pthread_mutex_unlock(&mutex);
        if (is_late)
            pthread_cond_signal(&is_taken);
    }
    return unused;
}

static void *make(void *unused)
{
    while (!__atomic_load_n(&ends, __ATOMIC_RELAXED)) {
        pthread_mutex_lock(&mutex);
        while (room == 0)
            pthread_cond_wait(&is_taken, &mutex);
        room--;
        items++;
        pthread_mutex_unlock(&mutex);
        pthread_cond_signal(&is_there);
    }
    return unused;
}

int main(int argc, char **argv)
{
    long seconds = argc > 1 ? atol(argv[1]) : 0, threads = argc > 2 ? atol(argv[2]) : 8;
    if (argc < 2 || argc > 3 || seconds < 1 || threads < 2 || threads > THREADS_MAX) {
        fputs("lost_wakeup SECONDS [THREADS], with 2 to 64 threads\n", stderr);
        return 2;
    }
    room = threads / 4 + 1;
    for (long at = 0; at < threads; at++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, at % 4 == 0 ? make : take, NULL) != 0)
            return 2;
    }
    unsigned long before = 0;
    long silent = 0;
    for (long second = 0; second < seconds; second++) {
        sleep(1);
        unsigned long now = __atomic_load_n(&moved, __ATOMIC_RELAXED);
        silent = now == before ? silent + 1 : 0;
        before = now;
        if (silent == SILENT_S) {
            printf("lost after %lu items and %ld seconds\n", now, second + 1 - SILENT_S);
            fflush(stdout);
            _exit(1);
        }
    }
    printf("%lu items, no wake-up was lost\n", before);
    fflush(stdout);
    _exit(0);
}
