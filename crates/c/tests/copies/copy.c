#include "copy.h"

extern const char lockwright_4_buckets[];

static void take(enum kind kind, union object *object)
{
    switch (kind) {
    case MUTEX: lw_mutex_lock(&object->mutex); break;
    case RWLOCK: lw_rwlock_lock(&object->rwlock); break;
    case RWLOCK_SHARED: lw_rwlock_lock_shared(&object->rwlock); break;
    case PERCPU: lw_percpu_rwlock_lock(&object->percpu); break;
    case PERCPU_SHARED: lw_percpu_rwlock_lock_shared(&object->percpu); break;
    case RWSEM: lw_rwsem_lock(&object->rwsem); break;
    case RWSEM_SHARED: lw_rwsem_lock_shared(&object->rwsem); break;
    case SPINLOCK: lw_spinlock_lock(&object->spinlock); break;
    case CNA: lw_cna_spinlock_lock(&object->cna); break;
    case SEMAPHORE: lw_semaphore_acquire(&object->semaphore, 1); break;
    case KINDS: break;
    }
}

static void release(enum kind kind, union object *object)
{
    switch (kind) {
    case MUTEX: lw_mutex_unlock(&object->mutex); break;
    case RWLOCK: lw_rwlock_unlock(&object->rwlock); break;
    case RWLOCK_SHARED: lw_rwlock_unlock_shared(&object->rwlock); break;
    case PERCPU: lw_percpu_rwlock_unlock(&object->percpu); break;
    case PERCPU_SHARED: lw_percpu_rwlock_unlock_shared(&object->percpu); break;
    case RWSEM: lw_rwsem_unlock(&object->rwsem); break;
    case RWSEM_SHARED: lw_rwsem_unlock_shared(&object->rwsem); break;
    case SPINLOCK: lw_spinlock_unlock(&object->spinlock); break;
    case CNA: lw_cna_spinlock_unlock(&object->cna); break;
    case SEMAPHORE: (void)lw_semaphore_release(&object->semaphore, 1); break;
    case KINDS: break;
    }
}

const struct copy *get_copy(void)
{
    static struct copy copy;
    copy.take = take;
    copy.release = release;
    copy.wait = lw_cond_wait;
    copy.signal = lw_cond_signal;
    copy.broadcast = lw_cond_broadcast;
    copy.code = lw_mutex_lock;
    copy.table = lockwright_4_buckets;
    return &copy;
}
