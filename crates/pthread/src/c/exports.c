/* What programs find: each function of glibc under every version that it has there. */
#include "glibc.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OURS_OR(ours, glibc) (lw_stands_aside() ? (glibc) : (ours))

/*
 * The versions that a function has in glibc; the last is the default one. `OF_A_B` has one of version A and the default
 * one of version B. On aarch64 everything that is older than 2.17 is of 2.17.
 */
#ifdef __x86_64__
#define OLDEST "2.2.5"
#else
#define OLDEST "2.17"
#endif
#define AS(name, as, version) __asm__(".symver " #as ", " #name version);
#define ALSO(name, alias_, as, version)                                                             \
    extern __typeof(lw_##name) lw_##alias_##_##name __attribute__((alias("lw_" #name)));            \
    AS(as, lw_##alias_##_##name, version)
#define OF_OLDEST(name) AS(name, lw_##name, "@@GLIBC_" OLDEST)
#define OF_OLDEST_34(name) ALSO(name, first, name, "@GLIBC_" OLDEST) AS(name, lw_##name, "@@GLIBC_2.34")
#define OF_28_34(name) ALSO(name, first, name, "@GLIBC_2.28") AS(name, lw_##name, "@@GLIBC_2.34")
#define OF_30_34(name) ALSO(name, first, name, "@GLIBC_2.30") AS(name, lw_##name, "@@GLIBC_2.34")

/* Mutexes. */

int lw_pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes)
{
    /* glibc writes the kind, as its own functions and debuggers know it, and zero everywhere else. */
    if (attributes != NULL || lw_stands_aside())
        return lw_glibc_mutex_init(mutex, attributes);
    memset(mutex, 0, sizeof *mutex);
    return 0;
}
OF_OLDEST(pthread_mutex_init)

int lw_pthread_mutex_destroy(pthread_mutex_t *mutex)
{
    return OURS_OR(lw_mutex_destroy(mutex), lw_glibc_mutex_destroy(mutex));
}
OF_OLDEST(pthread_mutex_destroy)

int lw_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    return OURS_OR(lw_mutex_lock_any(mutex), lw_glibc_mutex_lock(mutex));
}

int lw_pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    return OURS_OR(lw_mutex_trylock(mutex), lw_glibc_mutex_trylock(mutex));
}
OF_OLDEST_34(pthread_mutex_trylock)

int lw_pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *deadline)
{
    return OURS_OR(lw_mutex_timedlock(mutex, clock, deadline), lw_glibc_mutex_clocklock(mutex, clock, deadline));
}
OF_30_34(pthread_mutex_clocklock)

int lw_pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *deadline)
{
    return lw_pthread_mutex_clocklock(mutex, CLOCK_REALTIME, deadline);
}
OF_OLDEST_34(pthread_mutex_timedlock)

int lw_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    return OURS_OR(lw_mutex_unlock_any(mutex), lw_glibc_mutex_unlock(mutex));
}

/* Condition variables. Those of version 2.2.5 are something else. */

int lw_cond_init(pthread_cond_t *condvar, const pthread_condattr_t *attributes)
{
    return OURS_OR(lw_condvar_init(condvar, attributes), lw_glibc_cond_init(condvar, attributes));
}
int lw_cond_destroy(pthread_cond_t *condvar)
{
    return OURS_OR(lw_condvar_destroy(condvar), lw_glibc_cond_destroy(condvar));
}
int lw_cond_wait(pthread_cond_t *condvar, pthread_mutex_t *mutex)
{
    return OURS_OR(lw_condvar_wait(condvar, mutex, -1, NULL), lw_glibc_cond_wait(condvar, mutex));
}
int lw_cond_timedwait(pthread_cond_t *condvar, pthread_mutex_t *mutex, const struct timespec *deadline)
{
    return OURS_OR(lw_condvar_wait(condvar, mutex, -1, deadline), lw_glibc_cond_timedwait(condvar, mutex, deadline));
}
int lw_cond_signal(pthread_cond_t *condvar)
{
    return OURS_OR(lw_condvar_signal(condvar), lw_glibc_cond_signal(condvar));
}
int lw_cond_broadcast(pthread_cond_t *condvar)
{
    return OURS_OR(lw_condvar_broadcast(condvar), lw_glibc_cond_broadcast(condvar));
}

#ifdef __x86_64__
/* The names of a program that was linked with ThreadSanitizer's library have no version, so they find the oldest. */
#define CONDVAR(name, parameters, arguments)                                                        \
    __asm__(".symver lw_cond_" #name ", pthread_cond_" #name "@@GLIBC_2.3.2");                      \
    int lw_old_cond_##name parameters                                                               \
    {                                                                                               \
        if (__tsan_init == NULL)                                                                    \
            refuse_old_cond();                                                                      \
        return lw_glibc_cond_##name arguments;                                                      \
    }                                                                                               \
    __asm__(".symver lw_old_cond_" #name ", pthread_cond_" #name "@GLIBC_2.2.5");

/* These are pointers to memory that glibc allocates, and glibc would unlock a mutex of ours by itself. */
static __attribute__((noreturn, cold)) void refuse_old_cond(void)
{
    static const char said[] = "lockwright: this program was built with a C library of before 2003, whose condition "
                               "variables are not known here: run it without liblockwright-pthread.so\n";
    if (write(2, said, sizeof said - 1) < 0)
        _exit(127);
    abort();
}
#else
#define CONDVAR(name, parameters, arguments)                                                        \
    __asm__(".symver lw_cond_" #name ", pthread_cond_" #name "@@GLIBC_2.17");
#endif
CONDVAR(init, (pthread_cond_t *c, const pthread_condattr_t *a), (c, a))
CONDVAR(destroy, (pthread_cond_t *c), (c))
CONDVAR(wait, (pthread_cond_t *c, pthread_mutex_t *m), (c, m))
CONDVAR(timedwait, (pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *t), (c, m, t))
CONDVAR(signal, (pthread_cond_t *c), (c))
CONDVAR(broadcast, (pthread_cond_t *c), (c))

int lw_pthread_cond_clockwait(pthread_cond_t *condvar, pthread_mutex_t *mutex, clockid_t clock,
                           const struct timespec *deadline)
{
    if (lw_stands_aside())
        return lw_glibc_cond_clockwait(condvar, mutex, clock, deadline);
    return clock < 0 ? EINVAL : lw_condvar_wait(condvar, mutex, clock, deadline);
}
OF_30_34(pthread_cond_clockwait)

/* Reader-writer locks. */

int lw_pthread_rwlock_init(pthread_rwlock_t *lock, const pthread_rwlockattr_t *attributes)
{
    if (attributes != NULL || lw_stands_aside())
        return lw_glibc_rwlock_init(lock, attributes);
    memset(lock, 0, sizeof *lock);
    return 0;
}
OF_OLDEST_34(pthread_rwlock_init)

int lw_pthread_rwlock_destroy(pthread_rwlock_t *lock)
{
    return lw_glibc_rwlock_destroy(lock);
}
OF_OLDEST_34(pthread_rwlock_destroy)

int lw_pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
    return OURS_OR(lw_rwlock_rdlock(lock), lw_glibc_rwlock_rdlock(lock));
}
OF_OLDEST_34(pthread_rwlock_rdlock)

int lw_pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
    return OURS_OR(lw_rwlock_wrlock(lock), lw_glibc_rwlock_wrlock(lock));
}
OF_OLDEST_34(pthread_rwlock_wrlock)

int lw_pthread_rwlock_tryrdlock(pthread_rwlock_t *lock)
{
    return OURS_OR(lw_rwlock_tryrdlock(lock), lw_glibc_rwlock_tryrdlock(lock));
}
OF_OLDEST_34(pthread_rwlock_tryrdlock)

int lw_pthread_rwlock_trywrlock(pthread_rwlock_t *lock)
{
    return OURS_OR(lw_rwlock_trywrlock(lock), lw_glibc_rwlock_trywrlock(lock));
}
OF_OLDEST_34(pthread_rwlock_trywrlock)

int lw_pthread_rwlock_clockrdlock(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *deadline)
{
    return OURS_OR(lw_rwlock_timedrdlock(lock, clock, deadline), lw_glibc_rwlock_clockrdlock(lock, clock, deadline));
}
OF_30_34(pthread_rwlock_clockrdlock)

int lw_pthread_rwlock_clockwrlock(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *deadline)
{
    return OURS_OR(lw_rwlock_timedwrlock(lock, clock, deadline), lw_glibc_rwlock_clockwrlock(lock, clock, deadline));
}
OF_30_34(pthread_rwlock_clockwrlock)

int lw_pthread_rwlock_timedrdlock(pthread_rwlock_t *lock, const struct timespec *deadline)
{
    return lw_pthread_rwlock_clockrdlock(lock, CLOCK_REALTIME, deadline);
}
OF_OLDEST_34(pthread_rwlock_timedrdlock)

int lw_pthread_rwlock_timedwrlock(pthread_rwlock_t *lock, const struct timespec *deadline)
{
    return lw_pthread_rwlock_clockwrlock(lock, CLOCK_REALTIME, deadline);
}
OF_OLDEST_34(pthread_rwlock_timedwrlock)

int lw_pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
    return OURS_OR(lw_rwlock_unlock(lock), lw_glibc_rwlock_unlock(lock));
}
OF_OLDEST_34(pthread_rwlock_unlock)

/* Old names, for binaries of before 2.34 and for sanitizers. */

#define OLD_NAME(name) ALSO(name, old, __##name, "@@GLIBC_" OLDEST)
OLD_NAME(pthread_mutex_init)
OLD_NAME(pthread_mutex_destroy)
OLD_NAME(pthread_mutex_lock)
OLD_NAME(pthread_mutex_trylock)
OLD_NAME(pthread_mutex_unlock)
OLD_NAME(pthread_rwlock_init)
OLD_NAME(pthread_rwlock_destroy)
OLD_NAME(pthread_rwlock_rdlock)
OLD_NAME(pthread_rwlock_wrlock)
OLD_NAME(pthread_rwlock_tryrdlock)
OLD_NAME(pthread_rwlock_trywrlock)
OLD_NAME(pthread_rwlock_unlock)

/* The locks of C11, which are those of pthread. Only the initialisers of glibc say what kind they are. */

static int result_of_c11(int error)
{
    switch (error) {
    case 0:
        return thrd_success;
    case ENOMEM:
        return thrd_nomem;
    case ETIMEDOUT:
        return thrd_timedout;
    case EBUSY:
        return thrd_busy;
    default:
        return thrd_error;
    }
}

#define OF_MUTEX(mutex) ((pthread_mutex_t *)(mutex))
#define OF_CONDVAR(condvar) ((pthread_cond_t *)(condvar))

int lw_mtx_init(mtx_t *mutex, int type)
{
    pthread_mutexattr_t attributes;
    /* glibc does not look at the other bits of the type, and neither does it say that one is wrong. */
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, type & mtx_recursive ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_NORMAL);
    int error = lw_pthread_mutex_init(OF_MUTEX(mutex), &attributes);
    pthread_mutexattr_destroy(&attributes);
    return result_of_c11(error);
}
OF_28_34(mtx_init)

void lw_mtx_destroy(mtx_t *mutex)
{
    lw_pthread_mutex_destroy(OF_MUTEX(mutex));
}
OF_28_34(mtx_destroy)

int lw_mtx_lock(mtx_t *mutex)
{
    return result_of_c11(lw_pthread_mutex_lock(OF_MUTEX(mutex)));
}
OF_28_34(mtx_lock)

int lw_mtx_trylock(mtx_t *mutex)
{
    return result_of_c11(lw_pthread_mutex_trylock(OF_MUTEX(mutex)));
}
OF_28_34(mtx_trylock)

int lw_mtx_timedlock(mtx_t *restrict mutex, const struct timespec *restrict deadline)
{
    return result_of_c11(lw_pthread_mutex_timedlock(OF_MUTEX(mutex), deadline));
}
OF_28_34(mtx_timedlock)

int lw_mtx_unlock(mtx_t *mutex)
{
    return result_of_c11(lw_pthread_mutex_unlock(OF_MUTEX(mutex)));
}
OF_28_34(mtx_unlock)

int lw_cnd_init(cnd_t *condvar)
{
    return result_of_c11(lw_cond_init(OF_CONDVAR(condvar), NULL));
}
OF_28_34(cnd_init)

void lw_cnd_destroy(cnd_t *condvar)
{
    lw_cond_destroy(OF_CONDVAR(condvar));
}
OF_28_34(cnd_destroy)

int lw_cnd_wait(cnd_t *condvar, mtx_t *mutex)
{
    return result_of_c11(lw_cond_wait(OF_CONDVAR(condvar), OF_MUTEX(mutex)));
}
OF_28_34(cnd_wait)

int lw_cnd_timedwait(cnd_t *restrict condvar, mtx_t *restrict mutex, const struct timespec *restrict deadline)
{
    return result_of_c11(lw_cond_timedwait(OF_CONDVAR(condvar), OF_MUTEX(mutex), deadline));
}
OF_28_34(cnd_timedwait)

int lw_cnd_signal(cnd_t *condvar)
{
    return result_of_c11(lw_cond_signal(OF_CONDVAR(condvar)));
}
OF_28_34(cnd_signal)

int lw_cnd_broadcast(cnd_t *condvar)
{
    return result_of_c11(lw_cond_broadcast(OF_CONDVAR(condvar)));
}
OF_28_34(cnd_broadcast)
