/* The targets: from the user's options to thread states in the kernel. */
#include "trace/backend_bpf.h"

#include "base/cleanup.h"
#include "trace/ptrace_proc.h"
#include "trace/targets.h"
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Add a process to the kernel's table; the next scan adds its threads. */
static int target_add(void *ctx, pid_t pid)
{
	struct bpf_tracer *t = ctx;
	uint32_t key = (uint32_t)pid, one = 1;
	int r;

	if (pid == getpid())
		return 0;
	r = bpf_map_update_elem(t->processes_fd, &key, &one, BPF_NOEXIST);
	if (r == 0)
		__atomic_add_fetch(&t->shared->n_processes, 1, __ATOMIC_RELAXED);
	return r == -EEXIST ? 0 : r;
}

static int target_add_by_name(void *ctx, pid_t pid)
{
	struct bpf_tracer *t = ctx;

	const struct trace_targets targets = {.comms = (const char *const *)t->comms,
		.n_comms = t->n_comms,
		.uids = t->uids,
		.n_uids = t->n_uids};

	return target_match(&targets, pid) == TARGET_WANTED ? target_add(t, pid) : 0;
}

/* Remove processes that ended before their threads were known; nothing else removes them. */
void bpf_targets_drop_ended(struct bpf_tracer *t)
{
	uint32_t key, next;
	bool more = bpf_map_get_next_key(t->processes_fd, NULL, &next) == 0;

	while (more) {
		key = next;
		more = bpf_map_get_next_key(t->processes_fd, &key, &next) == 0;
		if (kill((pid_t)key, 0) < 0 && errno == ESRCH &&
			bpf_map_delete_elem(t->processes_fd, &key) == 0)
			__atomic_add_fetch(&t->shared->n_processes, -1, __ATOMIC_RELAXED);
	}
}

/* Run the iterator that creates the state of each thread. */
static int scan_threads(struct bpf_tracer *t, struct lp_err *err)
{
	_cleanup_close_ int fd = bpf_iter_create(bpf_link__fd(t->scan));
	char nothing[64];
	ssize_t n;

	if (fd < 0)
		return lp_err_sys(err, -errno, "cannot list the threads");
	do {
		n = read(fd, nothing, sizeof(nothing));
	} while (n > 0 || (n < 0 && errno == EAGAIN));
	return n < 0 ? lp_err_sys(err, -errno, "cannot list the threads") : 0;
}

int bpf_targets_scan(struct bpf_tracer *t, bool all, struct lp_err *err)
{
	int r = 0;

	__atomic_store_n(&t->shared->scan, 0, __ATOMIC_SEQ_CST);
	if (all && t->cgroup) {
		r = proc_each_in_cgroup(t->cgroup, target_add, t);
		if (r < 0 && r != -ENOENT && r != -ENODEV)
			return lp_err_sys(err, r, "cannot read the processes of %s", t->cgroup);
	}
	if (all && t->n_comms)
		r = proc_each("/proc", target_add_by_name, t);
	if (r < 0 && r != -ENOENT && r != -ENODEV)
		return lp_err_sys(err, r, "cannot read /proc");
	/* Twice: a thread that the iterator has not reached yet may create another one behind
	 * it. */
	r = scan_threads(t, err);
	if (r == 0)
		r = scan_threads(t, err);
	bpf_targets_drop_ended(t);
	return r;
}

static int add_pids(struct bpf_tracer *t, const struct trace_targets *targets, struct lp_err *err)
{
	for (unsigned i = 0; i < targets->n_pids; i++) {
		pid_t pid = targets->pids[i], process = proc_tgid(pid);
		int r;

		if (process < 0)
			return lp_err_set(err, -ESRCH, "there is no process %d", pid);
		if (process == getpid())
			return lp_err_set(err, -EINVAL, "limpet does not trace itself");
		r = target_add(t, process);
		if (r < 0)
			return lp_err_sys(err, r, "cannot trace process %d", pid);
	}
	return 0;
}

static int add_comms(struct bpf_tracer *t, const struct trace_targets *targets, struct lp_err *err)
{
	int fd = bpf_tracer_map(t, "comms");

	if (targets->n_comms > BPF_COMMS_MAX || targets->n_uids > BPF_USERS_MAX)
		return lp_err_set(err, -EINVAL, "at most %d names of %d users can be traced",
			BPF_COMMS_MAX, BPF_USERS_MAX);
	t->comms = calloc(targets->n_comms + 1, sizeof(*t->comms));
	t->uids = calloc(targets->n_uids + 1, sizeof(*t->uids));
	if (!t->comms || !t->uids)
		return lp_err_sys(err, -ENOMEM, "cannot store the names");
	for (; t->n_uids < targets->n_uids; t->n_uids++)
		t->uids[t->n_uids] = targets->uids[t->n_uids];
	for (unsigned i = 0; i < targets->n_comms; i++) {
		char key[BPF_COMM_LEN] = "";
		uint32_t one = 1;
		int r;

		snprintf(key, sizeof(key), "%s", targets->comms[i]);
		t->comms[i] = strdup(key);
		if (!t->comms[i])
			return lp_err_sys(err, -ENOMEM, "cannot store the names");
		t->n_comms++;
		r = bpf_map_update_elem(fd, key, &one, BPF_ANY);
		if (r < 0)
			return lp_err_sys(err, r, "cannot trace processes by name");
	}
	return 0;
}

/* The file that execvp() would execute, because its failed attempts are not calls of the command.
 * The name itself if there is none, so that execvp() reports the error. */
static void command_path(const char *name, char ret[PATH_MAX])
{
	const char *dirs = getenv("PATH");
	struct stat st;

	for (dirs = strchr(name, '/') ? NULL : dirs; dirs; dirs = strchr(dirs, ':')) {
		size_t len;

		dirs += *dirs == ':';
		len = strcspn(dirs, ":");
		snprintf(ret, PATH_MAX, "%.*s%s%s", (int)len, dirs, len ? "/" : "./", name);
		if (access(ret, X_OK) == 0 && stat(ret, &st) == 0 && S_ISREG(st.st_mode))
			return;
	}
	snprintf(ret, PATH_MAX, "%s", name);
}

/* The child waits until tracing is ready, makes it begin (on_rename in bpf/thread.bpf.h), and
 * executes the command. */
_Noreturn static void command_child(const char *path, char *const *command, int go, int failure)
{
	char byte;

	if (read(go, &byte, 1) == 1) {
		int error;

		prctl(PR_SET_NAME, "limpet");
		execv(path, command);
		if (errno == ENOEXEC || errno == ENOENT) /* a script for a shell; or it was
							  * removed */
			execvp(command[0], command);
		error = errno;
		if (write(failure, &error, sizeof(error)) < 0)
			_exit(126); /* the parent is gone */
	}
	_exit(127);
}

/* 0 when the child has executed the command: exec closes its end of the pipe. */
static int command_began(struct bpf_tracer *t, const char *name, int failure, struct lp_err *err)
{
	int error = 0;
	ssize_t n;

	do {
		n = read(failure, &error, sizeof(error));
	} while (n < 0 && errno == EINTR);
	if (n != sizeof(error))
		return 0;
	waitpid(t->command, NULL, 0);
	t->command = 0;
	return lp_err_sys(err, -error, "cannot run %s", name);
}

static int command_start(struct bpf_tracer *t, char *const *command, struct lp_err *err)
{
	_cleanup_close_ int go_read = -1, go_write = -1, fail_read = -1, fail_write = -1;
	char path[PATH_MAX];
	int go[2], failure[2], r;

	command_path(command[0], path);
	if (pipe2(go, O_CLOEXEC) < 0)
		return lp_err_sys(err, -errno, "cannot start a command");
	go_read = go[0];
	go_write = go[1];
	if (pipe2(failure, O_CLOEXEC) < 0)
		return lp_err_sys(err, -errno, "cannot start a command");
	fail_read = failure[0];
	fail_write = failure[1];
	t->command = fork();
	if (t->command < 0)
		return lp_err_sys(err, -errno, "cannot start a command");
	if (t->command == 0) {
		close(go_write);
		command_child(path, command, go_read, fail_write);
	}
	close(TAKE_FD(fail_write));
	r = target_add(t, t->command);
	if (r < 0)
		return lp_err_sys(err, r, "cannot trace %s", command[0]);
	__atomic_store_n(&t->shared->starting, (uint32_t)t->command, __ATOMIC_SEQ_CST);
	if (write(go_write, "", 1) != 1)
		r = lp_err_sys(err, -errno, "cannot start %s", command[0]);
	if (r == 0)
		r = command_began(t, command[0], fail_read, err);
	__atomic_store_n(&t->shared->starting, 0, __ATOMIC_SEQ_CST);
	return r;
}

int bpf_targets_open(struct bpf_tracer *t, const struct trace_targets *targets, struct lp_err *err)
{
	int r = add_pids(t, targets, err);

	if (r == 0 && targets->n_comms)
		r = add_comms(t, targets, err);
	if (r == 0 && targets->cgroup) {
		t->cgroup = strdup(targets->cgroup);
		if (!t->cgroup)
			r = lp_err_sys(err, -ENOMEM, "cannot store the control group");
	}
	if (r == 0)
		r = bpf_targets_scan(t, true, err);
	if (r == 0 && targets->command)
		r = command_start(t, targets->command, err);
	t->lasting = targets->n_comms || targets->cgroup;
	if (r == 0 && !t->lasting && t->shared->n_processes <= 0 && !targets->command)
		r = lp_err_set(err, -ESRCH, "all processes to trace have ended");
	return r;
}

void bpf_targets_reap(struct bpf_tracer *t)
{
	int status;

	if (!t->command || t->command_ended)
		return;
	if (waitpid(t->command, &status, WNOHANG) == t->command) {
		t->command_status = status;
		t->command_ended = true;
		bpf_targets_drop_ended(t); /* in case the programs missed its end */
	}
}

void bpf_targets_close(struct bpf_tracer *t)
{
	for (unsigned i = 0; i < t->n_comms; i++)
		free(t->comms[i]);
	free(t->comms);
	free(t->uids);
	free(t->cgroup);
}
