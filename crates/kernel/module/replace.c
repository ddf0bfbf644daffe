// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Lets a lock of the registry take over the slow path of all of the kernel's spinlocks, and gives it back.
 *
 * The argument is in docs/kernel.md: a slow path runs with preemption off, so while all CPUs are in the stopper no CPU
 * is in one, and no lock word names a node. Each flip checks what that argument says.
 */
#define pr_fmt(fmt) "lockwright: " fmt

#include <linux/cpu.h>
#include <linux/ftrace.h>
#include <linux/ktime.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/spinlock.h>
#include <linux/stop_machine.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/version.h>

#include "lockwright.h"

#define SLOWPATH ((unsigned long)native_queued_spin_lock_slowpath)
#define TRAMPOLINE ((unsigned long)lockwright_trampoline)
/* Levels of nodes of a CPU, and one more: entries that found no node. */
#define LEVELS 5

bool lockwright_is_active;
DEFINE_PER_CPU(u64, lockwright_passed);
DEFINE_PER_CPU(u64, lockwright_diverted);

static DEFINE_MUTEX(control);
static bool is_attached;
static u32 selected = LOCKWRIGHT_NO_LOCK;

/* What a flip may find wrong. */
enum { INSIDE, NODE_IN_USE, NOT_ARRIVED, WRONG_PATH, FAULTS };
static const char *const fault_names[FAULTS] = {
	"a CPU is inside the slow path",
	"a queue node is in use",
	"a call was diverted and has not arrived",
	"the slow path that was not selected has run",
};

/* Consistent if it is taken while all CPUs are stopped. */
struct sample {
	u64 passed, diverted, entries, exits;
	u32 nodes;
};
static struct sample at_last_flip;
static u64 flips, flips_wrong, flip_ns_max;
/* Entries into each slow path up to the last flip. */
static u64 entries_kernel, entries_ours;
/* Lets this module do what it must not, to see that the harness notices. */
static bool controls;
module_param(controls, bool, 0444);
MODULE_PARM_DESC(controls, "allow what kills this kernel: `busted` as a slow path, flips while the CPUs run");
static bool runs_on;
module_param(runs_on, bool, 0444);
MODULE_PARM_DESC(runs_on, "with controls: flip while the CPUs run");

static u64 entries_at(u32 level)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += lockwright_entries(cpu, level);
	return sum;
}

static void take(struct sample *now)
{
	u32 level;
	int cpu;

	memset(now, 0, sizeof(*now));
	for_each_possible_cpu(cpu) {
		now->passed += per_cpu(lockwright_passed, cpu);
		now->diverted += per_cpu(lockwright_diverted, cpu);
	}
	for (level = 0; level < LEVELS; level++)
		now->entries += entries_at(level);
	now->exits = lockwright_exits();
	now->nodes = lockwright_nodes_in_use();
}

struct flip {
	u32 to;
	unsigned long faults;
};

/* Runs on one CPU; the others wait in the stopper with interrupts off. */
static int flip_stopped(void *data)
{
	struct flip *flip = data;
	struct sample now;
	u64 passed, entered;

	take(&now);
	passed = now.passed - at_last_flip.passed;
	entered = now.entries - at_last_flip.entries;
	flip->faults |= (now.entries != now.exits) << INSIDE;
	flip->faults |= (now.nodes != 0) << NODE_IN_USE;
	flip->faults |= (now.entries != now.diverted) << NOT_ARRIVED;
	flip->faults |= ((lockwright_is_active ? passed : entered) != 0) << WRONG_PATH;
	entries_kernel += passed;
	entries_ours += entered;
	at_last_flip = now;
	lockwright_select(flip->to);
	WRITE_ONCE(lockwright_is_active, flip->to != LOCKWRIGHT_NO_LOCK);
	return 0;
}

static int flip_to(u32 lock)
{
	struct flip flip = { .to = lock };
	u64 start = ktime_get_ns();
	int error = controls && runs_on ? flip_stopped(&flip) : stop_machine(flip_stopped, &flip, NULL);
	int fault;

	if (error)
		return error;
	flip_ns_max = max(flip_ns_max, ktime_get_ns() - start);
	selected = lock;
	flips++;
	flips_wrong += flip.faults != 0;
	for_each_set_bit(fault, &flip.faults, FAULTS)
		pr_err("flip %llu is WRONG: %s\n", flips, fault_names[fault]);
	return flip.faults ? -EIO : 0;
}

static int refuse(int error, const char *why)
{
	pr_err("refused to replace the slow path: %s\n", why);
	return error;
}

/* Where ftrace's call is: behind the mark of a target of indirect branches, if functions have one. */
static unsigned long place_of_call(void)
{
	return SLOWPATH + (IS_ENABLED(CONFIG_X86_KERNEL_IBT) ? 4 : 0);
}

/* True if there is exactly `call target`. */
static bool calls(unsigned long target)
{
	unsigned long at = place_of_call();
	u8 code[5];

	if (copy_from_kernel_nofault(code, (void *)at, sizeof(code)) || code[0] != 0xe8)
		return false;
	return at + sizeof(code) + *(s32 *)&code[1] == target;
}
static bool is_untraced(void)
{
	static const u8 nop[5] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };
	u8 code[5];

	return !copy_from_kernel_nofault(code, (void *)place_of_call(), sizeof(code)) &&
	       !memcmp(code, nop, sizeof(nop));
}

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
static struct ftrace_ops direct;

static int register_call(void)
{
	int error = ftrace_set_filter_ip(&direct, place_of_call(), 0, 0);

	return error ? error : register_ftrace_direct(&direct, TRAMPOLINE);
}
static int unregister_call(void)
{
	return unregister_ftrace_direct(&direct, TRAMPOLINE, true);
}
#else
static int register_call(void)
{
	return register_ftrace_direct(place_of_call(), TRAMPOLINE);
}
static int unregister_call(void)
{
	return unregister_ftrace_direct(place_of_call(), TRAMPOLINE);
}
#endif

static int attach(void)
{
	int error;

	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		return refuse(-EOPNOTSUPP, "on PREEMPT_RT spinlocks sleep, and preemption is on in their slow path");
	if (boot_cpu_has(X86_FEATURE_HYPERVISOR))
		return refuse(-EOPNOTSUPP, "in a virtual machine the kernel's lock is a test-and-set lock or a "
			      "paravirtual one");
#ifdef CONFIG_PARAVIRT_SPINLOCKS
	if ((unsigned long)pv_ops.lock.queued_spin_lock_slowpath != SLOWPATH)
		return refuse(-EOPNOTSUPP, "this kernel uses another slow path than the native one");
#endif
	if (!is_untraced())
		return refuse(-EBUSY, "there is a tracer on the slow path");
	error = register_call();
	if (error)
		return refuse(error, "ftrace cannot register the direct call");
	is_attached = true;
	if (calls(TRAMPOLINE))
		return 0;
	return refuse(-EBUSY, "ftrace does not call the trampoline directly");
}
static void detach(void)
{
	int error = unregister_call();

	if (error)
		pr_err("ftrace has not let go of the slow path: %d\n", error);
	is_attached = false;
	/* A CPU may still be in the trampoline. */
	synchronize_rcu_tasks();
	synchronize_rcu();
}

static int replace(u32 lock)
{
	int error = is_attached ? 0 : attach();

	if (error) {
		if (is_attached)
			detach();
		return error;
	}
	if (!calls(TRAMPOLINE))
		return refuse(-EBUSY, "another tracer has come to the slow path");
	return flip_to(lock);
}

static bool may_replace(u32 lock, const char *name)
{
	return lockwright_has_slowpath(lock) || (controls && !strcmp(name, "busted"));
}

int lockwright_replace_by(const char *name)
{
	u32 lock = LOCKWRIGHT_NO_LOCK;
	int error;

	if (strcmp(name, "stock")) {
		lock = lockwright_find(name);
		if (lock == LOCKWRIGHT_NO_LOCK || !may_replace(lock, name))
			return refuse(-EINVAL, "no lock of that name has the kernel's lock word");
	}
	lockwright_laws_used();
	mutex_lock(&control);
	error = replace(lock);
	mutex_unlock(&control);
	return error;
}

void lockwright_give_back(void)
{
	mutex_lock(&control);
	if (is_attached) {
		if (selected != LOCKWRIGHT_NO_LOCK)
			flip_to(LOCKWRIGHT_NO_LOCK);
		detach();
		pr_info("gave the slow path back: flips %llu wrong %llu entries-kernel %llu entries-ours %llu\n", flips,
			flips_wrong, entries_kernel, entries_ours);
	}
	mutex_unlock(&control);
}

void lockwright_show_status(struct seq_file *out)
{
	size_t length = 5;
	const char *name = "stock";
	u32 level, cpu;

	mutex_lock(&control);
	if (selected != LOCKWRIGHT_NO_LOCK)
		name = lockwright_lock_name(selected, 0, &length);
	seq_printf(out, "selected %.*s\n", (int)length, name);
	seq_printf(out, "flips %llu\nflips_wrong %llu\nflip_us_max %llu\n", flips, flips_wrong, flip_ns_max / 1000);
	/* These two up to the last flip. */
	seq_printf(out, "entries_kernel %llu\nentries_ours %llu\n", entries_kernel, entries_ours);
	for (level = 0; level < LEVELS; level++)
		seq_printf(out, "entries_level%u %llu\n", level, entries_at(level));
	for_each_online_cpu(cpu) {
		u64 sum = 0;

		for (level = 0; level < LEVELS; level++)
			sum += lockwright_entries(cpu, level);
		seq_printf(out, "entries_cpu%u %llu\n", cpu, sum);
	}
	mutex_unlock(&control);
}
