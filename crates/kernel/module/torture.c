// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Torture of a lock by kernel threads, with the parameters and the lines of the kernel's locktorture. It runs from the
 * loading of this module to its unloading.
 *
 * Every writer reads a counter, waits, and writes it back. At the end the counter has to be the number of acquisitions.
 * Readers look for a writer that is inside with them. Owners of a lock whose waiters sleep sometimes sleep, too.
 *
 * A thread that arrives often makes good for a wake-up that was lost: it finds the lock free, takes it, and its release
 * wakes the others. So from time to time all threads rest: none arrives until all have been served. A torture in which
 * that does not come to an end, or no thread has taken the lock for some seconds, says that it is stuck. If asked to,
 * the threads rest after each acquisition: then each has taken the lock once before the next round begins.
 *
 * On every CPU a timer interrupts the threads and takes a second lock of the same type, with a counter of its own.
 * Where waiters sleep, that is a spinlock of the kernel. A second timer does the same in a softirq, with a third lock.
 * If asked to, the timer of the first CPU sends NMIs to all others, and their handler takes a fourth lock.
 * Then no lock may take over the kernel's slow path, or give it back: docs/kernel.md says why.
 */
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/topology.h>

#include <asm/apic.h>
#include <asm/nmi.h>

#include "torture_locks.h"

static char *torture_type = "spin_lock";
module_param(torture_type, charp, 0444);
MODULE_PARM_DESC(torture_type, "a lock of the registry that spins or is a semaphore, spin_lock, spin_lock_irq, "
		 "rw_lock, rwsem_lock, lock_busted, rw_lock_busted, or rwsem_lock_busted");
static int nwriters_stress = -1;
module_param(nwriters_stress, int, 0444);
MODULE_PARM_DESC(nwriters_stress, "writers; -1: one for each CPU");
static int nreaders_stress = -1;
module_param(nreaders_stress, int, 0444);
MODULE_PARM_DESC(nreaders_stress, "readers; -1: as many as writers if they share the lock, otherwise none");
static int stat_interval = 60;
module_param(stat_interval, int, 0444);
MODULE_PARM_DESC(stat_interval, "seconds between two reports; 0: only at the end");
static int stutter = 5;
module_param(stutter, int, 0444);
MODULE_PARM_DESC(stutter, "seconds of torture before a pause of the same length; 0: no pauses");
static int rest_interval_ms = -1;
module_param(rest_interval_ms, int, 0444);
MODULE_PARM_DESC(rest_interval_ms, "milliseconds between two rests; 0: none; -1: 50 if waiters sleep, otherwise none");
static bool rounds;
module_param(rounds, bool, 0444);
MODULE_PARM_DESC(rounds, "each thread takes the lock once in a round, and none begins before all have ended");
static unsigned int watchdog = 10;
module_param(watchdog, uint, 0444);
MODULE_PARM_DESC(watchdog, "seconds without an acquisition after which the torture says that it is stuck");
static unsigned int irq_interval_us = 500;
module_param(irq_interval_us, uint, 0444);
MODULE_PARM_DESC(irq_interval_us, "microseconds between two timer interrupts of a CPU, with a softirq for every fourth "
		 "one; 0: none");
static bool nmis;
module_param(nmis, bool, 0444);
MODULE_PARM_DESC(nmis, "the first CPU's timer sends NMIs to the others, which take a lock, too");
static unsigned int hold = 100;
module_param(hold, uint, 0444);
MODULE_PARM_DESC(hold, "rounds of a loop in a critical section");
static unsigned int jitter;
module_param(jitter, uint, 0444);
MODULE_PARM_DESC(jitter, "fewer than this many pauses between two critical sections, at random, and one inside");

/* A lock, and what it guards. */
struct guarded {
	const struct torture_type *type;
	struct torture_lock lock;
	u64 counter;
	u64 violations;
	/* The number of the writer that is inside, or -1. */
	int owner;
	/* The readers that are inside. */
	atomic_t readers;
	/* The node of the last owner, and how many have been on it in a row. */
	int node;
	u64 same_node, other_node, run, longest_run;
} ____cacheline_aligned_in_smp;

/* `tasks` is for the threads, `interrupts` and `softirqs` for the timers, `in_nmis` for the handler of NMIs. */
static struct guarded tasks, interrupts, softirqs, in_nmis;
static const struct torture_type *type;
static bool is_stopping, is_pausing, is_resting;
/* Threads that have ended the round, the round, and that there are no more. */
static atomic_t met;
static unsigned int round;
static bool is_broken_up;
/* How often the torture has reported, paused, rested, and been stuck. */
static unsigned int reports, pauses, rests, stuck;

struct worker {
	struct task_struct *task;
	/* Its number among all threads. */
	int number;
	u32 random;
	bool reads, rests;
	u64 acquired;
	/* What a reader has seen of writers. */
	u64 violations;
} ____cacheline_aligned_in_smp;
static struct worker *workers;
static int writers, readers;

struct ticker {
	struct hrtimer timer, soft_timer;
	u64 acquired, acquired_in_softirqs, acquired_in_nmis;
	bool is_started;
};
static DEFINE_PER_CPU(struct ticker, tickers);
static struct task_struct *reporter, *rester;

static u32 next_random(u32 *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
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

/* Passes the time of a critical section. An owner that may sleep has a state of random numbers. */
static void dwell(u32 *random)
{
	unsigned int rounds = hold;
	u32 dice = random ? next_random(random) % 256 : U32_MAX;

	while (rounds--)
		barrier();
	/* Under an emulator with one thread this lets all other CPUs run, and queue. */
	if (jitter)
		cpu_relax();
	if (!dice)
		msleep(1);
	else if (dice < 16)
		cond_resched();
}

static void write_section(struct guarded *it, int me, u32 *random)
{
	u64 value = READ_ONCE(it->counter);

	if (READ_ONCE(it->owner) != -1 || atomic_read(&it->readers))
		it->violations++;
	WRITE_ONCE(it->owner, me);
	note_node(it);
	dwell(random);
	if (READ_ONCE(it->owner) != me || atomic_read(&it->readers))
		it->violations++;
	WRITE_ONCE(it->owner, -1);
	WRITE_ONCE(it->counter, value + 1);
}

/* Returns true if a writer was inside. */
static bool read_section(struct guarded *it, u32 *random)
{
	u64 value = READ_ONCE(it->counter);
	bool is_wrong;

	atomic_inc(&it->readers);
	is_wrong = READ_ONCE(it->owner) != -1;
	dwell(random);
	is_wrong |= READ_ONCE(it->owner) != -1 || READ_ONCE(it->counter) != value;
	atomic_dec(&it->readers);
	return is_wrong;
}

static void take_once(struct guarded *it)
{
	unsigned long flags = it->type->acquire(&it->lock, false);

	write_section(it, raw_smp_processor_id(), NULL);
	it->type->release(&it->lock, false, flags);
}

static ktime_t interval(void)
{
	return ns_to_ktime(irq_interval_us * 1000ull);
}
/* Interrupts alone must not fill a CPU whose emulator has to wait for a CPU of the host. */
static ktime_t soft_interval(void)
{
	return ns_to_ktime(irq_interval_us * 4000ull);
}

static enum hrtimer_restart tick(struct hrtimer *timer)
{
	struct ticker *ticker = container_of(timer, struct ticker, timer);

	take_once(&interrupts);
	ticker->acquired++;
	if (nmis && !raw_smp_processor_id())
		apic->send_IPI_mask_allbutself(cpu_online_mask, NMI_VECTOR);
	hrtimer_forward_now(timer, interval());
	return HRTIMER_RESTART;
}

static enum hrtimer_restart tick_softly(struct hrtimer *timer)
{
	take_once(&softirqs);
	container_of(timer, struct ticker, soft_timer)->acquired_in_softirqs++;
	hrtimer_forward_now(timer, soft_interval());
	return HRTIMER_RESTART;
}

static int on_nmi(unsigned int type, struct pt_regs *regs)
{
	if (READ_ONCE(is_stopping))
		return NMI_DONE;
	take_once(&in_nmis);
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
	hrtimer_init(&ticker->soft_timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_SOFT);
	ticker->soft_timer.function = tick_softly;
	hrtimer_start(&ticker->soft_timer, soft_interval(), HRTIMER_MODE_REL_PINNED_SOFT);
}

/* Waits until all threads are here. */
static void meet(void)
{
	unsigned int mine = READ_ONCE(round);

	if (atomic_inc_return(&met) == writers + readers) {
		atomic_set(&met, 0);
		smp_store_release(&round, mine + 1);
		return;
	}
	while (smp_load_acquire(&round) == mine && !READ_ONCE(is_broken_up)) {
		cpu_relax();
		cond_resched_tasks_rcu_qs();
	}
}

static int work_loop(void *data)
{
	struct worker *worker = data;
	u32 *of_sections = type->sleeps ? &worker->random : NULL;

	while (!kthread_should_stop()) {
		unsigned int apart = jitter ? next_random(&worker->random) % jitter : 0;
		unsigned long flags;

		if (READ_ONCE(is_pausing) || READ_ONCE(is_resting)) {
			WRITE_ONCE(worker->rests, true);
			usleep_range(500, 1000);
			continue;
		}
		WRITE_ONCE(worker->rests, false);
		if (rounds && !READ_ONCE(is_broken_up))
			meet();
		while (apart--)
			cpu_relax();
		flags = type->acquire(&tasks.lock, worker->reads);
		if (worker->reads)
			worker->violations += read_section(&tasks, of_sections);
		else
			write_section(&tasks, worker->number, of_sections);
		type->release(&tasks.lock, worker->reads, flags);
		WRITE_ONCE(worker->acquired, worker->acquired + 1);
		/* Also ends a grace period that waits for all tasks to sleep, as that of ftrace does. */
		cond_resched_tasks_rcu_qs();
	}
	return 0;
}

struct totals {
	u64 acquired, most, least, violations;
};

static struct totals add_up(const struct worker *first, int count)
{
	struct totals sum = { .least = U64_MAX };

	while (count--) {
		u64 acquired = READ_ONCE(first->acquired);

		sum.acquired += acquired;
		sum.most = max(sum.most, acquired);
		sum.least = min(sum.least, acquired);
		sum.violations += first++->violations;
	}
	return sum;
}

static void report_on(const char *what, struct totals sum)
{
	pr_alert("%s-torture: %s  Total: %llu  Max/Min: %llu/%llu %s  Fail: %llu %s\n", torture_type, what, sum.acquired,
		 sum.most, sum.least, sum.most > 2 * sum.least ? "???" : "", sum.violations,
		 sum.violations ? "!!!" : "");
}

static void report(void)
{
	struct totals written = add_up(workers, writers);

	written.violations = tasks.violations;
	if (writers)
		report_on("Writes:", written);
	if (readers)
		report_on("Reads :", add_up(workers + writers, readers));
}

static void say_stuck(int waiting)
{
	stuck++;
	WRITE_ONCE(is_broken_up, true);
	pr_alert("%s-torture: STUCK: %d threads wait, and none has taken the lock for %u s, after %u %s and %llu "
		 "times\n", torture_type, waiting, watchdog, rounds ? round : rests, rounds ? "rounds" : "rests",
		 add_up(workers, writers + readers).acquired);
}

/* How many threads do not rest. */
static int count_waiting(void)
{
	int i, waiting = 0;

	for (i = 0; i < writers + readers; i++)
		waiting += !READ_ONCE(workers[i].rests);
	return waiting;
}

/* Called each second. */
static void watch(void)
{
	static u64 before;
	static unsigned int quiet_for;
	u64 acquired = add_up(workers, writers + readers).acquired;
	int i;

	/* A wake-up that nobody sent for the lock: it ends the sleep of those that were forgotten. */
	for (i = 0; stuck && i < writers + readers; i++)
		wake_up_process(workers[i].task);
	/* A pause does not count, and does not hide what was before it. */
	if (acquired != before)
		quiet_for = 0;
	else if (!READ_ONCE(is_pausing))
		quiet_for++;
	before = acquired;
	if (quiet_for >= watchdog && !READ_ONCE(is_resting)) {
		quiet_for = 0;
		say_stuck(writers + readers - atomic_read(&met));
	}
}

static int rest_loop(void *unused)
{
	while (!kthread_should_stop()) {
		unsigned long end;
		int waiting;

		usleep_range(rest_interval_ms * 1000, rest_interval_ms * 1000 + 200);
		WRITE_ONCE(is_resting, true);
		end = jiffies + watchdog * HZ;
		while ((waiting = count_waiting()) && !kthread_should_stop() && time_before(jiffies, end))
			usleep_range(100, 200);
		rests++;
		if (waiting && !kthread_should_stop())
			say_stuck(waiting);
		/* Threads that arrive now wake those that were forgotten. */
		WRITE_ONCE(is_resting, false);
	}
	return 0;
}

static int report_loop(void *unused)
{
	unsigned int second = 0;

	while (!kthread_should_stop()) {
		if (msleep_interruptible(1000))
			continue;
		second++;
		if (stutter > 0 && second % stutter == 0) {
			WRITE_ONCE(is_pausing, second / stutter % 2);
			pauses += is_pausing;
		}
		/* Threads that have ended take no lock. */
		if (kthread_should_stop())
			break;
		watch();
		if (stat_interval > 0 && second % stat_interval == 0) {
			report();
			reports++;
		}
	}
	return 0;
}

static void print_parameters(const char *what)
{
	pr_alert("%s-torture:--- %s: nwriters_stress=%d nreaders_stress=%d stat_interval=%d stutter=%d "
		 "rest_interval_ms=%d rounds=%d watchdog=%u irq_interval_us=%u nmis=%d hold=%u jitter=%u\n", torture_type, what,
		 writers, readers, stat_interval, stutter, rest_interval_ms, rounds, watchdog, irq_interval_us, nmis,
		 hold, jitter);
}

static bool is_exact(const struct guarded *it, u64 acquired)
{
	return it->counter == acquired && !it->violations;
}

static void cancel(struct ticker *ticker)
{
	hrtimer_cancel(&ticker->timer);
	hrtimer_cancel(&ticker->soft_timer);
}

static void stop_all(void)
{
	int cpu, i;

	if (rester)
		kthread_stop(rester);
	WRITE_ONCE(is_broken_up, true);
	for (i = 0; i < writers + readers; i++)
		if (workers[i].task)
			kthread_stop(workers[i].task);
	/* Until now it has woken those that were forgotten. */
	if (reporter)
		kthread_stop(reporter);
	for (i = 0; i < writers + readers; i++)
		if (workers[i].task)
			put_task_struct(workers[i].task);
	/* First the timers, which send the NMIs, and then what these do. */
	for_each_possible_cpu(cpu)
		if (per_cpu(tickers, cpu).is_started)
			cancel(&per_cpu(tickers, cpu));
	if (nmis) {
		msleep(50);
		WRITE_ONCE(is_stopping, true);
		unregister_nmi_handler(NMI_LOCAL, "lockwright_torture");
	}
}

static void stop(void)
{
	struct totals written, read;
	u64 ticked = 0, in_softirq = 0, in_nmi = 0;
	bool is_right;
	int cpu;

	stop_all();
	for_each_possible_cpu(cpu) {
		ticked += per_cpu(tickers, cpu).acquired;
		in_softirq += per_cpu(tickers, cpu).acquired_in_softirqs;
		in_nmi += per_cpu(tickers, cpu).acquired_in_nmis;
	}
	written = add_up(workers, writers);
	read = add_up(workers + writers, readers);
	report();
	is_right = is_exact(&tasks, written.acquired) && is_exact(&interrupts, ticked) &&
		   is_exact(&softirqs, in_softirq) && is_exact(&in_nmis, in_nmi) && !read.violations && !stuck;
	pr_alert("%s-torture: Exact: acquired %llu counter %llu violations %llu reads %llu violations %llu "
		 "interrupts %llu counter %llu violations %llu softirqs %llu counter %llu violations %llu "
		 "nmis %llu counter %llu violations %llu same-node %llu "
		 "other-node %llu longest-run %llu reports %u pauses %u rests %u\n", torture_type,
		 written.acquired, tasks.counter, tasks.violations, read.acquired, read.violations, ticked,
		 interrupts.counter, interrupts.violations, in_softirq, softirqs.counter, softirqs.violations, in_nmi,
		 in_nmis.counter, in_nmis.violations,
		 tasks.same_node, tasks.other_node, tasks.longest_run, reports, pauses, rests);
	print_parameters(is_right ? "End of test: SUCCESS" : "End of test: FAILURE");
	kfree(workers);
}

static void init_guarded(struct guarded *it, const struct torture_type *of_type)
{
	memset(it, 0, sizeof(*it));
	it->type = of_type;
	of_type->init(&it->lock);
	it->owner = -1;
	it->node = -1;
}

static int start_workers(void)
{
	int cpu = -1, i;

	for (i = 0; i < writers + readers; i++) {
		struct worker *worker = &workers[i];

		cpu = cpumask_next(cpu, cpu_online_mask);
		if (cpu >= nr_cpu_ids)
			cpu = cpumask_first(cpu_online_mask);
		worker->number = i;
		worker->reads = i >= writers;
		worker->random = 0x9e3779b9 * (u32)(i + 1) | 1;
		worker->task = kthread_create_on_node(work_loop, worker, cpu_to_node(cpu), "torture_%s/%d",
						      worker->reads ? "rd" : "wr", i);
		if (IS_ERR(worker->task)) {
			worker->task = NULL;
			return -ENOMEM;
		}
		kthread_bind(worker->task, cpu);
		/* It can be woken for as long as the torture lasts. */
		get_task_struct(worker->task);
	}
	for (i = 0; i < writers + readers; i++)
		wake_up_process(workers[i].task);
	return 0;
}

static int run(struct task_struct **task, int (*loop)(void *), const char *name)
{
	struct task_struct *it = kthread_run(loop, NULL, name);

	if (IS_ERR(it))
		return PTR_ERR(it);
	*task = it;
	return 0;
}

static int __init torture_init(void)
{
	int error = 0;

	type = torture_find(torture_type);
	if (!type) {
		pr_alert("lock-torture: invalid torture type: \"%s\"\n", torture_type);
		return -EINVAL;
	}
	init_guarded(&tasks, type);
	init_guarded(&interrupts, type->sleeps ? &torture_spin_lock : type);
	init_guarded(&softirqs, type->sleeps ? &torture_spin_lock : type);
	init_guarded(&in_nmis, type->sleeps ? &torture_spin_lock : type);
	writers = nwriters_stress >= 0 ? nwriters_stress : num_online_cpus();
	readers = nreaders_stress >= 0 ? nreaders_stress : type->shares ? writers : 0;
	if (!writers && !readers) {
		pr_alert("lock-torture: there have to be writers or readers\n");
		return -EINVAL;
	}
	if (rest_interval_ms < 0)
		rest_interval_ms = type->sleeps && !rounds ? 50 : 0;
	workers = kcalloc(writers + readers, sizeof(*workers), GFP_KERNEL);
	if (!workers)
		return -ENOMEM;
	print_parameters("Start of test");
	if (nmis)
		error = register_nmi_handler(NMI_LOCAL, on_nmi, 0, "lockwright_torture");
	if (error) {
		kfree(workers);
		return error;
	}
	error = start_workers();
	if (!error && irq_interval_us)
		on_each_cpu(start_ticker, NULL, 1);
	if (!error)
		error = run(&reporter, report_loop, "torture_stats");
	if (!error && rest_interval_ms)
		error = run(&rester, rest_loop, "torture_rests");
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
MODULE_DESCRIPTION("torture of Lockwright's locks in kernel threads");
