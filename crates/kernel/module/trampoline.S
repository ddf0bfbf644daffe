/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * What native_queued_spin_lock_slowpath(lock in rdi, seen in esi) calls first, by ftrace.
 *
 * On entry the stack has the place in the slow path behind that call, and above it the slow path's caller. While the
 * kernel's lock is in use this returns to the slow path. Otherwise it drops the first address, so that our slow path,
 * or the wait without a queue, returns to the caller. Only flags change.
 */
#include <linux/linkage.h>
#include <asm/percpu.h>
#include <asm/unwind_hints.h>

	.text
SYM_FUNC_START(lockwright_trampoline)
	/* LOCKWRIGHT_OURS is 1. One look decides. */
	cmpb	$1, lockwright_path(%rip)
	jae	1f
	incq	PER_CPU_VAR(lockwright_passed)
	RET
	/* Flags stay. */
1:	leaq	8(%rsp), %rsp
	/* As at the entry of a function that the slow path's caller has called. */
	UNWIND_HINT_FUNC
	ja	lockwright_unqueued
	incq	PER_CPU_VAR(lockwright_diverted)
	jmp	lockwright_contend
SYM_FUNC_END(lockwright_trampoline)
