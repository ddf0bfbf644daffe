// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * The module: its parameters, what it tells the Rust part about the machine, and its files in debugfs.
 *
 * /sys/kernel/debug/lockwright/replace  write the name of a lock to let it take over the contended spinlocks of this
 *                                       kernel, `stock` to give them back, `detach` to do that and to remove
 *                                       the call, without which the module cannot be unloaded
 * /sys/kernel/debug/lockwright/status   what has happened, as lines of a name and a number
 * /sys/kernel/debug/lockwright/queue_depths
 *                                       how many waiters each entry of our slow path has found at its lock
 */
#define pr_fmt(fmt) "lockwright: " fmt

#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/debugfs.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sched/rt.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/topology.h>
#include <linux/vmalloc.h>

#include "lockwright.h"

DEFINE_PER_CPU(u32, lockwright_cpu);
/* What belongs to each CPU, and the kernel's name for the call when one comes up. */
static void *cpus;
static int notice;
static struct dentry *folder;

static int tunable_set(const char *text, const struct kernel_param *param)
{
	if (lockwright_set_tunable(param->name, strlen(param->name), text, strcspn(text, "\n")))
		return 0;
	pr_err("%s cannot be `%s`: modinfo says what it can be\n", param->name, text);
	return -EINVAL;
}
/* -1: what the policy of the lock says. */
static int tunable_get(char *into, const struct kernel_param *param)
{
	return sysfs_emit(into, "%lld\n", lockwright_tunable(param->name, strlen(param->name)));
}
static const char *numa_word(void)
{
	static const char *const words[] = { "auto", "on", "off" };

	return words[max(lockwright_tunable("numa_spinlock", strlen("numa_spinlock")), 0ll)];
}
static int numa_get(char *into, const struct kernel_param *param)
{
	return sysfs_emit(into, "%s\n", numa_word());
}
static const struct kernel_param_ops tunable_ops = { .set = tunable_set, .get = tunable_get };
static const struct kernel_param_ops numa_ops = { .set = tunable_set, .get = numa_get };
module_param_cb(numa_spinlock, &numa_ops, NULL, 0644);
MODULE_PARM_DESC(numa_spinlock, "NUMA-aware order of the CNA locks: auto, on, off");
module_param_cb(numa_spinlock_threshold, &tunable_ops, NULL, 0644);
MODULE_PARM_DESC(numa_spinlock_threshold, "hand-overs within a NUMA node, as a power of two: 0 to 31");
module_param_cb(hqlock_fairness_threshold, &tunable_ops, NULL, 0644);
MODULE_PARM_DESC(hqlock_fairness_threshold, "hand-overs within a NUMA node, of hq and two-level: 0 to 4294967295");
module_param_cb(hqlock_general_handoffs_turn_numa, &tunable_ops, NULL, 0644);
MODULE_PARM_DESC(hqlock_general_handoffs_turn_numa, "hand-overs in a row after which hq gives its one queue up: 0 to 4294967295");

/* The caller must not be set aside by CNA: it is no task, interrupts are off, or it has a real-time policy. */
bool notrace lockwright_is_urgent(void)
{
	return !in_task() || irqs_disabled() || rt_task(current);
}

/* It is an interrupt that cannot be masked. */
bool notrace lockwright_is_unmaskable(void)
{
	return in_nmi();
}

u32 lockwright_find(const char *name)
{
	u32 lock, which;
	size_t length;

	for (lock = 0;; lock++) {
		for (which = 0;; which++) {
			const char *text = lockwright_lock_name(lock, which, &length);

			if (!length)
				break;
			if (strlen(name) == length && !memcmp(name, text, length))
				return lock;
		}
		if (!which)
			return LOCKWRIGHT_NO_LOCK;
	}
}

/* What is exported is in C, which marks it as a target of indirect branches. */
u32 lockwright_find_torturable(const char *name)
{
	u32 lock = lockwright_find(name);

	return lockwright_spins(lock) || lockwright_sleeps(lock) ? lock : LOCKWRIGHT_NO_LOCK;
}
EXPORT_SYMBOL_GPL(lockwright_find_torturable);
bool lockwright_has_sleepers(u32 lock)
{
	return lockwright_sleeps(lock);
}
EXPORT_SYMBOL_GPL(lockwright_has_sleepers);
bool lockwright_has_readers(u32 lock)
{
	return lockwright_shares(lock);
}
EXPORT_SYMBOL_GPL(lockwright_has_readers);
void lockwright_make(u32 lock, struct lockwright_place *place)
{
	lockwright_laws_used();
	lockwright_init(lock, place);
}
EXPORT_SYMBOL_GPL(lockwright_make);
void lockwright_take(u32 lock, struct lockwright_place *place, bool reads)
{
	if (reads)
		lockwright_lock_shared(lock, place);
	else
		lockwright_lock(lock, place);
}
EXPORT_SYMBOL_GPL(lockwright_take);
void lockwright_give(u32 lock, struct lockwright_place *place, bool reads)
{
	if (reads)
		lockwright_unlock_shared(lock, place);
	else
		lockwright_unlock(lock, place);
}
EXPORT_SYMBOL_GPL(lockwright_give);

static ssize_t replace_write(struct file *file, const char __user *from, size_t count, loff_t *at)
{
	char *name = memdup_user_nul(from, min_t(size_t, count, 64));
	int error;

	if (IS_ERR(name))
		return PTR_ERR(name);
	error = strcmp(strim(name), "detach") ? lockwright_replace_by(strim(name)) : lockwright_detach();
	kfree(name);
	return error ? error : count;
}
static const struct file_operations replace_ops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = replace_write,
};

static int status_show(struct seq_file *out, void *unused)
{
	lockwright_show_status(out);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(status);

static int queue_depths_show(struct seq_file *out, void *unused)
{
	u32 depth, count = lockwright_depths();

	for (depth = 0; depth < count; depth++)
		seq_printf(out, "depth_%02u%s %llu\n", depth, depth + 1 == count ? "_or_more" : "",
			   lockwright_depth(depth));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(queue_depths);

/* For each CPU that is online when the module is loaded, and before one comes up: only then its NUMA node is known. */
static int note_cpu(unsigned int cpu)
{
	per_cpu(lockwright_cpu, cpu) = cpu;
	lockwright_set_cpu(cpu, max(cpu_to_node(cpu), 0));
	return 0;
}

static int __init load(void)
{
	bool is_guest = boot_cpu_has(X86_FEATURE_HYPERVISOR);

	cpus = vzalloc(array_size(nr_cpu_ids, lockwright_cpu_size()));
	if (!cpus)
		return -ENOMEM;
	lockwright_set_machine(cpus, nr_cpu_ids, nr_node_ids, is_guest);
	notice = cpuhp_setup_state(CPUHP_BP_PREPARE_DYN, "lockwright:prepare", note_cpu, NULL);
	if (notice < 0) {
		vfree(cpus);
		return notice;
	}
	folder = debugfs_create_dir("lockwright", NULL);
	debugfs_create_file("replace", 0200, folder, NULL, &replace_ops);
	debugfs_create_file("status", 0400, folder, NULL, &status_fops);
	debugfs_create_file("queue_depths", 0400, folder, NULL, &queue_depths_fops);
	lockwright_events_init(folder);
	lockwright_laws_init(folder);
	pr_info("loaded: %u CPUs of %u, %u NUMA nodes%s; numa_spinlock=%s, so the CNA locks serve by NUMA node: %s\n",
		num_online_cpus(), num_possible_cpus(), num_online_nodes(), is_guest ? ", a virtual machine" : "",
		numa_word(), lockwright_numa_is_on() ? "yes" : "no");
	return 0;
}
static void __exit unload(void)
{
	debugfs_remove(folder);
	lockwright_free_filters();
	cpuhp_remove_state_nocalls(notice);
	vfree(cpus);
	pr_info("unloaded\n");
}
module_init(load);
module_exit(unload);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("Lockwright's spinlocks in a running kernel");
