/* The members of the kernel's structures that both tracers read: the one for system calls and the
 * one for I/O. libbpf finds their offsets when it loads the programs (CO-RE), so the build needs no
 * headers of the running kernel.
 */
#ifndef TRACE_BPF_COMMON_H
#define TRACE_BPF_COMMON_H

#ifdef __bpf__

#include <linux/bpf.h>
#include <stdint.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

struct file;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct in6_addr {
	union {
		uint8_t u6_addr8[16];
	} in6_u;
};

struct sock_common {
	uint32_t skc_daddr, skc_rcv_saddr;
	uint16_t skc_dport, skc_num;
	unsigned short skc_family;
	struct in6_addr skc_v6_daddr, skc_v6_rcv_saddr;
};

struct sock {
	struct sock_common __sk_common;
	uint16_t sk_protocol, sk_type;
};

struct socket {
	struct sock *sk;
};

struct qstr {
	const unsigned char *name;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct bpf_iter_meta {
	struct seq_file *seq;
};

#pragma clang attribute pop

/* Treats an address as that of a kernel structure, so that plain loads can read its members (a
 * fault reads as 0). It costs nothing, and needs Linux 6.2. */
extern void *bpf_rdonly_cast(const void *address, uint32_t btf_id) __attribute__((weak)) __ksym;
#define CAST(type, address) ((type *)bpf_rdonly_cast(address, bpf_core_type_id_kernel(type)))

#define FORCE_INLINE static inline __attribute__((always_inline))

#endif
#endif
