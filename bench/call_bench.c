/* The cost of a system call: nanoseconds of getppid(), and of a pread() of one byte. It prints the
 * minimum of many batches, so a busy machine disturbs little.
 *
 *   call_bench           as it is
 *   call_bench return    with programs at both tracepoints of system calls that only return
 *   call_bench clock     with such that only read the clock: less than that no tracer can cost
 */
#include "clock.h"

#include <fcntl.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BATCH 5000
#define BATCHES 200

static void measure(int fd)
{
	double least_getppid = 1e9, least_pread = 1e9;
	char byte;

	for (int i = 0; i < BATCHES; i++) {
		double begin = seconds(), ns;

		for (int k = 0; k < BATCH; k++)
			syscall(SYS_getppid);
		ns = (seconds() - begin) * 1e9 / BATCH;
		least_getppid = ns < least_getppid ? ns : least_getppid;
		begin = seconds();
		for (int k = 0; k < BATCH; k++) {
			if (pread(fd, &byte, 1, 0) != 1)
				exit(1);
		}
		ns = (seconds() - begin) * 1e9 / BATCH;
		least_pread = ns < least_pread ? ns : least_pread;
	}
	printf("%.1f %.1f\n", least_getppid, least_pread);
}

static int bpf(int command, union bpf_attr *attr)
{
	int r = (int)syscall(SYS_bpf, command, attr, sizeof(*attr));

	if (r < 0) {
		perror("call_bench: bpf");
		exit(77);
	}
	return r;
}

/* Attached until this process ends. */
static void attach(const char *tracepoint, bool clock)
{
	const struct bpf_insn read_clock = {
		.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_ktime_get_ns};
	const struct bpf_insn zero = {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0};
	const struct bpf_insn end = {.code = BPF_JMP | BPF_EXIT};
	const struct bpf_insn program[] = {clock ? read_clock : zero, zero, end};
	union bpf_attr load = {.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
		.insn_cnt = sizeof(program) / sizeof(program[0]),
		.insns = (uint64_t)(uintptr_t)program,
		.license = (uint64_t)(uintptr_t) "GPL"};
	union bpf_attr open = {.raw_tracepoint.name = (uint64_t)(uintptr_t)tracepoint};

	open.raw_tracepoint.prog_fd = (uint32_t)bpf(BPF_PROG_LOAD, &load);
	bpf(BPF_RAW_TRACEPOINT_OPEN, &open);
}

int main(int argc, char **argv)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 1;
	if (argc > 1) {
		attach("sys_enter", !strcmp(argv[1], "clock"));
		attach("sys_exit", !strcmp(argv[1], "clock"));
	}
	measure(fd);
	return 0;
}
