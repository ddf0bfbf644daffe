/*
 * Plain data behind each lock, and threads that change and read it. ThreadSanitizer finds no race here. With the argument
 * `race` one thread changes data that it only reads, and there is one.
 */
#include <lockwright.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#define THREADS 3
#define ROUNDS 2000

static lw_mutex_t mutex;
static lw_cond_t changed;
static lw_rwlock_t rwlock;
static lw_percpu_rwlock_t percpu_rwlock;
static lw_rwsem_t rwsem;
static lw_spinlock_t spinlock;
static lw_cna_spinlock_t cna_spinlock;
static lw_semaphore_t semaphore = LW_SEMAPHORE_INIT(1);
static int races;

/* One of each lock. */
static long data[7];
static int turn;

/* Takes turns with the others. */
static void wait_for_turn(int me)
{
    lw_mutex_lock(&mutex);
    while (turn != me)
        lw_cond_wait(&changed, &mutex);
    turn = (me + 1) % THREADS;
    lw_cond_broadcast(&changed);
    lw_mutex_unlock(&mutex);
}

#define WRITE(kind, object, number)                                                                                    \
    do {                                                                                                               \
        lw_##kind##_lock(&object);                                                                                     \
        data[number]++;                                                                                                \
        lw_##kind##_unlock(&object);                                                                                   \
        if (lw_##kind##_try_lock(&object) == 0) {                                                                      \
            data[number]++;                                                                                            \
            lw_##kind##_unlock(&object);                                                                               \
        }                                                                                                              \
    } while (0)
#define READ(kind, object, number)                                                                                     \
    do {                                                                                                               \
        lw_##kind##_lock_shared(&object);                                                                              \
        sum += data[number];                                                                                           \
        if (races && me == 0)                                                                                          \
            data[number]++;                                                                                            \
        lw_##kind##_unlock_shared(&object);                                                                            \
    } while (0)

static void upgrade(void)
{
    lw_rwlock_lock_upgradable(&rwlock);
    lw_rwlock_upgrade(&rwlock);
    data[1]++;
    lw_rwlock_downgrade_to_upgradable(&rwlock);
    lw_rwlock_unlock_upgradable(&rwlock);
    lw_rwlock_lock(&rwlock);
    data[1]++;
    lw_rwlock_downgrade(&rwlock);
    lw_rwlock_unlock_shared_fair(&rwlock);
}

static void *work(void *of)
{
    int me = *(int *)of, round;
    long sum = 0;
    for (round = 0; round < ROUNDS; round++) {
        WRITE(mutex, mutex, 0);
        WRITE(spinlock, spinlock, 4);
        WRITE(cna_spinlock, cna_spinlock, 5);
        lw_semaphore_acquire(&semaphore, 1);
        data[6]++;
        (void)lw_semaphore_release(&semaphore, 1);
        READ(rwlock, rwlock, 1);
        READ(percpu_rwlock, percpu_rwlock, 2);
        READ(rwsem, rwsem, 3);
        if (round % 8 == me) {
            WRITE(rwlock, rwlock, 1);
            WRITE(rwsem, rwsem, 3);
            upgrade();
            wait_for_turn(me);
        }
        if (round % 500 == me)
            WRITE(percpu_rwlock, percpu_rwlock, 2);
    }
    return sum < 0 ? of : NULL;
}

int main(int count, char **arguments)
{
    pthread_t threads[THREADS];
    int numbers[THREADS], at;
    races = count > 1 && strcmp(arguments[1], "race") == 0;
    for (at = 0; at < THREADS; at++) {
        numbers[at] = at;
        pthread_create(&threads[at], NULL, work, &numbers[at]);
    }
    for (at = 0; at < THREADS; at++)
        pthread_join(threads[at], NULL);
    return 0;
}
