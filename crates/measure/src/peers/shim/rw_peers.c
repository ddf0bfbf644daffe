/* Concurrency Kit's reader-writer locks. Two of them have no call that tries; those here are made of the
 * same steps, and no measured loop uses them. */

#include "peers.h"
#include <ck_bytelock.h>
#include <ck_pflock.h>
#include <ck_rwlock.h>
#include <pthread.h>
#include <stdint.h>

/* Phase-fair: writers have tickets, and readers and writers take turns. */

static inline bool pflock_try_lock(ck_pflock_t *lock)
{
    uint32_t ticket = ck_pr_load_32(&lock->wout);
    uint32_t readers;

    /* The ticket that is served next, if no thread has it. */
    if (!ck_pr_cas_32(&lock->win, ticket, ticket + 1))
        return false;
    readers = ck_pr_faa_32(&lock->rin, (ticket & CK_PFLOCK_PHID) | CK_PFLOCK_PRES);
    if (ck_pr_load_32(&lock->rout) != readers) {
        ck_pflock_write_unlock(lock);
        return false;
    }
    ck_pr_fence_lock();
    return true;
}

static inline bool pflock_try_lock_shared(ck_pflock_t *lock)
{
    uint32_t readers;

    do {
        readers = ck_pr_load_32(&lock->rin);
        if (readers & CK_PFLOCK_WBITS)
            return false;
    } while (!ck_pr_cas_32(&lock->rin, readers, readers + CK_PFLOCK_RINC));
    ck_pr_fence_lock();
    return true;
}

/* A byte lock knows its threads by number. The first have a byte each, in the lock's cache line; others share
 * a counter. A thread gets the lowest number that is free when it first takes such a lock, and gives it back
 * when it ends: threads that come and go have bytes as long as there are no more of them at once than bytes.
 * A thread that comes when there are more also has a number of its own: by it the lock knows the owner that reads on. */

#define SLOTS (sizeof(((ck_bytelock_t *)0)->readers))

_Static_assert(SLOTS < 64, "a bit each");

static __thread unsigned own_slot;
/* Bit n: number n + 1 is taken. */
static uint64_t slots_taken;
static unsigned last_number = SLOTS;
static pthread_key_t slot_key;
static pthread_once_t slot_key_once = PTHREAD_ONCE_INIT;

static void give_slot_back(void *slot)
{
    __atomic_fetch_and(&slots_taken, ~(UINT64_C(1) << ((uintptr_t)slot - 1)), __ATOMIC_RELEASE);
}

static void make_slot_key(void)
{
    pthread_key_create(&slot_key, give_slot_back);
}

static __attribute__((noinline, cold)) unsigned take_slot(void)
{
    uint64_t taken = __atomic_load_n(&slots_taken, __ATOMIC_RELAXED);
    unsigned slot;

    pthread_once(&slot_key_once, make_slot_key);
    do {
        slot = (unsigned)__builtin_ctzll(~taken) + 1;
        if (slot > SLOTS)
            return own_slot = __atomic_add_fetch(&last_number, 1, __ATOMIC_RELAXED);
    } while (!__atomic_compare_exchange_n(&slots_taken, &taken, taken | UINT64_C(1) << (slot - 1),
                                          false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED));
    pthread_setspecific(slot_key, (void *)(uintptr_t)slot);
    return own_slot = slot;
}

static inline unsigned slot_of_this_thread(void)
{
    return own_slot ? own_slot : take_slot();
}

/* The number of this thread, for tests. */
unsigned lockwright_ck_bytelock_slot(void)
{
    return slot_of_this_thread();
}

static inline bool bytelock_has_readers(ck_bytelock_t *lock)
{
    uint64_t *bytes = (uint64_t *)(void *)lock->readers;

    for (size_t i = 0; i < SLOTS / sizeof(*bytes); i++)
        if (ck_pr_load_64(&bytes[i]) != 0)
            return true;
    return ck_pr_load_uint(&lock->n_readers) != 0;
}

static inline bool bytelock_try_lock(ck_bytelock_t *lock)
{
    if (!ck_pr_cas_uint(&lock->owner, 0, slot_of_this_thread()))
        return false;
    ck_pr_fence_atomic_load();
    if (bytelock_has_readers(lock)) {
        ck_bytelock_write_unlock(lock);
        return false;
    }
    ck_pr_fence_lock();
    return true;
}

static inline bool bytelock_try_lock_shared(ck_bytelock_t *lock)
{
    unsigned slot = slot_of_this_thread();

    if (ck_pr_load_uint(&lock->owner) != 0)
        return false;
    if (slot > SLOTS)
        ck_pr_inc_uint(&lock->n_readers);
    else
        ck_pr_fas_8(&lock->readers[slot - 1], true);
    ck_pr_fence_atomic_load();
    if (ck_pr_load_uint(&lock->owner) != 0) {
        ck_bytelock_read_unlock(lock, slot);
        return false;
    }
    ck_pr_fence_lock();
    return true;
}

/* An owner with a byte that reads becomes a reader. One without would write to a byte that is not there. */
static inline void bytelock_downgrade(ck_bytelock_t *lock)
{
    unsigned slot = slot_of_this_thread();

    if (slot <= SLOTS) {
        ck_bytelock_read_lock(lock, slot);
        return;
    }
    ck_pr_inc_uint(&lock->n_readers);
    ck_bytelock_write_unlock(lock);
}

_Static_assert(sizeof(ck_rwlock_t) <= SHIM_BYTES, "the shim gives a lock one cache line");
_Static_assert(sizeof(ck_pflock_t) <= SHIM_BYTES, "as above");
_Static_assert(sizeof(ck_bytelock_t) <= SHIM_BYTES, "as above");

SHIM(ck_rwlock, ck_rwlock_t, ck_rwlock_write_lock(lock), ck_rwlock_write_trylock(lock),
     ck_rwlock_write_unlock(lock))
SHIM_SHARED(ck_rwlock, ck_rwlock_t, ck_rwlock_read_lock(lock), ck_rwlock_read_trylock(lock),
            ck_rwlock_read_unlock(lock))
SHIM_DOWNGRADE(ck_rwlock, ck_rwlock_t, ck_rwlock_write_downgrade(lock))
SHIM(ck_pflock, ck_pflock_t, ck_pflock_write_lock(lock), pflock_try_lock(lock),
     ck_pflock_write_unlock(lock))
SHIM_SHARED(ck_pflock, ck_pflock_t, ck_pflock_read_lock(lock), pflock_try_lock_shared(lock),
            ck_pflock_read_unlock(lock))
SHIM(ck_bytelock, ck_bytelock_t, ck_bytelock_write_lock(lock, slot_of_this_thread()),
     bytelock_try_lock(lock), ck_bytelock_write_unlock(lock))
SHIM_SHARED(ck_bytelock, ck_bytelock_t, ck_bytelock_read_lock(lock, slot_of_this_thread()),
            bytelock_try_lock_shared(lock), ck_bytelock_read_unlock(lock, slot_of_this_thread()))
SHIM_DOWNGRADE(ck_bytelock, ck_bytelock_t, bytelock_downgrade(lock))
