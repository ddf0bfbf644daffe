/* The functions of glibc behind ours, under names of their own, and the Rust functions that the C sources call. */
#ifndef LOCKWRIGHT_PTHREAD_GLIBC_H
#define LOCKWRIGHT_PTHREAD_GLIBC_H

#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <threads.h>
#include <time.h>

/*
 * All functions are glibc's in a program with ThreadSanitizer and under valgrind: their own versions of these functions
 * have to meet those of glibc. Decided at the first call, because objects of the two kinds may not be mixed.
 */
enum lw_standing { LW_UNDECIDED, LW_OURS, LW_ASIDE };
extern enum lw_standing lw_standing;
enum lw_standing lw_decide_standing(void);

/* There if the program has ThreadSanitizer. */
extern void __tsan_init(void) __attribute__((weak));

static inline bool lw_stands_aside(void)
{
    enum lw_standing standing = __atomic_load_n(&lw_standing, __ATOMIC_RELAXED);
    if (__builtin_expect(standing == LW_UNDECIDED, 0))
        standing = lw_decide_standing();
    return __builtin_expect(standing == LW_ASIDE, 0);
}

/* Name, version in which glibc for x86-64 introduced it, parameters, arguments. */
#define LW_FUNCTIONS(DO)                                                                              \
    DO(mutex_init, "2.2.5", (pthread_mutex_t *m, const pthread_mutexattr_t *a), (m, a))               \
    DO(mutex_destroy, "2.2.5", (pthread_mutex_t *m), (m))                                             \
    DO(mutex_lock, "2.2.5", (pthread_mutex_t *m), (m))                                                \
    DO(mutex_trylock, "2.2.5", (pthread_mutex_t *m), (m))                                             \
    DO(mutex_clocklock, "2.30",                                                                       \
       (pthread_mutex_t *m, clockid_t c, const struct timespec *t), (m, c, t))                        \
    DO(mutex_unlock, "2.2.5", (pthread_mutex_t *m), (m))                                              \
    DO(cond_init, "2.3.2", (pthread_cond_t *c, const pthread_condattr_t *a), (c, a))                  \
    DO(cond_destroy, "2.3.2", (pthread_cond_t *c), (c))                                               \
    DO(cond_wait, "2.3.2", (pthread_cond_t *c, pthread_mutex_t *m), (c, m))                           \
    DO(cond_clockwait, "2.30",                                                                        \
       (pthread_cond_t *c, pthread_mutex_t *m, clockid_t i, const struct timespec *t), (c, m, i, t))  \
    DO(cond_timedwait, "2.3.2",                                                                       \
       (pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *t), (c, m, t))                  \
    DO(cond_signal, "2.3.2", (pthread_cond_t *c), (c))                                                \
    DO(cond_broadcast, "2.3.2", (pthread_cond_t *c), (c))                                             \
    DO(rwlock_init, "2.2.5", (pthread_rwlock_t *l, const pthread_rwlockattr_t *a), (l, a))            \
    DO(rwlock_destroy, "2.2.5", (pthread_rwlock_t *l), (l))                                           \
    DO(rwlock_rdlock, "2.2.5", (pthread_rwlock_t *l), (l))                                            \
    DO(rwlock_wrlock, "2.2.5", (pthread_rwlock_t *l), (l))                                            \
    DO(rwlock_tryrdlock, "2.2.5", (pthread_rwlock_t *l), (l))                                         \
    DO(rwlock_trywrlock, "2.2.5", (pthread_rwlock_t *l), (l))                                         \
    DO(rwlock_clockrdlock, "2.30",                                                                    \
       (pthread_rwlock_t *l, clockid_t c, const struct timespec *t), (l, c, t))                       \
    DO(rwlock_clockwrlock, "2.30",                                                                    \
       (pthread_rwlock_t *l, clockid_t c, const struct timespec *t), (l, c, t))                       \
    DO(rwlock_unlock, "2.2.5", (pthread_rwlock_t *l), (l))

#define LW_DECLARE(name, version, parameters, arguments) int lw_glibc_##name parameters;
LW_FUNCTIONS(LW_DECLARE)
#undef LW_DECLARE

/* Where the mark is in a condition variable of glibc that is shared between processes, and which bits it is. */
extern unsigned lw_shared_at;
extern uint32_t lw_shared_bits;

/* In Rust. */
void lw_set_tid_offset(intptr_t offset);
void lw_count_condvar(const uint32_t *seen);
int lw_mutex_destroy(pthread_mutex_t *mutex);
int lw_mutex_lock(pthread_mutex_t *mutex);
int lw_mutex_lock_any(pthread_mutex_t *mutex);
int lw_mutex_trylock(pthread_mutex_t *mutex);
int lw_mutex_timedlock(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *deadline);
int lw_mutex_unlock(pthread_mutex_t *mutex);
int lw_mutex_unlock_any(pthread_mutex_t *mutex);
int lw_rwlock_rdlock(pthread_rwlock_t *lock);
int lw_rwlock_wrlock(pthread_rwlock_t *lock);
int lw_rwlock_tryrdlock(pthread_rwlock_t *lock);
int lw_rwlock_trywrlock(pthread_rwlock_t *lock);
int lw_rwlock_timedrdlock(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *deadline);
int lw_rwlock_timedwrlock(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *deadline);
int lw_rwlock_unlock(pthread_rwlock_t *lock);

void lw_prepare(bool makes_threads);

/* In choices.c. */
void lw_read_choices(void);
void lw_choices_are_made(void);

/* In condvar.c. A clock of -1 is that of the condition variable. */
int lw_condvar_init(pthread_cond_t *condvar, const pthread_condattr_t *attributes);
int lw_condvar_destroy(pthread_cond_t *condvar);
int lw_condvar_wait(pthread_cond_t *condvar, pthread_mutex_t *mutex, clockid_t clock,
                    const struct timespec *deadline);
void lw_follow_forks(void);
int lw_condvar_signal(pthread_cond_t *condvar);
int lw_condvar_broadcast(pthread_cond_t *condvar);

#endif
