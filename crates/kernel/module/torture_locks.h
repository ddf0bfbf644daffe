/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The types of locks that can be tortured, behind one interface. */
#ifndef TORTURE_LOCKS_H
#define TORTURE_LOCKS_H

#include <linux/rwsem.h>
#include <linux/spinlock.h>

#include "lockwright.h"

struct torture_lock {
	union {
		spinlock_t spinlock;
		rwlock_t rwlock;
		struct rw_semaphore semaphore;
		struct lockwright_place place;
	};
};

struct torture_type {
	const char *name;
	/* Its waiters sleep, and so may its owners. */
	bool sleeps;
	/* Readers share it. */
	bool shares;
	void (*init)(struct torture_lock *lock);
	/* As a reader if `reads`. What it returns is for the release. */
	unsigned long (*acquire)(struct torture_lock *lock, bool reads);
	void (*release)(struct torture_lock *lock, bool reads, unsigned long flags);
};

/* The type of that name: a lock of the registry, or one of the kernel's; NULL if there is none. Called once. */
const struct torture_type *torture_find(const char *name);
/* The kernel's spinlock. */
extern const struct torture_type torture_spin_lock;

#endif
