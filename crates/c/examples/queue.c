/* A bounded queue between threads: a mutex and two condition variables, all of them static and without initialisers. */
#include <lockwright.h>
#include <pthread.h>
#include <stdio.h>

enum { PLACES = 16, PRODUCERS = 3, CONSUMERS = 2, MESSAGES = 20000 };

static lw_mutex_t mutex;
static lw_cond_t not_empty, not_full;
static int queue[PLACES];
static unsigned first, count;

static void put(int message)
{
    lw_mutex_lock(&mutex);
    while (count == PLACES)
        lw_cond_wait(&not_full, &mutex);
    queue[(first + count++) % PLACES] = message;
    lw_mutex_unlock(&mutex);
    lw_cond_signal(&not_empty);
}

static int take(void)
{
    int message;
    lw_mutex_lock(&mutex);
    while (count == 0)
        lw_cond_wait(&not_empty, &mutex);
    message = queue[first];
    first = (first + 1) % PLACES;
    count--;
    lw_mutex_unlock(&mutex);
    lw_cond_signal(&not_full);
    return message;
}

static void *produce(void *unused)
{
    int message;
    (void)unused;
    for (message = 1; message <= MESSAGES; message++)
        put(message);
    return NULL;
}

static void *consume(void *sum)
{
    int message;
    while ((message = take()) != 0)
        *(long *)sum += message;
    return NULL;
}

int main(void)
{
    pthread_t producers[PRODUCERS], consumers[CONSUMERS];
    long sums[CONSUMERS] = {0}, sum = 0;
    int at;
    for (at = 0; at < CONSUMERS; at++)
        pthread_create(&consumers[at], NULL, consume, &sums[at]);
    for (at = 0; at < PRODUCERS; at++)
        pthread_create(&producers[at], NULL, produce, NULL);
    for (at = 0; at < PRODUCERS; at++)
        pthread_join(producers[at], NULL);
    for (at = 0; at < CONSUMERS; at++)
        put(0);
    for (at = 0; at < CONSUMERS; at++) {
        pthread_join(consumers[at], NULL);
        sum += sums[at];
    }
    printf("sum of %d messages: %ld\n", PRODUCERS * MESSAGES, sum);
    return 0;
}
