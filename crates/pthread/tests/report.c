/* Ways to end that make it hard to say on standard error what was used. Each uses one mutex. */
#define _GNU_SOURCE
#include "check.h"
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void use_mutex(void)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
}

/* A child that ends while its parent goes on. */
static void fork_worker(void)
{
    pid_t worker = fork();
    CHECK(worker >= 0);
    if (worker == 0)
        exit(0);
    CHECK(waitpid(worker, NULL, 0) == worker);
}

int main(int count, char **arguments)
{
    CHECK(count == 3);
    const char *way = arguments[1], *file = arguments[2];
    if (strcmp(way, "closed") == 0)
        fclose(stderr);
    if (strcmp(way, "file") == 0) {
        close(2);
        CHECK(open(file, O_CREAT | O_TRUNC | O_WRONLY, 0600) == 2);
        CHECK(write(2, "data\n", 5) == 5);
    }
    if (strcmp(way, "all closed") == 0)
        for (int descriptor = 3; descriptor < 1024; descriptor++)
            close(descriptor);
    if (strcmp(way, "daemon") == 0)
        CHECK(daemon(1, 1) == 0);
    if (strcmp(way, "two forks") == 0) {
        pid_t child = fork();
        if (child == 0 && setsid() > 0)
            child = fork();
        CHECK(child >= 0);
        if (child > 0)
            _exit(0);
        /* It is told from a worker when its parent has ended. */
        while (getppid() == getsid(0))
            usleep(1000);
    }
    fork_worker();
    use_mutex();
    return 0;
}
