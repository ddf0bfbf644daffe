/* What `lockwright run` asks for in the environment, and what it is told at the end. */
#include "glibc.h"
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool lw_choose(bool is_fair, bool is_cna, bool counts);
uint64_t lw_count_of(int kind);

static const char *policy = "default";
static bool is_verbose;

/*
 * The program may close standard error before the end, or open a file with its number. So it has another number, too,
 * and nothing is written to another file.
 */
static int descriptor = 2;
static struct stat standard_error;

/* The process that was started, its session, and the last one that has forked. */
static pid_t process, session, parent;

/* Where nobody reads, a message would end the process by a signal. */
static void say(int to, const char *text)
{
    struct pollfd of = {.fd = to};
    if (poll(&of, 1, 0) != 0 || write(to, text, strlen(text)) < 0)
        return;
}

static bool is_standard_error(int number)
{
    struct stat of;
    return fstat(number, &of) == 0 && of.st_dev == standard_error.st_dev && of.st_ino == standard_error.st_ino;
}

static void note_parent(void)
{
    parent = getpid();
}

static void prepare_report(void)
{
    enum { ABOVE_THOSE_OF_PROGRAMS = 100 };
    if (fstat(2, &standard_error) != 0) {
        is_verbose = false;
        return;
    }
    int copy = fcntl(2, F_DUPFD_CLOEXEC, ABOVE_THOSE_OF_PROGRAMS);
    if (copy >= 0)
        descriptor = copy;
    process = getpid();
    session = getsid(0);
    pthread_atfork(note_parent, NULL, NULL);
}

/* A forked child that ends is no end of the program, unless it is a daemon: in a new session, and nobody's worker. */
static bool is_end_of_program(void)
{
    if (getpid() == process)
        return true;
    pid_t now = getsid(0);
    return now != session && (now == getpid() || getppid() != parent);
}

void lw_read_choices(void)
{
    /* Nothing for a program with other rights than its user's. */
    const char *wanted = secure_getenv("LOCKWRIGHT_POLICY");
    const char *verbose = secure_getenv("LOCKWRIGHT_VERBOSE");
    bool is_fair = wanted != NULL && strcmp(wanted, "fair") == 0;
    bool is_cna = wanted != NULL && strcmp(wanted, "cna") == 0;
    is_verbose = verbose != NULL && strcmp(verbose, "1") == 0;
    if (is_verbose)
        prepare_report();
    if (wanted != NULL && !is_fair && !is_cna && strcmp(wanted, "default") != 0)
        say(2, "lockwright: LOCKWRIGHT_POLICY is default, fair or cna; it is default now\n");
    if (verbose != NULL && strcmp(verbose, "0") != 0 && strcmp(verbose, "1") != 0)
        say(2, "lockwright: LOCKWRIGHT_VERBOSE is 0 or 1; it is 0 now\n");
    if (!is_fair && !is_cna && !is_verbose)
        return;
    if (!lw_choose(is_fair, is_cna, is_verbose))
        say(2, "lockwright: threads have waited for mutexes before the library was ready, so the policy is default\n");
    else if (is_fair || is_cna)
        policy = is_fair ? "fair" : "cna";
}

static __attribute__((destructor)) void report(void)
{
    static const char *const kinds[] = {
        "normal mutexes",      "recursive mutexes",    "error-checking mutexes",
        "adaptive mutexes",    "condition variables",  "reader-writer locks",
        "calls for objects that are left to glibc",
    };
    char line[160];
    if (!is_verbose || !is_end_of_program())
        return;
    if (!is_standard_error(descriptor))
        descriptor = 2;
    if (!is_standard_error(descriptor))
        return;
    snprintf(line, sizeof line,
             "lockwright: process %d, policy %s; in the place of glibc's: pthread_mutex_*, pthread_cond_*,\n"
             "lockwright: pthread_rwlock_*, mtx_*, cnd_*; used:\n", (int)getpid(), policy);
    say(descriptor, line);
    for (int kind = 0; kind < (int)(sizeof kinds / sizeof *kinds); kind++) {
        snprintf(line, sizeof line, "lockwright: %10llu %s\n", (unsigned long long)lw_count_of(kind), kinds[kind]);
        say(descriptor, line);
    }
}
