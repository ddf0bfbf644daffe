/*
 * What a start costs. Each way prints a number.
 *
 * calls [PROGRAM ARGUMENTS]: how many system calls that program makes, from its execve to its end, or this file as one
 * that does nothing; -1 if it cannot be traced.
 * size: the size of this process's address space, in KiB.
 * lock: 1 if all memory can be locked with the kernel's usual limit for a user, 8 MiB; -1 if this user has no right to it.
 */
#define _GNU_SOURCE
#include "check.h"
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static long calls(char **program)
{
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
            _exit(77);
        execv(program[0], program);
        _exit(78);
    }
    int status;
    long stops = 0;
    CHECK(waitpid(child, &status, 0) == child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        return -1;
    CHECK(WIFSTOPPED(status) && ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_TRACESYSGOOD) == 0);
    while (!WIFEXITED(status)) {
        stops += WSTOPSIG(status) == (SIGTRAP | 0x80);
        CHECK(ptrace(PTRACE_SYSCALL, child, NULL, NULL) == 0 && waitpid(child, &status, 0) == child);
        CHECK(!WIFSIGNALED(status));
    }
    CHECK(WEXITSTATUS(status) == 0);
    /* Each stops when it is called and when it returns. The first has returned, and the last does not. */
    return (stops + 3) / 2;
}

static long size(void)
{
    long kib = 0;
    char line[256];
    FILE *file = fopen("/proc/self/status", "r");
    CHECK(file != NULL);
    while (fgets(line, sizeof line, file) != NULL && sscanf(line, "VmSize: %ld", &kib) != 1)
        continue;
    return kib;
}

static long lock(void)
{
    struct rlimit usual = {8 << 20, 8 << 20};
    if (setrlimit(RLIMIT_MEMLOCK, &usual) != 0)
        return -1;
    /* Root has no limit. */
    CHECK(geteuid() != 0 || setuid(65534) == 0);
    return mlockall(MCL_CURRENT | MCL_FUTURE) == 0;
}

int main(int count, char **arguments)
{
    CHECK(count >= 2);
    const char *way = arguments[1];
    char *nothing[] = {arguments[0], "nothing", NULL};
    if (strcmp(way, "nothing") == 0)
        return 0;
    if (strcmp(way, "calls") == 0)
        printf("%ld\n", calls(count > 2 ? arguments + 2 : nothing));
    else
        printf("%ld\n", strcmp(way, "size") == 0 ? size() : lock());
    return 0;
}
