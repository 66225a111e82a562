/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The few fields of kernel structures that the programs read. libbpf relocates each access to the
 * running kernel (CO-RE), so these need neither all fields nor the right order.
 */
#ifndef LOADLINE_TYPES_H
#define LOADLINE_TYPES_H

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed char __s8;
typedef short __s16;
typedef int __s32;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef __u8 bool;

/* Numbers of the kernel's interface with its users: they cannot change. */
enum {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
};
enum { BPF_F_NO_PREALLOC = 1 };
enum { BPF_LOCAL_STORAGE_GET_F_CREATE = 1 };
enum { BPF_RB_NO_WAKEUP = 1 };

#define RELOCATED __attribute__((preserve_access_index))

struct upid {
	int nr;
} RELOCATED;

struct pid {
	unsigned int level;
	struct upid numbers[1];
} RELOCATED;

struct sched_entity {
	__u64 sum_exec_runtime;
} RELOCATED;

struct task_struct {
	struct sched_entity se;
	int pid;
	int tgid;
	int wake_cpu;
	unsigned int __state;
	unsigned long nvcsw, nivcsw;
	void *stack;
	struct pid *thread_pid;
} RELOCATED;

/* Before Linux 5.14 the state had another name and width. */
struct task_struct___5_13 {
	volatile long state;
} RELOCATED;

struct in6_addr {
	__u8 bytes[16];
} RELOCATED;

/* Of an IPv4 connection through a socket for both families the second pair of addresses has it, too. */
struct sock_common {
	__be32 skc_daddr, skc_rcv_saddr;
	__be16 skc_dport;
	unsigned short skc_family;
	struct in6_addr skc_v6_daddr, skc_v6_rcv_saddr;
} RELOCATED;

struct sock {
	struct sock_common __sk_common;
	struct socket *sk_socket;
} RELOCATED;

struct inet_sock {
	__be16 inet_sport;
} RELOCATED;

struct super_block {
	unsigned int s_dev;
} RELOCATED;

struct inode {
	unsigned short i_mode;
	unsigned long i_ino;
	__u32 i_generation;
	struct super_block *i_sb;
} RELOCATED;

struct file {
	struct inode *f_inode;
	const void *f_op;
} RELOCATED;

struct bpf_iter_meta {
	struct seq_file *seq;
} RELOCATED;

/* What programs of iterators are given: their layout is the kernel's interface. */
struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

struct bpf_iter__task_file {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	__u32 fd __attribute__((aligned(8)));
	struct file *file;
};

struct socket {
	short type;
} RELOCATED;

struct socket_alloc {
	struct socket socket;
	struct inode vfs_inode;
} RELOCATED;

#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long di, si, dx, orig_ax;
} RELOCATED;
#define CALL_NUMBER(regs) ((int)(regs)->orig_ax)
#define CALL_ARG0(regs) ((regs)->di)
#define CALL_ARG1(regs) ((regs)->si)
#define CALL_ARG2(regs) ((regs)->dx)
#elif defined(__TARGET_ARCH_arm64)
struct pt_regs {
	__u64 regs[31];
	__u64 orig_x0;
	int syscallno;
} RELOCATED;
#define CALL_NUMBER(regs) ((regs)->syscallno)
#define CALL_ARG0(regs) ((regs)->orig_x0)
#define CALL_ARG1(regs) ((regs)->regs[1])
#define CALL_ARG2(regs) ((regs)->regs[2])
#else
#error "the registers of a system call are known for x86_64 and arm64 only"
#endif

#endif
