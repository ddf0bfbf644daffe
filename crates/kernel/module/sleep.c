// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * What the Rust part asks of the scheduler for locks whose waiters sleep. It calls with preemption off, once.
 */
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>

#include <asm/processor.h>

#include "lockwright.h"

/* Sleeps until woken or until the raw monotonic clock reaches the deadline, unless the word holds something else. */
void lockwright_sleep(const u32 *word, u32 expected, u64 deadline_ns)
{
	/* A full barrier: the caller has named itself before, and the word is read after. */
	set_current_state(TASK_UNINTERRUPTIBLE);
	if (READ_ONCE(*word) == expected) {
		preempt_enable();
		if (deadline_ns == U64_MAX) {
			schedule();
		} else {
			s64 left_ns = deadline_ns - ktime_get_raw_fast_ns();
			ktime_t left = ns_to_ktime(max_t(s64, left_ns, 0));

			schedule_hrtimeout(&left, HRTIMER_MODE_REL);
		}
		preempt_disable();
	}
	__set_current_state(TASK_RUNNING);
}

void lockwright_wake(struct task_struct *task)
{
	wake_up_process(task);
	/* Under an emulator with one thread this lets the task run at once, as it would on a CPU of its own. */
	cpu_relax();
}

struct task_struct *lockwright_current(void)
{
	return current;
}

/* The task may have ended. Then the answer means nothing, but the question does no harm. */
bool lockwright_is_running(const struct task_struct *task)
{
	int on_cpu;

	return !copy_from_kernel_nofault(&on_cpu, &task->on_cpu, sizeof(on_cpu)) && on_cpu;
}

bool lockwright_need_resched(void)
{
	return need_resched();
}
