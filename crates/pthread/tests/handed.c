/*
 * A thread sleeps for a mutex, on the CPU of its owner and only where no other thread wants that CPU. The owner unlocks
 * the mutex and takes it again at once, by an attempt or by a wait. Prints how often it was first, in this process, in a
 * child and in a child of that one.
 */
#define _GNU_SOURCE
#include "check.h"
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile pid_t sleeper;
static volatile int turns;

static void *take_turn(void *none)
{
    sleeper = (pid_t)syscall(SYS_gettid);
    CHECK(pthread_mutex_lock(&mutex) == 0);
    turns++;
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    return none;
}

static bool sleeps(pid_t thread)
{
    char path[64], line[512] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
    FILE *file = fopen(path, "r");
    CHECK(file != NULL && fgets(line, sizeof line, file) != NULL);
    fclose(file);
    char *state = strrchr(line, ')');
    return state != NULL && strncmp(state, ") S", 3) == 0;
}

/* Returns true if the owner was first. */
static bool overtakes(bool waits)
{
    pthread_t thread;
    sleeper = turns = 0;
    CHECK(pthread_mutex_lock(&mutex) == 0);
    CHECK(pthread_create(&thread, NULL, take_turn, NULL) == 0);
    while (sleeper == 0 || !sleeps(sleeper))
        usleep(1000);
    CHECK(sched_setscheduler(sleeper, SCHED_IDLE, &(struct sched_param){ 0 }) == 0);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    if (waits || pthread_mutex_trylock(&mutex) != 0)
        CHECK(pthread_mutex_lock(&mutex) == 0);
    bool is_first = turns == 0;
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    return is_first;
}

static void count(int forks)
{
    int overtaken = 0;
    for (int round = 0; round < 2; round++)
        overtaken += overtakes(round % 2);
    printf("%d ", overtaken);
    fflush(stdout);
    if (forks == 0)
        return;
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        count(forks - 1);
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

int main(void)
{
    cpu_set_t all, one;
    CHECK(sched_getaffinity(0, sizeof all, &all) == 0);
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; cpu++)
        if (CPU_ISSET(cpu, &all))
            CPU_SET(cpu, &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
    count(2);
    return 0;
}
