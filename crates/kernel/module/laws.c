// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Threads for the laws of PLATFORM.md. Only a module that is built with the laws has a file for them:
 *
 * /sys/kernel/debug/lockwright/laws  write how often each law is to be checked
 */
#define pr_fmt(fmt) "lockwright: laws: " fmt

#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/topology.h>

#include "lockwright.h"

#define BODIES_MAX 4
#define TIMES_MAX 10000

/* The threads of one law. */
struct crew {
	const void *bodies;
	/* Threads that have not begun, and that have not ended. */
	atomic_t missing, running;
	struct completion ended;
};
struct member {
	struct crew *crew;
	struct task_struct *task;
	u32 number;
};

/* One run at a time. */
static DEFINE_MUTEX(one_run);
/* A lock of this module was made or has taken over. Some laws hold only before that. */
static bool was_used;

static int run_body(void *data)
{
	struct member *me = data;
	struct crew *crew = me->crew;

	/* They begin at the same time, so that their accesses overlap. */
	atomic_dec(&crew->missing);
	while (atomic_read(&crew->missing)) {
		cpu_relax();
		cond_resched();
	}
	preempt_disable();
	lockwright_body(crew->bodies, me->number);
	preempt_enable();
	if (atomic_dec_and_test(&crew->running))
		complete(&crew->ended);
	return 0;
}

static int make_threads(struct member *members, struct crew *crew, u32 count)
{
	static unsigned int runs;
	int cpu = runs++ % nr_cpu_ids;
	u32 i;

	for (i = 0; i < count; i++) {
		struct task_struct *task;

		cpu = cpumask_next(cpu, cpu_online_mask);
		if (cpu >= nr_cpu_ids)
			cpu = cpumask_first(cpu_online_mask);
		members[i] = (struct member){ .crew = crew, .number = i };
		task = kthread_create_on_node(run_body, &members[i], cpu_to_node(cpu), "law/%u", i);
		if (IS_ERR(task))
			return PTR_ERR(task);
		kthread_bind(task, cpu);
		/* It may end before it is stopped. */
		members[i].task = get_task_struct(task);
	}
	return 0;
}

/*
 * Runs each body on a CPU of its own, with preemption off. Returns when all threads have ended. Returns false, and has
 * run nothing, if there are too few threads or CPUs, or the caller is being killed.
 */
bool lockwright_run_bodies(const void *bodies, u32 count)
{
	struct member members[BODIES_MAX] = {};
	struct crew crew = { .bodies = bodies, .missing = ATOMIC_INIT(count), .running = ATOMIC_INIT(count) };
	bool can_run;
	u32 i;

	init_completion(&crew.ended);
	cpus_read_lock();
	can_run = count <= BODIES_MAX && count <= num_online_cpus() && !make_threads(members, &crew, count);
	if (can_run) {
		for (i = 0; i < count; i++)
			wake_up_process(members[i].task);
		wait_for_completion(&crew.ended);
	}
	for (i = 0; i < BODIES_MAX && members[i].task; i++) {
		kthread_stop(members[i].task);
		put_task_struct(members[i].task);
	}
	cpus_read_unlock();
	return can_run;
}

/* The last line is that of a law that does not hold. */
void lockwright_say_of_laws(const char *line, u32 length, u32 is_last)
{
	pr_info("%.*s\n", length, line);
	if (is_last)
		panic("lockwright: a law does not hold");
}

void lockwright_laws_used(void)
{
	WRITE_ONCE(was_used, true);
}

static int check(void *unused, u64 times)
{
	bool is_done;

	if (!times || times > TIMES_MAX) {
		pr_err("cannot check each law %llu times: give 1 to %d\n", times, TIMES_MAX);
		return -EINVAL;
	}
	if (READ_ONCE(was_used)) {
		pr_err("refused: a lock of this module was used; unload it and load it again\n");
		return -EBUSY;
	}
	if (!mutex_trylock(&one_run))
		return -EBUSY;
	is_done = lockwright_check_laws(times);
	mutex_unlock(&one_run);
	return is_done ? 0 : -EINTR;
}
DEFINE_DEBUGFS_ATTRIBUTE(laws_fops, NULL, check, "%llu\n");

void lockwright_laws_init(struct dentry *parent)
{
	if (lockwright_has_laws())
		debugfs_create_file("laws", 0200, parent, NULL, &laws_fops);
}
