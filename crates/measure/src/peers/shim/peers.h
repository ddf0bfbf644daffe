/* The three calls of every peer. All-zero memory of SHIM_BYTES, aligned to a cache line, is an
 * unlocked lock of each kind. */

#include <stdbool.h>

#define SHIM_BYTES 64

#define SHIM(name, type, LOCK, TRY, UNLOCK)                                       \
    void lockwright_##name##_lock(void *at) { type *lock = (type *)at; LOCK; }     \
    bool lockwright_##name##_try_lock(void *at) { type *lock = (type *)at; return TRY; } \
    void lockwright_##name##_unlock(void *at) { type *lock = (type *)at; UNLOCK; }

/* Three more of a peer that readers share. */
#define SHIM_SHARED(name, type, LOCK, TRY, UNLOCK)                                        \
    void lockwright_##name##_lock_shared(void *at) { type *lock = (type *)at; LOCK; }      \
    bool lockwright_##name##_try_lock_shared(void *at) { type *lock = (type *)at; return TRY; } \
    void lockwright_##name##_unlock_shared(void *at) { type *lock = (type *)at; UNLOCK; }

/* And one of a peer that can make an owner a reader. */
#define SHIM_DOWNGRADE(name, type, DOWNGRADE)                                             \
    void lockwright_##name##_downgrade(void *at) { type *lock = (type *)at; DOWNGRADE; }
