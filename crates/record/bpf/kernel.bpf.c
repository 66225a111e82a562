/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * What the scheduler does with the target's threads, who its connections were with, what it has open
 * and, if asked, its threads' system calls.
 *
 * Every program asks first whether a thread is the target's; all others cost one comparison.
 * A record goes into the ring of the CPU that it happens on, without waking the reader; one that
 * finds no room is counted in `lost`. Layout of records: crates/trace/src/spool/kernel.rs.
 */
#include "types.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_tracing.h>

/* The kernel gives its tracing helpers only to programs under the GPL. */
char LICENSE[] SEC("license") = "GPL";

enum { SWITCH = 1, WAKING, WAKEUP, NEW, EXIT, SYSCALL };
enum { LEFT_RUNNABLE, LEFT_BLOCKED, LEFT_UNINTERRUPTIBLE, LEFT_DEAD, LEFT_STOPPED };
enum { PREV_TRACED = 1 << 4, NEXT_TRACED = 1 << 5, CPU_TIME_TOLD = 1 << 6 };
/* The CPU time of who leaves is told in units of 64 ns. */
#define CPU_TIME_SHIFT 6
enum { BY_INTERRUPT = 1 << 0, BY_THREAD = 1 << 1 };

/* How the first argument of a call names a descriptor. */
enum { FD_NONE, FD_FIRST, FD_POLL };
#define CALLS 512

struct record {
	__u64 ts;
	__u8 type, flags;
	__u16 cpu;
	__u32 tid, a, b;
	__u64 c;
};

struct call_record {
	struct record head;
	__u64 begin, arg2;
	__s64 result;
};

struct call {
	__u64 begin; /* 0: not in a call that was seen to begin */
	__u64 arg0, arg1, arg2;
	__u32 number;
};

/* Set before loading. */
const volatile bool switch_has_state = 1; /* sched_switch tells prev_state (Linux 5.18) */
const volatile __u8 fd_of_call[CALLS] = {};

/* The process that is recorded, by its id in the initial pid namespace; set before attaching. */
volatile __u32 target = 0;

struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 16);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct ring);
} rings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} lost SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct call);
} calls SEC(".maps");

/* Of a connection that was closed; layout: closed.rs. */
struct closed {
	__u64 ts;
	__u16 local_port, remote_port;
	bool is_ipv4;
	__u8 unused[3];
	struct in6_addr local, remote;
	/* Of its socket; 0 while the rest is being written. */
	__u64 inode;
};

/* By the last bits of the socket's inode, which the kernel numbers one after the other: the oldest make room. Who asks does
 * so within a second or two, for those it saw open. Also in closed.rs. */
#define CLOSED 32768

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, CLOSED);
	__type(key, __u32);
	__type(value, struct closed);
} closed_sockets SEC(".maps");

static __always_inline bool traced(__u32 tgid)
{
	return tgid == target;
}

static __always_inline void *reserve(__u32 cpu, __u64 size)
{
	void *ring = bpf_map_lookup_elem(&rings, &cpu);
	void *room = ring ? bpf_ringbuf_reserve(ring, size, 0) : 0;
	if (!room) {
		__u32 zero = 0;
		__u64 *count = bpf_map_lookup_elem(&lost, &zero);
		if (count)
			__sync_fetch_and_add(count, 1);
	}
	return room;
}

static __always_inline void emit(__u8 type, __u8 flags, __u32 tid, __u32 a, __u32 b, __u64 c)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct record *r = reserve(cpu, sizeof *r);
	if (!r)
		return;
	r->ts = bpf_ktime_get_ns();
	r->type = type;
	r->flags = flags;
	r->cpu = cpu;
	r->tid = tid;
	r->a = a;
	r->b = b;
	r->c = c;
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
}

static __always_inline __u8 left(bool preempted, __u32 state)
{
	/* Bits of the kernel's task states, the same since 4.14. */
	if (preempted || state == 0)
		return LEFT_RUNNABLE;
	if (state & (0x80 | 0x20 | 0x10))
		return LEFT_DEAD;
	if (state & (0x8 | 0x4))
		return LEFT_STOPPED;
	return state & 0x2 ? LEFT_UNINTERRUPTIBLE : LEFT_BLOCKED;
}

static __always_inline __u32 state_of(struct task_struct *task)
{
	if (bpf_core_field_exists(task->__state))
		return BPF_CORE_READ(task, __state);
	return BPF_CORE_READ((struct task_struct___5_13 *)task, state);
}

static __always_inline __s32 fd_of(__u32 number, __u64 arg0, __u64 arg1)
{
	if (number >= CALLS)
		return -1;
	__u8 how = fd_of_call[number];
	if (how == FD_FIRST)
		return arg0;
	/* The JDK waits for one socket by poll with one entry, whose first field is the descriptor. */
	__s32 fd;
	if (how == FD_POLL && arg1 == 1 && bpf_probe_read_user(&fd, sizeof fd, (void *)arg0) == 0)
		return fd;
	return -1;
}

SEC("tp_btf/sched_switch")
int on_switch(__u64 *ctx)
{
	bool preempted = ctx[0];
	struct task_struct *prev = (void *)ctx[1];
	struct task_struct *next = (void *)ctx[2];
	__u8 flags = 0;
	if (traced(prev->tgid))
		flags |= PREV_TRACED;
	if (traced(next->tgid))
		flags |= NEXT_TRACED;
	if (!flags)
		return 0;

	__u32 call = 0, cpu_time = 0;
	__s32 fd = -1;
	if (flags & PREV_TRACED) {
		__u32 state = switch_has_state ? (__u32)ctx[3] : state_of(prev);
		__u8 how = left(preempted, state);
		flags |= how | CPU_TIME_TOLD;
		cpu_time = prev->se.sum_exec_runtime >> CPU_TIME_SHIFT;
		if (how == LEFT_BLOCKED || how == LEFT_UNINTERRUPTIBLE) {
			/* -1 outside a call: in a page fault, say. */
			struct pt_regs *regs = (void *)bpf_task_pt_regs(bpf_get_current_task_btf());
			int number = CALL_NUMBER(regs);
			if (number >= 0) {
				call = number + 1;
				fd = fd_of(number, CALL_ARG0(regs), CALL_ARG1(regs));
			}
		}
	}
	emit(SWITCH, flags, prev->pid, next->pid, call, (__u64)cpu_time << 32 | (__u32)fd);
	return 0;
}

/* Who wakes: the thread that is on the CPU, or an interrupt that came upon it.
 *
 * The count that the kernel keeps of this cannot be read by programs everywhere, and marks set at
 * the tracepoints of interrupts would tax every interrupt of the machine. It can be told from where
 * we are. An interrupt of kernel code runs on a stack of its own; `here` lies on the present one. One
 * of user code may stay on the thread's stack, at whose top the thread's registers then say that it
 * came into the kernel without a system call. By system calls only do threads wake others, but for
 * page faults, which may let go of a lock of the memory map and pass for interrupts here. */
static __always_inline __u8 who_wakes(void *here)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *regs = (void *)bpf_task_pt_regs(task);
	bool on_its_stack = (__u64)here >= (__u64)task->stack && (__u64)here < (__u64)regs;
	/* A thread of the kernel has none, and zeroes there. */
	return on_its_stack && CALL_NUMBER(regs) >= 0 ? BY_THREAD : BY_INTERRUPT;
}

SEC("tp_btf/sched_waking")
int on_waking(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	if (!traced(task->tgid))
		return 0;
	__u64 waker = bpf_get_current_pid_tgid();
	emit(WAKING, who_wakes(ctx), task->pid, waker, waker >> 32, 0);
	return 0;
}

SEC("tp_btf/sched_wakeup")
int on_wakeup(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	if (traced(task->tgid))
		emit(WAKEUP, 0, task->pid, 0, task->wake_cpu, 0);
	return 0;
}

SEC("tp_btf/sched_wakeup_new")
int on_new(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	if (!traced(task->tgid))
		return 0;
	struct pid *id = task->thread_pid;
	__u32 level = BPF_CORE_READ(id, level);
	__u32 own = 0;
	/* The array is longer than declared: one entry for each namespace around the thread. */
	bpf_core_read(&own, sizeof own, &id->numbers[level].nr);
	emit(NEW, 0, task->pid, own, (__u32)bpf_get_current_pid_tgid(), 0);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int on_exit(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	if (traced(task->tgid))
		emit(EXIT, 0, task->pid, 0, 0, 0);
	return 0;
}

enum { AF_INET = 2 };
/* Of the states of TCP, the same since ever. */
enum { FIN_WAIT1 = 4, FIN_WAIT2, TIME_WAIT, CLOSE, CLOSE_WAIT, LAST_ACK, LISTEN, CLOSING };

/* A connection has its addresses, and still its socket, when a thread closes it, or shuts it down
 * before that. /proc's tables have them too, but to find one socket there takes a walk through all
 * of the machine's, and those of a second are gone by then. */
SEC("tp_btf/inet_sock_set_state")
int on_connection(__u64 *ctx)
{
	int state = ctx[2];
	if (state < FIN_WAIT1 || state == CLOSE_WAIT || state == LISTEN)
		return 0;
	/* In an interrupt it would be anybody's. */
	if (!traced(bpf_get_current_pid_tgid() >> 32) || who_wakes(ctx) != BY_THREAD)
		return 0;
	struct sock *sk = (void *)ctx[0];
	struct socket *socket = sk->sk_socket;
	__be16 port = sk->__sk_common.skc_dport;
	if (!socket || !port)
		return 0;
	struct socket_alloc *alloc = (void *)socket - bpf_core_field_offset(struct socket_alloc, socket);
	__u64 inode = BPF_CORE_READ(alloc, vfs_inode.i_ino);
	/* Not skc_num: a socket that is shut down and done has given its port back. */
	__be16 local_port = BPF_CORE_READ((struct inet_sock *)sk, inet_sport);
	__u32 place = inode % CLOSED;
	struct closed *closed = bpf_map_lookup_elem(&closed_sockets, &place);
	if (!closed)
		return 0;
	closed->inode = 0;
	barrier();
	closed->ts = bpf_ktime_get_ns();
	closed->local_port = bpf_ntohs(local_port);
	closed->remote_port = bpf_ntohs(port);
	closed->is_ipv4 = sk->__sk_common.skc_family == AF_INET;
	if (closed->is_ipv4) {
		__be32 local = sk->__sk_common.skc_rcv_saddr, remote = sk->__sk_common.skc_daddr;
		__builtin_memcpy(&closed->local, &local, sizeof local);
		__builtin_memcpy(&closed->remote, &remote, sizeof remote);
	} else if (bpf_core_field_exists(sk->__sk_common.skc_v6_daddr)) {
		BPF_CORE_READ_INTO(&closed->local, sk, __sk_common.skc_v6_rcv_saddr);
		BPF_CORE_READ_INTO(&closed->remote, sk, __sk_common.skc_v6_daddr);
	}
	barrier();
	closed->inode = inode;
	return 0;
}

enum { S_IFMT = 0170000, S_IFSOCK = 0140000 };

/* What a descriptor leads to, layout of crates/record/src/opened.rs. One file is told from another
 * by its device and inode, whose number may be used again, then with another generation; files
 * without a name share one inode, not their operations. */
struct opened {
	__u64 fd, is_socket;
	__u64 inode, device, generation, operations;
};

/* Read by who wants to know what the target has open: /proc takes a call for each. */
SEC("iter/task_file")
int on_descriptor(struct bpf_iter__task_file *ctx)
{
	struct file *file = ctx->file;
	if (!ctx->task || !file)
		return 0; /* the end */
	struct inode *inode = file->f_inode;
	struct opened opened = {
		.fd = ctx->fd,
		.is_socket = (inode->i_mode & S_IFMT) == S_IFSOCK,
		.inode = inode->i_ino,
		.device = inode->i_sb->s_dev,
		.generation = inode->i_generation,
		.operations = (__u64)file->f_op,
	};
	bpf_seq_write(ctx->meta->seq, &opened, sizeof opened);
	return 0;
}

struct switches {
	__u64 voluntary, involuntary;
};

/* How often each of the target's threads has left its CPU: in /proc that is one line of fifty in a
 * text for each thread. */
SEC("iter/task")
int on_thread(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	if (!task)
		return 0; /* the end */
	struct switches switches = { .voluntary = task->nvcsw, .involuntary = task->nivcsw };
	bpf_seq_write(ctx->meta->seq, &switches, sizeof switches);
	return 0;
}

SEC("tp_btf/sys_enter")
int on_sys_enter(__u64 *ctx)
{
	if (!traced(bpf_get_current_pid_tgid() >> 32))
		return 0;
	struct pt_regs *regs = (void *)ctx[0];
	struct call *call = bpf_task_storage_get(&calls, bpf_get_current_task_btf(), 0,
						 BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!call)
		return 0;
	call->number = ctx[1];
	call->arg0 = CALL_ARG0(regs);
	call->arg1 = CALL_ARG1(regs);
	call->arg2 = CALL_ARG2(regs);
	call->begin = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/sys_exit")
int on_sys_exit(__u64 *ctx)
{
	__u64 id = bpf_get_current_pid_tgid();
	if (!traced(id >> 32))
		return 0;
	struct call *call = bpf_task_storage_get(&calls, bpf_get_current_task_btf(), 0, 0);
	if (!call || !call->begin)
		return 0; /* it began before we did */
	__u32 cpu = bpf_get_smp_processor_id();
	struct call_record *r = reserve(cpu, sizeof *r);
	if (r) {
		r->head.ts = bpf_ktime_get_ns();
		r->head.type = SYSCALL;
		r->head.flags = 0;
		r->head.cpu = cpu;
		r->head.tid = id;
		r->head.a = call->number;
		r->head.b = call->arg0;
		r->head.c = call->arg1;
		r->begin = call->begin;
		r->arg2 = call->arg2;
		r->result = ctx[1];
		bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	}
	call->begin = 0;
	return 0;
}
