// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Torture of a lock by kernel threads, with the parameters and the lines of the kernel's locktorture. It runs from the
 * loading of this module to its unloading.
 *
 * Every writer reads a counter, waits, and writes it back. At the end the counter has to be the number of acquisitions.
 * On every CPU a timer interrupts the writers and takes a second lock of the same type, with a counter of its own. If
 * asked to, the timer of the first CPU sends NMIs to all others, and their handler takes a third lock. Then no lock may
 * take over the kernel's slow path, or give it back: docs/kernel.md says why.
 */
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/topology.h>

#include <asm/apic.h>
#include <asm/nmi.h>

#include "lockwright.h"

static char *torture_type = "spin_lock";
module_param(torture_type, charp, 0444);
MODULE_PARM_DESC(torture_type, "a lock of the registry, spin_lock, spin_lock_irq, or lock_busted");
static int nwriters_stress = -1;
module_param(nwriters_stress, int, 0444);
MODULE_PARM_DESC(nwriters_stress, "writers; -1: one for each CPU");
static int stat_interval = 60;
module_param(stat_interval, int, 0444);
MODULE_PARM_DESC(stat_interval, "seconds between two reports; 0: only at the end");
static int stutter = 5;
module_param(stutter, int, 0444);
MODULE_PARM_DESC(stutter, "seconds of torture before a pause of the same length; 0: no pauses");
static unsigned int irq_interval_us = 500;
module_param(irq_interval_us, uint, 0444);
MODULE_PARM_DESC(irq_interval_us, "microseconds between two timer interrupts of a CPU; 0: none");
static bool nmis;
module_param(nmis, bool, 0444);
MODULE_PARM_DESC(nmis, "the first CPU's timer sends NMIs to the others, which take a lock, too");
static unsigned int hold = 100;
module_param(hold, uint, 0444);
MODULE_PARM_DESC(hold, "rounds of a loop in a critical section");
static unsigned int jitter;
module_param(jitter, uint, 0444);
MODULE_PARM_DESC(jitter, "fewer than this many pauses between two critical sections, at random, and one inside");

enum kind { REGISTERED, SPIN_LOCK, SPIN_LOCK_IRQ };

/* A lock, and what it guards. */
struct guarded {
	spinlock_t spinlock;
	struct lockwright_place place;
	u64 counter;
	u64 violations;
	int owner;
	/* The node of the last owner, and how many have been on it in a row. */
	int node;
	u64 same_node, other_node, run, longest_run;
} ____cacheline_aligned_in_smp;

/* `tasks` is for the writers, `interrupts` for the timers, `in_nmis` for the handler of NMIs. */
static struct guarded tasks, interrupts, in_nmis;
static enum kind kind;
static u32 registered = LOCKWRIGHT_NO_LOCK;
static bool is_stopping, is_pausing;

struct writer {
	struct task_struct *task;
	int cpu;
	u64 acquired;
} ____cacheline_aligned_in_smp;
static struct writer *writers;
static int count;

struct ticker {
	struct hrtimer timer;
	u64 acquired, acquired_in_nmis;
	bool is_started;
};
static DEFINE_PER_CPU(struct ticker, tickers);
static struct task_struct *reporter;

static unsigned long acquire(struct guarded *it)
{
	unsigned long flags = 0;

	switch (kind) {
	case REGISTERED:
		preempt_disable();
		lockwright_take(registered, &it->place);
		break;
	case SPIN_LOCK:
		spin_lock(&it->spinlock);
		break;
	case SPIN_LOCK_IRQ:
		spin_lock_irqsave(&it->spinlock, flags);
	}
	return flags;
}
static void release(struct guarded *it, unsigned long flags)
{
	switch (kind) {
	case REGISTERED:
		lockwright_give(registered, &it->place);
		preempt_enable();
		break;
	case SPIN_LOCK:
		spin_unlock(&it->spinlock);
		break;
	case SPIN_LOCK_IRQ:
		spin_unlock_irqrestore(&it->spinlock, flags);
	}
}

static void note_node(struct guarded *it)
{
	int node = numa_node_id();

	it->run = it->node == node ? it->run + 1 : 1;
	it->longest_run = max(it->longest_run, it->run);
	if (it->node == node)
		it->same_node++;
	else
		it->other_node++;
	it->node = node;
}

static void critical_section(struct guarded *it, unsigned int rounds)
{
	u64 value = READ_ONCE(it->counter);
	int me = raw_smp_processor_id();

	if (READ_ONCE(it->owner) != -1)
		it->violations++;
	WRITE_ONCE(it->owner, me);
	note_node(it);
	while (rounds--)
		barrier();
	/* Under an emulator with one thread this lets all other CPUs run, and queue. */
	if (jitter)
		cpu_relax();
	if (READ_ONCE(it->owner) != me)
		it->violations++;
	WRITE_ONCE(it->owner, -1);
	WRITE_ONCE(it->counter, value + 1);
}

static ktime_t interval(void)
{
	return ns_to_ktime(irq_interval_us * 1000ull);
}

static enum hrtimer_restart tick(struct hrtimer *timer)
{
	struct ticker *ticker = container_of(timer, struct ticker, timer);
	unsigned long flags;

	flags = acquire(&interrupts);
	critical_section(&interrupts, hold);
	release(&interrupts, flags);
	ticker->acquired++;
	if (nmis && !raw_smp_processor_id())
		apic->send_IPI_allbutself(NMI_VECTOR);
	hrtimer_forward_now(timer, interval());
	return HRTIMER_RESTART;
}

static int on_nmi(unsigned int type, struct pt_regs *regs)
{
	unsigned long flags;

	if (READ_ONCE(is_stopping))
		return NMI_DONE;
	flags = acquire(&in_nmis);
	critical_section(&in_nmis, hold);
	release(&in_nmis, flags);
	this_cpu_ptr(&tickers)->acquired_in_nmis++;
	return NMI_HANDLED;
}

static void start_ticker(void *unused)
{
	struct ticker *ticker = this_cpu_ptr(&tickers);

	hrtimer_init(&ticker->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	ticker->timer.function = tick;
	ticker->is_started = true;
	hrtimer_start(&ticker->timer, interval(), HRTIMER_MODE_REL_PINNED_HARD);
}

static u32 next_random(u32 *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

static int write_loop(void *data)
{
	struct writer *writer = data;
	u32 random = 0x9e3779b9 * (u32)(writer - writers + 1) | 1;

	while (!kthread_should_stop()) {
		unsigned int pauses = jitter ? next_random(&random) % jitter : 0;
		unsigned long flags;

		if (READ_ONCE(is_pausing)) {
			msleep(10);
			continue;
		}
		flags = acquire(&tasks);
		critical_section(&tasks, hold);
		release(&tasks, flags);
		writer->acquired++;
		while (pauses--)
			cpu_relax();
		/* Also ends a grace period that waits for all tasks to sleep, as that of ftrace does. */
		cond_resched_tasks_rcu_qs();
	}
	return 0;
}

static void report(void)
{
	u64 total = 0, most = 0, least = U64_MAX;
	int i;

	for (i = 0; i < count; i++) {
		u64 acquired = READ_ONCE(writers[i].acquired);

		total += acquired;
		most = max(most, acquired);
		least = min(least, acquired);
	}
	pr_alert("%s-torture: Writes:  Total: %llu  Max/Min: %llu/%llu %s  Fail: %llu %s\n", torture_type, total, most,
		 least, most > 2 * least ? "???" : "", tasks.violations, tasks.violations ? "!!!" : "");
}

static int report_loop(void *unused)
{
	unsigned int second = 0;

	while (!kthread_should_stop()) {
		if (msleep_interruptible(1000))
			continue;
		second++;
		if (stutter > 0)
			WRITE_ONCE(is_pausing, second / stutter % 2);
		if (stat_interval > 0 && second % stat_interval == 0)
			report();
	}
	return 0;
}

static void print_parameters(const char *what)
{
	pr_alert("%s-torture:--- %s: nwriters_stress=%d nreaders_stress=0 stat_interval=%d stutter=%d "
		 "irq_interval_us=%u nmis=%d hold=%u jitter=%u\n", torture_type, what, count, stat_interval, stutter,
		 irq_interval_us, nmis, hold, jitter);
}

static bool is_exact(const struct guarded *it, u64 acquired)
{
	return it->counter == acquired && !it->violations;
}

static void stop(void)
{
	u64 acquired = 0, ticked = 0, in_nmi = 0;
	bool is_right;
	int cpu, i;

	if (reporter)
		kthread_stop(reporter);
	for (i = 0; i < count; i++)
		if (writers[i].task)
			kthread_stop(writers[i].task);
	/* First the timers, which send the NMIs, and then what these do. */
	for_each_possible_cpu(cpu) {
		struct ticker *ticker = per_cpu_ptr(&tickers, cpu);

		if (ticker->is_started)
			hrtimer_cancel(&ticker->timer);
		ticked += ticker->acquired;
	}
	if (nmis) {
		msleep(50);
		WRITE_ONCE(is_stopping, true);
		unregister_nmi_handler(NMI_LOCAL, "lockwright_torture");
	}
	for_each_possible_cpu(cpu)
		in_nmi += per_cpu_ptr(&tickers, cpu)->acquired_in_nmis;
	for (i = 0; i < count; i++)
		acquired += writers[i].acquired;
	report();
	is_right = is_exact(&tasks, acquired) && is_exact(&interrupts, ticked) && is_exact(&in_nmis, in_nmi);
	pr_alert("%s-torture: Exact: acquired %llu counter %llu violations %llu interrupts %llu counter %llu "
		 "violations %llu nmis %llu counter %llu violations %llu same-node %llu other-node %llu "
		 "longest-run %llu\n", torture_type, acquired, tasks.counter, tasks.violations, ticked,
		 interrupts.counter, interrupts.violations, in_nmi, in_nmis.counter, in_nmis.violations,
		 tasks.same_node, tasks.other_node, tasks.longest_run);
	print_parameters(is_right ? "End of test: SUCCESS" : "End of test: FAILURE");
	kfree(writers);
}

static void init_guarded(struct guarded *it)
{
	memset(it, 0, sizeof(*it));
	spin_lock_init(&it->spinlock);
	if (kind == REGISTERED)
		lockwright_make(registered, &it->place);
	it->owner = -1;
	it->node = -1;
}

static int choose_kind(void)
{
	const char *name = strcmp(torture_type, "lock_busted") ? torture_type : "busted";

	if (!strcmp(name, "spin_lock")) {
		kind = SPIN_LOCK;
	} else if (!strcmp(name, "spin_lock_irq")) {
		kind = SPIN_LOCK_IRQ;
	} else {
		kind = REGISTERED;
		registered = lockwright_find_spinning(name);
		if (registered == LOCKWRIGHT_NO_LOCK) {
			pr_alert("lock-torture: invalid torture type: \"%s\"\n", torture_type);
			return -EINVAL;
		}
	}
	return 0;
}

static int start_writers(void)
{
	int cpu = -1, i;

	for (i = 0; i < count; i++) {
		struct writer *writer = &writers[i];

		cpu = cpumask_next(cpu, cpu_online_mask);
		if (cpu >= nr_cpu_ids)
			cpu = cpumask_first(cpu_online_mask);
		writer->cpu = cpu;
		writer->task = kthread_create_on_node(write_loop, writer, cpu_to_node(cpu), "torture/%d", i);
		if (IS_ERR(writer->task)) {
			writer->task = NULL;
			return -ENOMEM;
		}
		kthread_bind(writer->task, cpu);
	}
	for (i = 0; i < count; i++)
		wake_up_process(writers[i].task);
	return 0;
}

static int __init torture_init(void)
{
	int error = choose_kind();

	if (error)
		return error;
	init_guarded(&tasks);
	init_guarded(&interrupts);
	init_guarded(&in_nmis);
	count = nwriters_stress > 0 ? nwriters_stress : num_online_cpus();
	writers = kcalloc(count, sizeof(*writers), GFP_KERNEL);
	if (!writers)
		return -ENOMEM;
	print_parameters("Start of test");
	if (nmis)
		error = register_nmi_handler(NMI_LOCAL, on_nmi, 0, "lockwright_torture");
	if (error) {
		kfree(writers);
		return error;
	}
	error = start_writers();
	if (!error && irq_interval_us)
		on_each_cpu(start_ticker, NULL, 1);
	if (!error) {
		reporter = kthread_run(report_loop, NULL, "torture_stats");
		if (IS_ERR(reporter)) {
			error = PTR_ERR(reporter);
			reporter = NULL;
		}
	}
	if (error)
		stop();
	return error;
}
static void __exit torture_exit(void)
{
	stop();
}
module_init(torture_init);
module_exit(torture_exit);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("torture of Lockwright's spinlocks in kernel threads");
