/*
 * Tells the story of docs/findings.md, 5, with the condition variable of the C library. One thread is stopped in its
 * wait, right behind the instruction that takes a signal, by a breakpoint that the program puts there. Ends with 1 and a
 * line if an item stays while threads wait for one. The breakpoint is for glibc 2.36 of Debian 12 on x86-64; where there
 * are no such instructions no thread is stopped, and the program says so.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define BEAT_US 200000
#define SILENT_BEATS 50

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t is_there = PTHREAD_COND_INITIALIZER;
static int items, taken;
static _Thread_local bool is_late;
static volatile bool goes_on;

#if defined(__x86_64__)
/* lock cmpxchg %edx,(%r15) and a jne to anywhere: takes a signal. mov 0x8(%rbx),%rdx: loads the start of a group. */
static const uint8_t TAKES[] = { 0xf0, 0x41, 0x0f, 0xb1, 0x17, 0x0f, 0x85 };
static const uint8_t LOADS[] = { 0x48, 0x8b, 0x53, 0x08 };
static const uint8_t BREAKPOINT = 0xcc;
#define TARGET_BYTES 4
#define WAIT_BYTES 0x200

static uint8_t *stop_at;

static void stop(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    while (is_late && !goes_on)
        usleep(1000);
    is_late = false;
    /* What the breakpoint stands for. */
    registers[REG_RDX] = *(greg_t *)(registers[REG_RBX] + 8);
    registers[REG_RIP] = (greg_t)(stop_at + sizeof LOADS);
}

static bool set_breakpoint(void)
{
    uint8_t *takes = memmem((void *)pthread_cond_wait, WAIT_BYTES, TAKES, sizeof TAKES);
    if (takes == NULL || memcmp(takes + sizeof TAKES + TARGET_BYTES, LOADS, sizeof LOADS) != 0)
        return false;
    stop_at = takes + sizeof TAKES + TARGET_BYTES;
    struct sigaction action = { .sa_sigaction = stop, .sa_flags = SA_SIGINFO };
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    void *begin = (void *)((uintptr_t)stop_at / page * page);
    if (sigaction(SIGTRAP, &action, NULL) != 0 || mprotect(begin, page, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
        return false;
    *stop_at = BREAKPOINT;
    return true;
}
#else
static bool set_breakpoint(void)
{
    return false;
}
#endif

static void take(void)
{
    pthread_mutex_lock(&mutex);
    while (items == 0)
        pthread_cond_wait(&is_there, &mutex);
    items--;
    taken++;
    pthread_mutex_unlock(&mutex);
}

static void *take_late(void *unused)
{
    is_late = true;
    take();
    return unused;
}

static void *take_one(void *unused)
{
    take();
    return unused;
}

static void *take_three(void *unused)
{
    for (int at = 0; at < 3; at++)
        take();
    return unused;
}

static void start(void *(*body)(void *))
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, body, NULL) != 0)
        _exit(2);
    usleep(BEAT_US);
}

static void make(void)
{
    pthread_mutex_lock(&mutex);
    items++;
    pthread_mutex_unlock(&mutex);
    pthread_cond_signal(&is_there);
    usleep(BEAT_US);
}

static int left(void)
{
    pthread_mutex_lock(&mutex);
    int count = items;
    pthread_mutex_unlock(&mutex);
    return count;
}

int main(void)
{
    const char *where = set_breakpoint() ? "" : ", and no thread was stopped: this is not the code of glibc 2.36";
    start(take_late);
    make();
    start(take_three);
    make();
    start(take_one);
    make();
    goes_on = true;
    usleep(BEAT_US);
    make();
    for (int beat = 0; beat < SILENT_BEATS && left() > 0; beat++)
        usleep(BEAT_US);
    bool is_lost = left() > 0;
    printf("%d items taken, %s%s\n", taken, is_lost ? "one stays while threads wait: a wake-up was lost" : "none stays", where);
    fflush(stdout);
    _exit(is_lost);
}
