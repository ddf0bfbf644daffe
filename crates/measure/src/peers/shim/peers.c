/* Concurrency Kit's spinlocks and nsync's mutex, which readers share. */

#include "peers.h"
#include <ck_spinlock.h>
#include <nsync.h>
#include <stddef.h>
#include <stdlib.h>

/* An MCS lock wants a node for each acquisition, which its owner keeps: a thread has some, and a node that
 * is taken names its lock. */
#define NODES 32

struct node {
    ck_spinlock_mcs_context_t context;
    ck_spinlock_mcs_t *lock;
} __attribute__((aligned(64)));

static __thread struct node nodes[NODES];

static inline struct node *node_of(ck_spinlock_mcs_t *lock)
{
    for (size_t i = 0; i < NODES; i++)
        if (nodes[i].lock == lock)
            return &nodes[i];
    abort();
}

static inline void mcs_lock(ck_spinlock_mcs_t *lock)
{
    struct node *node = node_of(NULL);

    node->lock = lock;
    ck_spinlock_mcs_lock(lock, &node->context);
}

static inline bool mcs_try_lock(ck_spinlock_mcs_t *lock)
{
    struct node *node = node_of(NULL);

    if (!ck_spinlock_mcs_trylock(lock, &node->context))
        return false;
    node->lock = lock;
    return true;
}

static inline void mcs_unlock(ck_spinlock_mcs_t *lock)
{
    struct node *node = node_of(lock);

    ck_spinlock_mcs_unlock(lock, &node->context);
    node->lock = NULL;
}

_Static_assert(sizeof(ck_spinlock_mcs_t) <= SHIM_BYTES, "the shim gives a lock one cache line");
_Static_assert(sizeof(ck_spinlock_fas_t) <= SHIM_BYTES, "as above");
_Static_assert(sizeof(ck_spinlock_ticket_t) <= SHIM_BYTES, "as above");
_Static_assert(sizeof(nsync_mu) <= SHIM_BYTES, "as above");

SHIM(ck_fas, ck_spinlock_fas_t, ck_spinlock_fas_lock(lock), ck_spinlock_fas_trylock(lock),
     ck_spinlock_fas_unlock(lock))
SHIM(ck_ticket, ck_spinlock_ticket_t, ck_spinlock_ticket_lock(lock),
     ck_spinlock_ticket_trylock(lock), ck_spinlock_ticket_unlock(lock))
SHIM(ck_mcs, ck_spinlock_mcs_t, mcs_lock(lock), mcs_try_lock(lock), mcs_unlock(lock))
SHIM(nsync, nsync_mu, nsync_mu_lock(lock), nsync_mu_trylock(lock), nsync_mu_unlock(lock))
SHIM_SHARED(nsync, nsync_mu, nsync_mu_rlock(lock), nsync_mu_rtrylock(lock), nsync_mu_runlock(lock))
