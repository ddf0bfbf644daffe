// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * The types of locks that can be tortured: those of the registry that spin or are semaphores, the kernel's own, and
 * broken ones.
 */
#include <linux/kernel.h>
#include <linux/preempt.h>
#include <linux/string.h>

#include "torture_locks.h"

/* The lock of the registry that is tortured. */
static u32 registered = LOCKWRIGHT_NO_LOCK;

static void registered_init(struct torture_lock *lock)
{
	lockwright_make(registered, &lock->place);
}
/* An owner of a spinlock keeps its CPU. */
static unsigned long spinning_take(struct torture_lock *lock, bool reads)
{
	preempt_disable();
	lockwright_take(registered, &lock->place, reads);
	return 0;
}
static void spinning_give(struct torture_lock *lock, bool reads, unsigned long flags)
{
	lockwright_give(registered, &lock->place, reads);
	preempt_enable();
}
/* An owner of a semaphore does not, but inside of the lock's functions no task loses its CPU unless it sleeps. */
static unsigned long sleeping_take(struct torture_lock *lock, bool reads)
{
	might_sleep();
	preempt_disable();
	lockwright_take(registered, &lock->place, reads);
	preempt_enable();
	return 0;
}
static void sleeping_give(struct torture_lock *lock, bool reads, unsigned long flags)
{
	preempt_disable();
	lockwright_give(registered, &lock->place, reads);
	preempt_enable();
}

static void spin_init(struct torture_lock *lock)
{
	spin_lock_init(&lock->spinlock);
}
static unsigned long spin_take(struct torture_lock *lock, bool reads)
{
	spin_lock(&lock->spinlock);
	return 0;
}
static void spin_give(struct torture_lock *lock, bool reads, unsigned long flags)
{
	spin_unlock(&lock->spinlock);
}
static unsigned long spin_irq_take(struct torture_lock *lock, bool reads)
{
	unsigned long flags;

	spin_lock_irqsave(&lock->spinlock, flags);
	return flags;
}
static void spin_irq_give(struct torture_lock *lock, bool reads, unsigned long flags)
{
	spin_unlock_irqrestore(&lock->spinlock, flags);
}

static void rw_init(struct torture_lock *lock)
{
	rwlock_init(&lock->rwlock);
}
static unsigned long rw_take(struct torture_lock *lock, bool reads)
{
	if (reads)
		read_lock(&lock->rwlock);
	else
		write_lock(&lock->rwlock);
	return 0;
}
static void rw_give(struct torture_lock *lock, bool reads, unsigned long flags)
{
	if (reads)
		read_unlock(&lock->rwlock);
	else
		write_unlock(&lock->rwlock);
}

static void rwsem_init(struct torture_lock *lock)
{
	init_rwsem(&lock->semaphore);
}
static unsigned long rwsem_take(struct torture_lock *lock, bool reads)
{
	if (reads)
		down_read(&lock->semaphore);
	else
		down_write(&lock->semaphore);
	return 0;
}
static void rwsem_give(struct torture_lock *lock, bool reads, unsigned long flags)
{
	if (reads)
		up_read(&lock->semaphore);
	else
		up_write(&lock->semaphore);
}

const struct torture_type torture_spin_lock = {
	.name = "spin_lock", .init = spin_init, .acquire = spin_take, .release = spin_give,
};
static const struct torture_type kernels[] = {
	{
		.name = "spin_lock_irq", .init = spin_init,
		.acquire = spin_irq_take, .release = spin_irq_give,
	}, {
		.name = "rw_lock", .shares = true, .init = rw_init, .acquire = rw_take, .release = rw_give,
	}, {
		.name = "rwsem_lock", .sleeps = true, .shares = true, .init = rwsem_init,
		.acquire = rwsem_take, .release = rwsem_give,
	},
};
/* Broken types of the names of locktorture, and the locks of the registry that they are. */
static const struct {
	const char *name, *lock;
	bool sleeps;
} broken[] = {
	{ "lock_busted", "busted" },
	/* Its readers take nothing, and its writers exclude each other. */
	{ "rw_lock_busted", "busted-rw" },
	{ "rwsem_lock_busted", "busted-rw", true },
};
static struct torture_type of_registry = { .init = registered_init };

static const struct torture_type *find_registered(const char *name, bool sleeps)
{
	registered = lockwright_find_torturable(name);
	if (registered == LOCKWRIGHT_NO_LOCK)
		return NULL;
	of_registry.sleeps = sleeps || lockwright_has_sleepers(registered);
	of_registry.shares = lockwright_has_readers(registered);
	of_registry.acquire = of_registry.sleeps ? sleeping_take : spinning_take;
	of_registry.release = of_registry.sleeps ? sleeping_give : spinning_give;
	return &of_registry;
}

const struct torture_type *torture_find(const char *name)
{
	size_t i;

	if (!strcmp(name, torture_spin_lock.name))
		return &torture_spin_lock;
	for (i = 0; i < ARRAY_SIZE(kernels); i++)
		if (!strcmp(name, kernels[i].name))
			return &kernels[i];
	for (i = 0; i < ARRAY_SIZE(broken); i++)
		if (!strcmp(name, broken[i].name))
			return find_registered(broken[i].lock, broken[i].sleeps);
	return find_registered(name, false);
}
