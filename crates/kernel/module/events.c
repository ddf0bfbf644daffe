// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * The counters, as a kernel with CONFIG_LOCK_EVENT_COUNTS shows them: one file for each event, and `.reset_counts`.
 */
#include <linux/debugfs.h>
#include <linux/string.h>

#include "lockwright.h"

static int event_get(void *data, u64 *value)
{
	*value = lockwright_event((u32)(uintptr_t)data);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(event_ops, event_get, NULL, "%llu\n");

static ssize_t reset_write(struct file *file, const char __user *from, size_t count, loff_t *at)
{
	lockwright_reset_events();
	return count;
}
static const struct file_operations reset_ops = { .owner = THIS_MODULE, .open = simple_open, .write = reset_write };

/* Events that a lock counts which only spins, or a semaphore. */
static bool is_counted(const char *name)
{
	return !strncmp(name, "lock_", 5) || !strncmp(name, "head_", 5) || !strncmp(name, "cna_", 4) ||
	       !strncmp(name, "hq_", 3) || !strncmp(name, "rqspinlock_", 11) || !strncmp(name, "rwsem_", 6);
}

void lockwright_events_init(struct dentry *parent)
{
	struct dentry *folder = debugfs_create_dir("lock_event_counts", parent);
	char name[40];
	size_t length;
	u32 event;

	for (event = 0;; event++) {
		const char *text = lockwright_event_name(event, &length);

		if (!length)
			break;
		snprintf(name, sizeof(name), "%.*s", (int)length, text);
		if (is_counted(name))
			debugfs_create_file_unsafe(name, 0400, folder, (void *)(uintptr_t)event, &event_ops);
	}
	debugfs_create_file(".reset_counts", 0200, folder, NULL, &reset_ops);
}
