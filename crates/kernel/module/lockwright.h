/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* What the parts of the module call of each other. The functions of the Rust part are in crates/kernel/src/lib.rs. */
#ifndef LOCKWRIGHT_H
#define LOCKWRIGHT_H

#include <linux/percpu.h>
#include <linux/types.h>

struct dentry;
struct seq_file;
struct task_struct;

/* Not a lock of the registry. */
#define LOCKWRIGHT_NO_LOCK U32_MAX
/* The room that each lock of the registry fits in. */
struct lockwright_place {
	u8 bytes[64];
} __aligned(64);

/* The Rust part: the registry. */
const char *lockwright_lock_name(u32 lock, u32 which, size_t *length);
bool lockwright_spins(u32 lock);
bool lockwright_sleeps(u32 lock);
bool lockwright_shares(u32 lock);
bool lockwright_has_slowpath(u32 lock);
void lockwright_init(u32 lock, struct lockwright_place *place);
void lockwright_lock(u32 lock, struct lockwright_place *place);
void lockwright_unlock(u32 lock, struct lockwright_place *place);
void lockwright_lock_shared(u32 lock, struct lockwright_place *place);
void lockwright_unlock_shared(u32 lock, struct lockwright_place *place);

/* The Rust part: the slow path, and the machine. */
void lockwright_slowpath(u32 *lock, u32 seen);
void lockwright_select(u32 lock);
size_t lockwright_cpu_size(void);
void lockwright_set_machine(void *first, u32 cpus, u32 numa_nodes, bool is_guest);
void lockwright_set_cpu(u32 cpu, u32 numa_node);
bool lockwright_set_tunable(const char *name, size_t length, const char *text, size_t text_length);
s64 lockwright_tunable(const char *name, size_t length);
bool lockwright_numa_is_on(void);

/* The Rust part: counters. */
u64 lockwright_entries(u32 cpu, u32 level);
u64 lockwright_exits(void);
u32 lockwright_nodes_in_use(void);
u64 lockwright_depth(u32 depth);
u32 lockwright_depths(void);
const char *lockwright_event_name(u32 event, size_t *length);
u64 lockwright_event(u32 event);
void lockwright_reset_events(void);

/* The Rust part: the laws of its platforms, in a module that is built with them. */
bool lockwright_has_laws(void);
bool lockwright_check_laws(u32 times);
void lockwright_body(const void *bodies, u32 at);

/* What the Rust part calls and reads. */
bool lockwright_is_urgent(void);
bool lockwright_is_unmaskable(void);
void lockwright_sleep(const u32 *word, u32 expected, u64 deadline_ns);
void lockwright_wake(struct task_struct *task);
struct task_struct *lockwright_current(void);
bool lockwright_is_running(const struct task_struct *task);
bool lockwright_need_resched(void);
bool lockwright_run_bodies(const void *bodies, u32 count);
void lockwright_say_of_laws(const char *line, u32 length, u32 is_last);
DECLARE_PER_CPU(u32, lockwright_cpu);

/* main.c: the lock that answers to a name, or LOCKWRIGHT_NO_LOCK. */
u32 lockwright_find(const char *name);
/* For the torture: the same if the lock spins or is a semaphore, and its functions. Preemption is off, once. */
u32 lockwright_find_torturable(const char *name);
bool lockwright_has_sleepers(u32 lock);
bool lockwright_has_readers(u32 lock);
void lockwright_make(u32 lock, struct lockwright_place *place);
void lockwright_take(u32 lock, struct lockwright_place *place, bool reads);
void lockwright_give(u32 lock, struct lockwright_place *place, bool reads);

/* replace.c */
/* Which way the trampoline goes: to the kernel's slow path, to ours, or to a wait without a queue. */
enum { LOCKWRIGHT_KERNELS, LOCKWRIGHT_OURS, LOCKWRIGHT_UNQUEUED };
extern u8 lockwright_path;
DECLARE_PER_CPU(u64, lockwright_passed);
DECLARE_PER_CPU(u64, lockwright_diverted);
void lockwright_trampoline(void);
void lockwright_contend(u32 *lock, u32 seen);
void lockwright_unqueued(u32 *lock, u32 seen);
int lockwright_replace_by(const char *name);
int lockwright_detach(void);
void lockwright_free_filters(void);
void lockwright_show_status(struct seq_file *out);

/* events.c */
void lockwright_events_init(struct dentry *parent);

/* laws.c */
void lockwright_laws_init(struct dentry *parent);
/* A lock of this module is used from here on. */
void lockwright_laws_used(void);

#endif
