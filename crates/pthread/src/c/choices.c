/* What `lockwright run` asks for in the environment, and what it is told at the end. */
#include "glibc.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool lw_choose(bool is_fair, bool is_cna, bool counts);
uint64_t lw_count_of(int kind);

static const char *policy = "default";
static bool is_verbose;
/* A forked child that ends is no end of the program. */
static pid_t process;

static void say(const char *text)
{
    if (write(2, text, strlen(text)) < 0)
        return;
}

void lw_read_choices(void)
{
    /* Nothing for a program with other rights than its user's. */
    const char *wanted = secure_getenv("LOCKWRIGHT_POLICY");
    const char *verbose = secure_getenv("LOCKWRIGHT_VERBOSE");
    bool is_fair = wanted != NULL && strcmp(wanted, "fair") == 0;
    bool is_cna = wanted != NULL && strcmp(wanted, "cna") == 0;
    is_verbose = verbose != NULL && strcmp(verbose, "1") == 0;
    process = getpid();
    if (wanted != NULL && !is_fair && !is_cna && strcmp(wanted, "default") != 0)
        say("lockwright: LOCKWRIGHT_POLICY is default, fair or cna; it is default now\n");
    if (!is_fair && !is_cna && !is_verbose)
        return;
    if (!lw_choose(is_fair, is_cna, is_verbose))
        say("lockwright: threads have waited for mutexes before the library was ready, so the policy is default\n");
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
    if (!is_verbose || getpid() != process)
        return;
    snprintf(line, sizeof line,
             "lockwright: process %d, policy %s; in the place of glibc's: pthread_mutex_*, pthread_cond_*,\n"
             "lockwright: pthread_rwlock_*, mtx_*, cnd_*; used:\n", (int)process, policy);
    say(line);
    for (int kind = 0; kind < (int)(sizeof kinds / sizeof *kinds); kind++) {
        snprintf(line, sizeof line, "lockwright: %10llu %s\n", (unsigned long long)lw_count_of(kind), kinds[kind]);
        say(line);
    }
}
