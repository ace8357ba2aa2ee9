#include "lab/tool.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "lab/cgroup.h"
#include "lab/process.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define ARGS_MAX 128
#define RUN_LIMIT_MS 60000 /* no command of a lab takes longer */
#define LOG_MAX (64 << 20)
#define OUTPUT_MAX (16 << 20)

/* Everything that a child needs, prepared before fork(): between fork() and exec() hardly anything
 * is allowed, because other threads may have held locks. */
struct launch {
	char program[PATH_MAX];
	char *const *argv;
	char *const *env;
	int netns, cgroup[2]; /* -1: do not change it */
	int out, err;	      /* its standard output and error */
	int pid_file;	      /* -1: none */
	bool dies_with_us;
};

/* The error of a child. */
struct launch_failure {
	char what[24];
	int code;
};

static bool find_in(const char *dirs, const char *program, char *buf, size_t size)
{
	while (*dirs) {
		size_t len = strcspn(dirs, ":");

		if (len && (size_t)snprintf(buf, size, "%.*s/%s", (int)len, dirs, program) < size &&
			access(buf, X_OK) == 0)
			return true;
		dirs += len + (dirs[len] == ':');
	}
	return false;
}

static bool find_program(const char *program, char *buf, size_t size)
{
	const char *path = getenv("PATH");

	if (strchr(program, '/'))
		return (size_t)snprintf(buf, size, "%s", program) < size && access(buf, X_OK) == 0;
	return find_in(path ? path : "", program, buf, size) ||
		find_in("/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin", program, buf, size);
}

bool tool_exists(const char *program)
{
	char buf[PATH_MAX];

	return find_program(program, buf, sizeof(buf));
}

/* In the child: report the error, and exit. */
static void child_fail(int report, const char *what)
{
	struct launch_failure f = {.code = errno};

	strncpy(f.what, what, sizeof(f.what) - 1);
	if (write(report, &f, sizeof(f)) < 0)
		_exit(126);
	_exit(127);
}

/* The child does not inherit the parent's handlers and mask. */
static void child_signals(void)
{
	struct sigaction dfl = {.sa_handler = SIG_DFL};
	sigset_t none;

	for (int s = 1; s < NSIG; s++)
		sigaction(s, &dfl, NULL); /* fails for SIGKILL and the like, which have no
					   * handlers */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Some programs are meant to crash; their core files must not fill the working directory. */
static void child_limits(void)
{
	struct rlimit core;

	if (getrlimit(RLIMIT_CORE, &core) < 0)
		return;
	core.rlim_cur = 0;
	setrlimit(RLIMIT_CORE, &core);
}

static bool child_descriptors(const struct launch *l, int null, int report)
{
	return dup2(null, STDIN_FILENO) >= 0 && dup2(l->out, STDOUT_FILENO) >= 0 &&
		dup2(l->err, STDERR_FILENO) >= 0 && fcntl(report, F_SETFD, FD_CLOEXEC) == 0 &&
		syscall(SYS_close_range, 3U, ~0U, 4U /* CLOSE_RANGE_CLOEXEC */) == 0;
}

/* The child writes its own pid file, so that it never runs without it. */
static bool child_note(int fd)
{
	char line[PROCESS_LINE_MAX];
	int len = process_line(line);

	return len > 0 && write(fd, line, (size_t)len) == len;
}

_Noreturn static void child(const struct launch *l, int null, int report, pid_t parent)
{
	child_signals();
	child_limits();
	setsid(); /* keys pressed at the terminal are for this process, not for children */
	if (l->dies_with_us) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(127);
	}
	for (unsigned i = 0; i < 2; i++) {
		if (l->cgroup[i] >= 0 && write(l->cgroup[i], "0", 1) != 1)
			child_fail(report, "enter its control group");
	}
	if (l->netns >= 0 && setns(l->netns, CLONE_NEWNET) < 0)
		child_fail(report, "enter its namespace");
	if (l->pid_file >= 0 && !child_note(l->pid_file))
		child_fail(report, "write its pid file");
	if (!child_descriptors(l, null, report))
		child_fail(report, "set up its files");
	execve(l->program, l->argv, l->env);
	child_fail(report, "start");
	_exit(127);
}

/* Wait until the other end closes (it executes) or reports an error. */
static int await_exec(int fd, pid_t pid, const char *name, struct lp_err *err)
{
	struct launch_failure f = {0};
	ssize_t n;

	do {
		n = read(fd, &f, sizeof(f));
	} while (n < 0 && errno == EINTR);
	if (n == 0)
		return 0;
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	f.what[sizeof(f.what) - 1] = '\0';
	return lp_err_sys(err, f.code ? -f.code : -EIO, "%s: cannot %s", name, f.what);
}

static int launch(const struct launch *l, pid_t *ret_pid, struct lp_err *err)
{
	_cleanup_close_ int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	_cleanup_close_ int report_read = -1, report_write = -1;
	pid_t self = getpid(), pid;
	int ends[2], r;

	if (null < 0)
		return lp_err_sys(err, -errno, "/dev/null");
	if (pipe2(ends, O_CLOEXEC) < 0)
		return lp_err_sys(err, -errno, "cannot make a pipe");
	report_read = ends[0];
	report_write = ends[1];
	pid = fork();
	if (pid < 0)
		return lp_err_sys(err, -errno, "%s: cannot start a process", l->argv[0]);
	if (pid == 0) {
		struct launch mine = *l;

		mine.out = l->out < 0 ? null : l->out;
		mine.err = l->err < 0 ? null : l->err;
		child(&mine, null, report_write, self);
	}
	close(TAKE_FD(report_write));
	r = await_exec(report_read, pid, l->argv[0], err);
	if (r == 0)
		*ret_pid = pid;
	return r;
}

static int launch_program(struct launch *l, struct lp_err *err)
{
	if (!l->argv[0])
		return lp_err_set(err, -EINVAL, "no program to run");
	if (!find_program(l->argv[0], l->program, sizeof(l->program)))
		return lp_err_set(err, -ENOENT, "there is no program '%s'", l->argv[0]);
	return 0;
}

static int open_netns(const char *netns, int *ret_fd, struct lp_err *err)
{
	char path[PATH_MAX];
	int fd;

	if (!netns)
		return 0;
	snprintf(path, sizeof(path), "/run/netns/%s", netns);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return lp_err_sys(err, -errno, "network namespace %s", netns);
	*ret_fd = fd;
	return 0;
}

/* Split at blanks, in place. */
static int split(char *command, char *argv[ARGS_MAX], struct lp_err *err)
{
	char *rest = NULL;
	unsigned n = 0;

	for (char *word = strtok_r(command, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		if (n + 1 >= ARGS_MAX)
			return lp_err_set(err, -E2BIG, "%s: too many arguments", argv[0]);
		argv[n++] = word;
	}
	argv[n] = NULL;
	return 0;
}

static int memory_file(const char *name, int *ret_fd, struct lp_err *err)
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	if (fd < 0)
		return lp_err_sys(err, -errno, "cannot store the output of a program");
	*ret_fd = fd;
	return 0;
}

static char *memory_text(int fd)
{
	_cleanup_free_ char *text = NULL;
	off_t size = lseek(fd, 0, SEEK_END);
	ssize_t n;

	if (size < 0 || size > OUTPUT_MAX)
		return NULL;
	text = malloc((size_t)size + 1);
	n = text ? file_pread_full(fd, text, (size_t)size, 0) : -1;
	if (n < 0)
		return NULL;
	text[n] = '\0';
	return TAKE_PTR(text);
}

/* The last line that is not empty; modifies `text`. */
static const char *last_line(char *text)
{
	size_t len = strlen(text);
	char *line;

	while (len && strchr("\r\n\t ", text[len - 1]))
		text[--len] = '\0';
	line = strrchr(text, '\n');
	return line ? line + 1 : text;
}

void tool_last_words(const char *log, char *buf, size_t size)
{
	_cleanup_free_ char *text = NULL;
	size_t len = 0;

	if (file_slurp(log, LOG_MAX, &text, &len, NULL) < 0)
		snprintf(buf, size, "%s", "");
	else
		snprintf(buf, size, "%s", last_line(text));
}

/* Wait for the end of a child, but not forever. */
static int await_end(pid_t pid, const char *command, int *ret_status, struct lp_err *err)
{
	bool in_time = process_wait(pid, RUN_LIMIT_MS);

	if (!in_time)
		kill(-pid, SIGKILL);
	while (waitpid(pid, ret_status, 0) < 0) {
		if (errno != EINTR)
			return lp_err_sys(err, -errno, "cannot wait for '%s'", command);
	}
	if (!in_time)
		return lp_err_set(err, -ETIMEDOUT, "'%s' did not end within %d s", command,
			RUN_LIMIT_MS / 1000);
	return 0;
}

static int judge(int status, int said_fd, const char *command, struct lp_err *err)
{
	_cleanup_free_ char *said = NULL;
	const char *line;

	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	said = memory_text(said_fd);
	line = said ? last_line(said) : "";
	if (*line)
		return lp_err_set(err, -EIO, "'%s' failed: %s", command, line);
	if (WIFSIGNALED(status))
		return lp_err_set(
			err, -EIO, "'%s' was killed by signal %d", command, WTERMSIG(status));
	return lp_err_set(err, -EIO, "'%s' failed with exit code %d", command, WEXITSTATUS(status));
}

static int run(char *command, const char *netns, char **ret_text, struct lp_err *err)
{
	_cleanup_close_ int out = -1, said = -1, ns = -1;
	_cleanup_free_ char *words = strdup(command);
	char *argv[ARGS_MAX] = {NULL};
	struct launch l = {.argv = argv,
		.env = environ,
		.cgroup = {-1, -1},
		.pid_file = -1,
		.dies_with_us = true};
	int r, status = 0;
	pid_t pid;

	if (!words)
		return lp_err_sys(err, -ENOMEM, "%s", command);
	r = split(words, argv, err);
	if (r == 0)
		r = launch_program(&l, err);
	if (r == 0)
		r = open_netns(netns, &ns, err);
	if (r == 0)
		r = memory_file("stderr", &said, err);
	if (r == 0 && ret_text)
		r = memory_file("stdout", &out, err);
	if (r < 0)
		return r;
	l.netns = ns;
	l.out = out;
	l.err = said;
	r = launch(&l, &pid, err);
	if (r == 0)
		r = await_end(pid, command, &status, err);
	if (r == 0)
		r = judge(status, said, command, err);
	if (r == 0 && ret_text) {
		*ret_text = memory_text(out);
		if (!*ret_text)
			r = lp_err_sys(err, -ENOMEM, "%s", command);
	}
	return r;
}

__attribute__((format(printf, 4, 0))) static int run_formatted(
	const char *netns, char **ret_text, struct lp_err *err, const char *fmt, va_list args)
{
	char *command = NULL;
	int r;

	if (vasprintf(&command, fmt, args) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot run a program");
	r = run(command, netns, ret_text, err);
	free(command);
	return r;
}

int tool_run(struct lp_err *err, const char *fmt, ...)
{
	va_list args;
	int r;

	va_start(args, fmt);
	r = run_formatted(NULL, NULL, err, fmt, args);
	va_end(args);
	return r;
}

int tool_output(char **ret_text, struct lp_err *err, const char *fmt, ...)
{
	va_list args;
	int r;

	va_start(args, fmt);
	r = run_formatted(NULL, ret_text, err, fmt, args);
	va_end(args);
	return r;
}

int tool_run_in(const char *netns, struct lp_err *err, const char *fmt, ...)
{
	va_list args;
	int r;

	va_start(args, fmt);
	r = run_formatted(netns, NULL, err, fmt, args);
	va_end(args);
	return r;
}

/* Does the list have a variable of the same name? */
static bool has_variable(const char *const *list, const char *variable)
{
	size_t len = strcspn(variable, "=") + 1;

	for (; list && *list; list++) {
		if (!strncmp(*list, variable, len))
			return true;
	}
	return false;
}

/* The current environment with additions and replacements; strings are not copied. A name must be
 * unique, because shells differ in which of two equal names counts. */
static char **join_env(const char *const *more)
{
	size_t n = 0, n_more = 0, out = 0;
	char **env;

	while (environ[n])
		n++;
	while (more && more[n_more])
		n_more++;
	env = calloc(n + n_more + 1, sizeof(*env));
	if (!env)
		return NULL;
	for (size_t i = 0; i < n_more; i++)
		env[out++] = (char *)more[i];
	for (size_t i = 0; i < n; i++) {
		if (!has_variable(more, environ[i]))
			env[out++] = environ[i];
	}
	return env;
}

static int open_file(const char *path, int flags, int *ret_fd, struct lp_err *err)
{
	int fd;

	if (!path)
		return 0;
	fd = open(path, flags | O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0)
		return lp_err_sys(err, -errno, "%s", path);
	*ret_fd = fd;
	return 0;
}

static int open_procs(const char *cgroup, int *ret_fd, struct lp_err *err)
{
	char path[PATH_MAX];
	int fd;

	if ((size_t)snprintf(path, sizeof(path), "%s/cgroup.procs", cgroup) >= sizeof(path))
		return lp_err_sys(err, -ENAMETOOLONG, "%s", cgroup);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return lp_err_sys(err, -errno, "%s", path);
	*ret_fd = fd;
	return 0;
}

static int open_cgroups(const char *cgroup, int *ret_cpu, int *ret_cpuacct, struct lp_err *err)
{
	char counting[PATH_MAX];
	int r = 0;

	if (!cgroup || !*cgroup)
		return 0;
	r = open_procs(cgroup, ret_cpu, err);
	if (r == 0 && cgroup_cpuacct(cgroup, counting, sizeof(counting)))
		r = open_procs(counting, ret_cpuacct, err);
	return r;
}

int tool_spawn(const struct spawn *s, pid_t *ret_pid, struct lp_err *err)
{
	_cleanup_close_ int ns = -1, log = -1, pid_file = -1, cpu = -1, cpuacct = -1;
	_cleanup_free_ char **env = join_env(s->env);
	struct launch l = {.argv = (char *const *)s->argv, .env = env};
	pid_t pid;
	int r;

	if (!env)
		return lp_err_sys(err, -ENOMEM, "%s", s->argv[0]);
	r = launch_program(&l, err);
	if (r == 0)
		r = open_netns(s->netns, &ns, err);
	if (r == 0)
		r = open_cgroups(s->cgroup, &cpu, &cpuacct, err);
	if (r == 0)
		r = open_file(s->log, O_APPEND, &log, err);
	if (r == 0)
		r = open_file(s->pid_file, O_TRUNC, &pid_file, err);
	if (r < 0)
		return r;
	l.netns = ns;
	l.cgroup[0] = cpu;
	l.cgroup[1] = cpuacct;
	l.out = l.err = log;
	l.pid_file = pid_file;
	r = launch(&l, &pid, err);
	if (r < 0 && s->pid_file)
		unlink(s->pid_file);
	if (r == 0 && ret_pid)
		*ret_pid = pid;
	return r;
}

int tool_self(char *buf, size_t size, struct lp_err *err)
{
	ssize_t n = readlink("/proc/self/exe", buf, size);

	if (n < 0)
		return lp_err_sys(err, -errno, "/proc/self/exe");
	if ((size_t)n >= size)
		return lp_err_set(err, -ENAMETOOLONG, "the path of this program is too long");
	buf[n] = '\0';
	return 0;
}
