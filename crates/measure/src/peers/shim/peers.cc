// oneTBB's and Abseil's mutexes and reader-writer locks.

#include "peers.h"
#include <absl/synchronization/mutex.h>
#include <oneapi/tbb/mutex.h>
#include <oneapi/tbb/rw_mutex.h>
#include <oneapi/tbb/spin_mutex.h>
#include <oneapi/tbb/spin_rw_mutex.h>

static_assert(sizeof(absl::Mutex) <= SHIM_BYTES, "the shim gives a lock one cache line");
static_assert(sizeof(tbb::mutex) <= SHIM_BYTES, "as above");
static_assert(sizeof(tbb::spin_mutex) <= SHIM_BYTES, "as above");
static_assert(sizeof(tbb::rw_mutex) <= SHIM_BYTES, "as above");
static_assert(sizeof(tbb::spin_rw_mutex) <= SHIM_BYTES, "as above");

extern "C" {
SHIM(tbb_spin, tbb::spin_mutex, lock->lock(), lock->try_lock(), lock->unlock())
SHIM(tbb_mutex, tbb::mutex, lock->lock(), lock->try_lock(), lock->unlock())
SHIM(tbb_rw, tbb::rw_mutex, lock->lock(), lock->try_lock(), lock->unlock())
SHIM_SHARED(tbb_rw, tbb::rw_mutex, lock->lock_shared(), lock->try_lock_shared(),
            lock->unlock_shared())
SHIM(tbb_spin_rw, tbb::spin_rw_mutex, lock->lock(), lock->try_lock(), lock->unlock())
SHIM_SHARED(tbb_spin_rw, tbb::spin_rw_mutex, lock->lock_shared(), lock->try_lock_shared(),
            lock->unlock_shared())
SHIM(absl, absl::Mutex, lock->Lock(), lock->TryLock(), lock->Unlock())
SHIM_SHARED(absl, absl::Mutex, lock->ReaderLock(), lock->ReaderTryLock(), lock->ReaderUnlock())
}
