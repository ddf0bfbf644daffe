/*
 * Takes and releases a mutex of its own in each of THREADS threads, COUNT times in all, and checks what it protects.
 * With 1, the first thread does it, and the process has no other. Prints nothing of time: its caller measures.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS_MAX 64

static struct {
    _Alignas(128) pthread_mutex_t mutex;
    volatile long count;
} own[THREADS_MAX];
static long times;

static void *count(void *argument)
{
    long at = (long)argument;
    for (long i = 0; i < times; i++) {
        pthread_mutex_lock(&own[at].mutex);
        own[at].count++;
        pthread_mutex_unlock(&own[at].mutex);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    long threads = argc == 3 ? atol(argv[1]) : 0;
    if (threads < 1 || threads > THREADS_MAX) {
        fputs("pair THREADS COUNT, with 1 to 64 threads\n", stderr);
        return 2;
    }
    times = atol(argv[2]) / threads;
    if (threads == 1) {
        count((void *)0);
    } else {
        pthread_t thread[THREADS_MAX];
        for (long at = 0; at < threads; at++)
            if (pthread_create(&thread[at], NULL, count, (void *)at) != 0)
                return 1;
        for (long at = 0; at < threads; at++)
            pthread_join(thread[at], NULL);
    }
    for (long at = 0; at < threads; at++)
        if (own[at].count != times)
            return 1;
    puts("ok");
    return 0;
}
