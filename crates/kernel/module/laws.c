// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Threads for the laws of PLATFORM.md. Only a module that is built with the laws has a file for them:
 *
 * /sys/kernel/debug/lockwright/laws  write how often each law is to be checked
 */
#define pr_fmt(fmt) "lockwright: laws: " fmt

#include <linux/bug.h>
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/topology.h>

#include "lockwright.h"

#define BODIES_MAX 4

/* The threads of one law. */
struct crew {
	const void *bodies;
	/* Threads that have not begun, and that have not ended. */
	atomic_t missing, running;
	struct completion ended;
};
struct member {
	struct crew *crew;
	u32 number;
};

static int run_body(void *data)
{
	struct member *me = data;
	struct crew *crew = me->crew;

	/* They begin at the same time, so that they meet. */
	atomic_dec(&crew->missing);
	while (atomic_read(&crew->missing))
		cpu_relax();
	preempt_disable();
	lockwright_body(crew->bodies, me->number);
	preempt_enable();
	if (atomic_dec_and_test(&crew->running))
		complete(&crew->ended);
	return 0;
}

/* Each body runs on a CPU of its own, with preemption off. Returns when all have ended. */
void lockwright_run_bodies(const void *bodies, u32 count)
{
	static unsigned int runs;
	struct member members[BODIES_MAX];
	struct crew crew = { .bodies = bodies, .missing = ATOMIC_INIT(count), .running = ATOMIC_INIT(count) };
	int cpu = runs++ % nr_cpu_ids;
	u32 i;

	BUG_ON(count > BODIES_MAX || count > num_online_cpus());
	init_completion(&crew.ended);
	for (i = 0; i < count; i++) {
		struct task_struct *task;

		cpu = cpumask_next(cpu, cpu_online_mask);
		if (cpu >= nr_cpu_ids)
			cpu = cpumask_first(cpu_online_mask);
		members[i] = (struct member){ .crew = &crew, .number = i };
		task = kthread_create_on_node(run_body, &members[i], cpu_to_node(cpu), "lockwright_law/%u", i);
		BUG_ON(IS_ERR(task));
		kthread_bind(task, cpu);
		wake_up_process(task);
	}
	wait_for_completion(&crew.ended);
}

/* The last line is that of a law that does not hold. */
void lockwright_say_of_laws(const char *line, u32 length, u32 is_last)
{
	pr_info("%.*s\n", length, line);
	BUG_ON(is_last);
}

static int check(void *unused, u64 times)
{
	lockwright_check_laws(times);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(laws_fops, NULL, check, "%llu\n");

void lockwright_laws_init(struct dentry *parent)
{
	if (lockwright_has_laws())
		debugfs_create_file("laws", 0200, parent, NULL, &laws_fops);
}
