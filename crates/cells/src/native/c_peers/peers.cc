// oneTBB's and Abseil's mutexes.

#include "peers.h"
#include <absl/synchronization/mutex.h>
#include <oneapi/tbb/mutex.h>
#include <oneapi/tbb/spin_mutex.h>

static_assert(sizeof(absl::Mutex) <= SHIM_BYTES, "the shim gives a lock one cache line");
static_assert(sizeof(tbb::mutex) <= SHIM_BYTES, "as above");
static_assert(sizeof(tbb::spin_mutex) <= SHIM_BYTES, "as above");

extern "C" {
SHIM(tbb_spin, tbb::spin_mutex, lock->lock(), lock->try_lock(), lock->unlock())
SHIM(tbb_mutex, tbb::mutex, lock->lock(), lock->try_lock(), lock->unlock())
SHIM(absl, absl::Mutex, lock->Lock(), lock->TryLock(), lock->Unlock())
}
