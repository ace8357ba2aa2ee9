/* Checks whether it can work here, and if not, why. */
#include "trace/backend_bpf.h"

#include "base/cleanup.h"
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BTF_PATH "/sys/kernel/btf/vmlinux"
#define FIRST_PID_NAMESPACE 0xEFFFFFFCu /* PROC_PID_INIT_INO of the kernel */

/* Is the kernel's lockdown set to "confidentiality"? */
static bool locked_down(void)
{
	_cleanup_fclose_ FILE *f = fopen("/sys/kernel/security/lockdown", "re");
	char line[128] = "";

	return f && fgets(line, sizeof(line), f) && strstr(line, "[confidentiality]");
}

static int probe_place(struct lp_err *err)
{
	struct stat st;

	if (access(BTF_PATH, R_OK) < 0)
		return lp_err_set(err, -EOPNOTSUPP,
			"this kernel does not describe its types (no " BTF_PATH
			"; CONFIG_DEBUG_INFO_BTF)");
	if (stat("/proc/self/ns/pid", &st) == 0 && st.st_ino != FIRST_PID_NAMESPACE)
		return lp_err_set(err, -EOPNOTSUPP,
			"limpet is in a PID namespace, and the kernel knows processes by other "
			"ids");
	return 0;
}

/* Load a program that only gets the registers of the current task, the newest feature that the real
 * programs need (Linux 5.15), at the required tracepoint. */
static int probe_load(void)
{
	const struct bpf_insn program[] = {
		{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_current_task_btf},
		{.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_1}, /* r1 = r0 */
		{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_task_pt_regs},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K}, /* r0 = 0 */
		{.code = BPF_JMP | BPF_EXIT},
	};
	struct bpf_prog_load_opts opts = {
		.sz = sizeof(opts), .expected_attach_type = BPF_TRACE_RAW_TP};
	_cleanup_close_ int fd = -1;
	int id = libbpf_find_vmlinux_btf_id("sys_enter", BPF_TRACE_RAW_TP);

	if (id < 0)
		return -EOPNOTSUPP;
	opts.attach_btf_id = (uint32_t)id;
	fd = bpf_prog_load(BPF_PROG_TYPE_TRACING, "limpet_probe", "GPL", program,
		sizeof(program) / sizeof(program[0]), &opts);
	return fd < 0 ? -errno : 0;
}

int bpf_tracer_probe(struct lp_err *err)
{
	int r = probe_place(err);

	if (r < 0)
		return r;
	libbpf_set_print(NULL);
	r = probe_load();
	if (r == 0)
		return 0;
	if (locked_down())
		return lp_err_set(err, -EPERM,
			"the kernel is locked down (confidentiality) and lets BPF read nothing");
	if (r == -EPERM || r == -EACCES)
		return lp_err_set(err, -EPERM, "%s",
			geteuid() == 0 ? "BPF is not permitted, not even to root (a container?)"
				       : "BPF needs root (or CAP_BPF and CAP_PERFMON)");
	if (r == -EINVAL)
		return lp_err_set(err, -EOPNOTSUPP,
			"the BPF of this kernel lacks features that limpet needs (Linux 5.15 and "
			"later have them)");
	return lp_err_sys(err, -EOPNOTSUPP,
		"the kernel accepts no BPF programs at its system call tracepoints (%s)",
		strerror(-r));
}
