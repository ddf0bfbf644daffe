// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Lets a lock of the registry take over the slow path of all of the kernel's spinlocks, and gives it back.
 *
 * The argument is in docs/kernel.md: a slow path runs with preemption off, so while all CPUs are in the stopper no CPU
 * is in one, and no lock word names a node. NMIs that come meanwhile wait without a queue. Each flip checks what that
 * argument says.
 */
#define pr_fmt(fmt) "lockwright: " fmt

#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/ftrace.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/spinlock.h>
#include <linux/stop_machine.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <asm/apic.h>
#include <linux/version.h>
#ifdef LOCKWRIGHT_HAS_EVENTS
#include <trace/events/lock.h>
#endif

#include "lockwright.h"

#define SLOWPATH ((unsigned long)native_queued_spin_lock_slowpath)
#define TRAMPOLINE ((unsigned long)lockwright_trampoline)
/* Levels of nodes of a CPU, and one more: entries that found no node. */
#define LEVELS 5

u8 lockwright_path = LOCKWRIGHT_KERNELS;
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
static bool flips_fail;
module_param(flips_fail, bool, 0644);
MODULE_PARM_DESC(flips_fail, "with controls: no flip happens");
static bool flip_nmis;
module_param(flip_nmis, bool, 0644);
MODULE_PARM_DESC(flip_nmis, "with controls: each flip sends NMIs to the other CPUs");

/* Our slow path. Where the kernel exports these events, they are emitted as by its own slow path. */
void notrace lockwright_contend(u32 *lock, u32 seen)
{
#ifdef LOCKWRIGHT_HAS_EVENTS
	trace_contention_begin(lock, LCB_F_SPIN);
#endif
	lockwright_slowpath(lock, seen);
#ifdef LOCKWRIGHT_HAS_EVENTS
	trace_contention_end(lock, 0);
#endif
}

/* Takes the lock as soon as its word is 0, which goes together with both slow paths. For NMIs during a flip. */
void notrace lockwright_unqueued(u32 *lock, u32 seen)
{
	atomic_t *word = (atomic_t *)lock;

	while (atomic_read(word) || atomic_cmpxchg_acquire(word, 0, _Q_LOCKED_VAL))
		cpu_relax();
}

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
	/* CPUs that have seen that NMIs wait without a queue. */
	atomic_t seen;
};

static int flip_now(struct flip *flip)
{
	struct sample now;
	u64 passed, entered;

	take(&now);
	passed = now.passed - at_last_flip.passed;
	entered = now.entries - at_last_flip.entries;
	flip->faults |= (now.entries != now.exits) << INSIDE;
	flip->faults |= (now.nodes != 0) << NODE_IN_USE;
	flip->faults |= (now.entries != now.diverted) << NOT_ARRIVED;
	flip->faults |= ((selected != LOCKWRIGHT_NO_LOCK ? passed : entered) != 0) << WRONG_PATH;
	entries_kernel += passed;
	entries_ours += entered;
	at_last_flip = now;
	lockwright_select(flip->to);
	smp_store_release(&lockwright_path, flip->to == LOCKWRIGHT_NO_LOCK ? LOCKWRIGHT_KERNELS : LOCKWRIGHT_OURS);
	return 0;
}

/*
 * Runs on each CPU, in the stopper with interrupts off. A CPU that says what it has seen is in no NMI, and so in no
 * slow path. The NMIs that it gets from then on have seen the same.
 */
static int flip_stopped(void *data)
{
	struct flip *flip = data;

	if (smp_processor_id() != cpumask_first(cpu_online_mask)) {
		while (READ_ONCE(lockwright_path) != LOCKWRIGHT_UNQUEUED)
			cpu_relax();
		atomic_inc(&flip->seen);
		return 0;
	}
	if (controls && flip_nmis) {
		apic->send_IPI_mask_allbutself(cpu_online_mask, NMI_VECTOR);
		mdelay(5);
	}
	WRITE_ONCE(lockwright_path, LOCKWRIGHT_UNQUEUED);
	while (atomic_read(&flip->seen) != num_online_cpus() - 1)
		cpu_relax();
	smp_mb();
	return flip_now(flip);
}

static int flip_to(u32 lock)
{
	struct flip flip = { .to = lock };
	u64 start = ktime_get_ns();
	int fault, error;

	if (controls && runs_on)
		error = flip_now(&flip);
	else if (controls && flips_fail)
		error = -EIO;
	else
		error = stop_machine(flip_stopped, &flip, cpu_online_mask);
	if (error) {
		pr_err("a flip has failed: %d\n", error);
		return error;
	}
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
	int error = ftrace_set_filter_ip(&direct, place_of_call(), 0, 1);

	return error ? error : register_ftrace_direct(&direct, TRAMPOLINE);
}
static int unregister_call(void)
{
	/* Not `true`: that leaves the structure with what it has freed, and it is used again. */
	return unregister_ftrace_direct(&direct, TRAMPOLINE, false);
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

static void notrace traced(unsigned long ip, unsigned long parent, struct ftrace_ops *ops, struct ftrace_regs *regs)
{
}
/*
 * While this is registered, for a function of this module, writing 0 to kernel.ftrace_enabled is refused. From Linux
 * 6.4 on it would take the direct call away while CPUs wait in our slow path.
 */
static struct ftrace_ops keeps_on = { .func = traced, .flags = FTRACE_OPS_FL_PERMANENT };

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
	error = ftrace_set_filter_ip(&keeps_on, (unsigned long)lockwright_replace_by, 0, 1);
	if (!error)
		error = register_ftrace_function(&keeps_on);
	if (error)
		return refuse(error, "ftrace is switched off");
	error = register_call();
	if (error) {
		unregister_ftrace_function(&keeps_on);
		return refuse(error, "ftrace cannot register the direct call");
	}
	is_attached = true;
	/* Until the call is gone the module stays. */
	__module_get(THIS_MODULE);
	if (calls(TRAMPOLINE))
		return 0;
	return refuse(-EBUSY, "ftrace does not call the trampoline directly");
}

static int nothing(void *unused)
{
	return 0;
}
/* Gives the slow path back and removes the call. If that fails the module stays, with either slow path in use. */
static int detach(void)
{
	int error = selected == LOCKWRIGHT_NO_LOCK ? 0 : flip_to(LOCKWRIGHT_NO_LOCK);

	if (selected != LOCKWRIGHT_NO_LOCK)
		return error;
	error = unregister_call();
	if (!error)
		error = unregister_ftrace_function(&keeps_on);
	if (error || calls(TRAMPOLINE)) {
		pr_err("ftrace has not let go of the slow path, so this module stays: %d\n", error);
		return error ? error : -EBUSY;
	}
	/* A CPU may still be in the trampoline or in our code, with preemption off or in an NMI. */
	stop_machine(nothing, NULL, cpu_online_mask);
	pr_info("gave the slow path back: flips %llu wrong %llu entries-kernel %llu entries-ours %llu\n", flips,
		flips_wrong, entries_kernel, entries_ours);
	is_attached = false;
	module_put(THIS_MODULE);
	return 0;
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

int lockwright_detach(void)
{
	int error;

	mutex_lock(&control);
	error = is_attached ? detach() : 0;
	mutex_unlock(&control);
	return error;
}

void lockwright_free_filters(void)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
	ftrace_free_filter(&direct);
#endif
	ftrace_free_filter(&keeps_on);
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
