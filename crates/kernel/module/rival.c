// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * What others may do to the kernel, for the plans of the guest.
 *
 * With `calls=1` it registers a direct call at the kernel's slow path of spinlocks. With `nmis=1` it has a handler of
 * NMIs that waits for a spinlock. With neither it spoils the place for ftrace's call in its own function
 * lockwright_rival, so that ftrace ends itself when it is told to trace that one.
 */
#include <linux/delay.h>
#include <linux/ftrace.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/spinlock.h>
#include <linux/version.h>
#include <linux/vmalloc.h>
#include <asm/nmi.h>

static bool calls;
module_param(calls, bool, 0444);
static bool nmis;
module_param(nmis, bool, 0444);

void lockwright_rival(void);
noinline void lockwright_rival(void)
{
	barrier();
}
/* What the slow path calls: nothing. */
static noinline notrace void called(void)
{
	barrier();
}

#define PLACE ((unsigned long)native_queued_spin_lock_slowpath)
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
static struct ftrace_ops direct;
static int register_call(void)
{
	int error = ftrace_set_filter_ip(&direct, PLACE, 0, 0);

	return error ? error : register_ftrace_direct(&direct, (unsigned long)called);
}
static int unregister_call(void)
{
	return unregister_ftrace_direct(&direct, (unsigned long)called, true);
}
#else
static int register_call(void)
{
	return register_ftrace_direct(PLACE, (unsigned long)called);
}
static int unregister_call(void)
{
	return unregister_ftrace_direct(PLACE, (unsigned long)called);
}
#endif

static int spoil(void)
{
	struct page *page = vmalloc_to_page(lockwright_rival);
	/* Behind the mark of a target of indirect branches, if functions have one. */
	u32 at = offset_in_page(lockwright_rival) + (IS_ENABLED(CONFIG_X86_KERNEL_IBT) ? 4 : 0);
	u8 *mapped = vmap(&page, 1, VM_MAP, PAGE_KERNEL);

	if (!mapped)
		return -ENOMEM;
	mapped[at] ^= 0xff;
	vunmap(mapped);
	return 0;
}

static DEFINE_SPINLOCK(wanted);
/* So long that the others wait while a flip goes on. */
static int on_nmi(unsigned int type, struct pt_regs *regs)
{
	spin_lock(&wanted);
	mdelay(20);
	spin_unlock(&wanted);
	return NMI_HANDLED;
}

static int __init load(void)
{
	if (nmis)
		return register_nmi_handler(NMI_LOCAL, on_nmi, 0, "lockwright_rival");
	return calls ? register_call() : spoil();
}
static void __exit unload(void)
{
	if (nmis)
		unregister_nmi_handler(NMI_LOCAL, "lockwright_rival");
	if (calls)
		WARN_ON(unregister_call());
}
module_init(load);
module_exit(unload);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("What others may do to the kernel");
