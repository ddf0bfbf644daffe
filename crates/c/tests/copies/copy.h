/* What a library with a copy of the locks does for the program: calls its copy. */
#include <lockwright.h>

enum kind { MUTEX, RWLOCK, RWLOCK_SHARED, PERCPU, PERCPU_SHARED, RWSEM, RWSEM_SHARED, SPINLOCK, CNA, SEMAPHORE, KINDS };

/* Zeroes are unlocked, whatever it is; a semaphore needs a permit. */
union object {
    lw_mutex_t mutex;
    lw_rwlock_t rwlock;
    lw_percpu_rwlock_t percpu;
    lw_rwsem_t rwsem;
    lw_spinlock_t spinlock;
    lw_cna_spinlock_t cna;
    lw_semaphore_t semaphore;
};

struct copy {
    void (*take)(enum kind kind, union object *object);
    void (*release)(enum kind kind, union object *object);
    void (*wait)(lw_cond_t *cond, lw_mutex_t *mutex);
    void (*signal)(lw_cond_t *cond);
    void (*broadcast)(lw_cond_t *cond);
    /* Where its code and its table of sleepers are. */
    void (*code)(lw_mutex_t *mutex);
    const char *table;
};

const struct copy *get_copy(void);
