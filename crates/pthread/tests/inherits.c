/*
 * What a program inherits, one line for each row of the table in README.md.
 *
 * inherits -- COMMAND: makes everything unusual and starts the command in its own place, which shall end in
 * inherits ARGUMENTS: prints it. What a user has no right to change stays usual.
 */
#define _GNU_SOURCE
#include "check.h"
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

/* For system calls that glibc has no function for: this process, and a class of priorities. */
enum { OF_PROCESS = 1, BEST_EFFORT = 2 << 13 };

static void write_to(const char *path, const char *text)
{
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file >= 0 && write(file, text, strlen(text)) > 0)
        close(file);
}

static void start(char **command)
{
    static const int ignored[] = {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGTSTP, SIGXFSZ};
    static char is_process[32];
    static char *environment[] = {"A=1", "A=2", "no value", "B=", is_process, NULL};
    for (unsigned i = 0; i < sizeof ignored / sizeof *ignored; i++)
        signal(ignored[i], SIG_IGN);
    signal(SIGRTMIN + 3, SIG_IGN);
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    sigaddset(&blocked, SIGRTMAX);
    sigprocmask(SIG_SETMASK, &blocked, NULL);
    raise(SIGUSR1);

    close(0);
    CHECK(open("/dev/null", O_WRONLY | O_CLOEXEC) == 0 && fcntl(0, F_DUPFD, 77) == 77);
    close(0);
    struct rlimit files = {200, 250}, core = {0, 0};
    CHECK(setrlimit(RLIMIT_NOFILE, &files) == 0 && setrlimit(RLIMIT_CORE, &core) == 0);
    cpu_set_t all, first;
    CHECK(sched_getaffinity(0, sizeof all, &all) == 0);
    int cpu = 0;
    while (!CPU_ISSET(cpu, &all))
        cpu++;
    CPU_ZERO(&first);
    CPU_SET(cpu, &first);
    CHECK(sched_setaffinity(0, sizeof first, &first) == 0);
    struct sched_param none = {0};
    CHECK(nice(3) != -1 && sched_setscheduler(0, SCHED_BATCH, &none) == 0);
    CHECK(syscall(SYS_ioprio_set, OF_PROCESS, 0, BEST_EFFORT | 6) == 0);
    prctl(PR_CAPBSET_DROP, 0, 0, 0, 0);
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    CHECK(prctl(PR_SET_TIMERSLACK, 12345, 0, 0, 0) == 0 && prctl(PR_SET_PDEATHSIG, SIGWINCH, 0, 0, 0) == 0);
    personality(ADDR_NO_RANDOMIZE);
    write_to("/proc/self/oom_score_adj", "500");
    umask(027);
    CHECK(chdir("/") == 0);
    setsid();
    struct itimerval later = {.it_value.tv_sec = 100000};
    CHECK(setitimer(ITIMER_REAL, &later, NULL) == 0);

    snprintf(is_process, sizeof is_process, "PROCESS=%d %d", (int)getpid(), (int)getsid(0));
    environ = environment;
    execv(command[0], command);
    CHECK(!"the command starts");
}

static void print_signals(void)
{
    sigset_t blocked, pending;
    sigprocmask(SIG_SETMASK, NULL, &blocked);
    sigpending(&pending);
    printf("ignored signals:");
    struct sigaction action;
    for (int signal = 1; signal <= SIGRTMAX; signal++)
        if (sigaction(signal, NULL, &action) == 0 && action.sa_handler != SIG_DFL)
            printf(" %d%s", signal, action.sa_handler == SIG_IGN ? "" : " caught");
    printf("\nblocked and pending signals:");
    for (int signal = 1; signal <= SIGRTMAX; signal++)
        if (sigismember(&blocked, signal) == 1)
            printf(" %d%s", signal, sigismember(&pending, signal) == 1 ? " pending" : "");
}

static void print_descriptors(void)
{
    printf("\ndescriptors:");
    for (int descriptor = 0; descriptor < 250; descriptor++) {
        struct stat of;
        int flags = fcntl(descriptor, F_GETFL);
        if (flags == -1 || fstat(descriptor, &of) != 0)
            continue;
        printf(" %d %o %o %d", descriptor, of.st_mode, flags, fcntl(descriptor, F_GETFD));
    }
}

static void print_environment(int count, char **arguments)
{
    printf("\narguments:");
    for (int i = 0; i < count; i++)
        printf(" '%s'", arguments[i]);
    int process = 0, session = 0;
    printf("\nenvironment:");
    for (char **entry = environ; *entry != NULL; entry++)
        if (sscanf(*entry, "PROCESS=%d %d", &process, &session) != 2)
            printf(" '%s'", *entry);
    printf("\nprocess and session: %d %d %d", process == getpid(), session == getsid(0), getpgrp() == getpid());
}

/* The lines of a file of /proc that begin with one of these words. */
static void print_lines(const char *path, const char *const *words)
{
    char line[256];
    FILE *file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        for (const char *const *word = words; *word != NULL; word++)
            if (strncmp(line, *word, strlen(*word)) == 0)
                printf(" %.*s", (int)strcspn(line, "\n"), line);
    if (file != NULL)
        fclose(file);
}

static void print_limits(void)
{
    printf("\nlimits:");
    for (int limit = 0; limit < RLIM_NLIMITS; limit++) {
        struct rlimit of = {0};
        getrlimit(limit, &of);
        printf(" %lld %lld", (long long)of.rlim_cur, (long long)of.rlim_max);
    }
}

int main(int count, char **arguments)
{
    if (count > 2 && strcmp(arguments[1], "--") == 0)
        start(arguments + 2);
    print_signals();
    print_descriptors();
    print_environment(count, arguments);
    print_limits();
    cpu_set_t cpus;
    printf("\nCPUs:");
    CHECK(sched_getaffinity(0, sizeof cpus, &cpus) == 0);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &cpus))
            printf(" %d", cpu);
    printf("\npriorities: %d %d %ld", getpriority(PRIO_PROCESS, 0), sched_getscheduler(0),
           syscall(SYS_ioprio_get, OF_PROCESS, 0));
    print_lines("/proc/self/oom_score_adj", (const char *const[]){"", NULL});
    printf("\nuser, groups and capabilities:");
    print_lines("/proc/self/status", (const char *const[]){"Uid", "Gid", "Groups", "Cap", "NoNewPrivs", "Seccomp", NULL});
    printf(" %d", prctl(PR_GET_SECUREBITS, 0, 0, 0, 0));
    int at_death = 0;
    prctl(PR_GET_PDEATHSIG, &at_death, 0, 0, 0);
    struct itimerval timer;
    getitimer(ITIMER_REAL, &timer);
    printf("\ntimer, slack and signal of the parent's death: %d %d %d", timer.it_value.tv_sec > 0,
           prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0), at_death);
    char folder[4096], name[17] = "";
    mode_t mask = umask(0);
    printf("\nworking folder, mask of files and personality: %s %o %x", getcwd(folder, sizeof folder), mask,
           personality(0xffffffff));
    prctl(PR_GET_NAME, name, 0, 0, 0);
    printf("\nname: %s\n", name);
    return 0;
}
