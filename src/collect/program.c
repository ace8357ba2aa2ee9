#include "collect/program.h"

#include "base/cleanup.h"
#include "base/file.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Programs get a fixed environment, without limpet's variables. */
static char *const environment[] = {
	(char[]){"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}, (char[]){"LC_ALL=C"}, NULL};

static bool is_recorded(const struct program *p)
{
	return p->root->dir[0] != '\0';
}

static bool output_path(const struct program *p, char ret[PATH_MAX])
{
	return snprintf(ret, PATH_MAX, "%s%s%s", p->root->dir, p->def->path,
		       is_recorded(p) ? ".out" : "") < PATH_MAX;
}

int program_open(struct program *p, const struct program_def *def, const struct proc_root *root,
	struct lp_err *err)
{
	char path[PATH_MAX];

	*p = (struct program){.def = def,
		.root = root,
		.generation = root->generation - 1,
		.fd = -1,
		.started_us = -1};
	if (!output_path(p, path) || access(path, is_recorded(p) ? R_OK : X_OK) < 0)
		return lp_err_set(err, -ENOENT, "%s%s is not there", root->dir, def->path);
	p->text = malloc(PROGRAM_OUTPUT_MAX);
	return p->text ? 0 : lp_err_sys(err, -ENOMEM, "cannot run %s", def->path);
}

/* Write its input. This never waits, because the input is shorter than the capacity of a pipe. */
static void feed(int fd, const char *input)
{
	if (input && write(fd, input, strlen(input)) < 0)
		return; /* it does not read its input, which its output will show */
}

static int spawn(struct program *p, int in, int out)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none;
	pid_t pid;
	int r;

	sigemptyset(&none);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawn_file_actions_adddup2(&actions, in, 0);
	posix_spawn_file_actions_adddup2(&actions, out, 1);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	r = posix_spawn(
		&pid, p->def->path, &actions, &attr, (char *const *)p->def->argv, environment);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
	if (r == 0)
		p->pid = pid;
	return -r;
}

static void start(struct program *p, int64_t now_us)
{
	int in[2] = {-1, -1}, out[2] = {-1, -1};

	p->started_us = now_us;
	p->len = 0;
	if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
		p->failed = true;
	else
		p->failed = spawn(p, in[0], out[1]) < 0;
	if (!p->failed) {
		feed(in[1], p->def->input);
		fcntl(out[0], F_SETFL, O_NONBLOCK);
		p->fd = TAKE_FD(out[0]);
	}
	for (int i = 0; i < 2; i++) {
		if (in[i] >= 0)
			close(in[i]);
		if (out[i] >= 0)
			close(out[i]);
	}
}

/* End a run; true if the program exited successfully by itself. */
static bool finish(struct program *p, bool kill_it)
{
	int status = 0;

	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
	if (!p->pid)
		return false;
	if (kill_it)
		kill(-p->pid, SIGKILL);
	while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR)
		;
	p->pid = 0;
	return !kill_it && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Read available output. Returns 1 at the end of the output, 0 if more may come, -1 if it is too
 * large. */
static int drain(struct program *p)
{
	for (;;) {
		ssize_t n = read(p->fd, p->text + p->len, PROGRAM_OUTPUT_MAX - 1 - p->len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -1;
		if (n == 0)
			return 1;
		p->len += (size_t)n;
		if (p->len == PROGRAM_OUTPUT_MAX - 1)
			return -1;
	}
}

/* The output from the time at which the tree was recorded, once per moment. */
static const char *read_recorded(struct program *p)
{
	_cleanup_close_ int fd = -1;
	char path[PATH_MAX];
	ssize_t n;

	if (p->generation == p->root->generation || !output_path(p, path))
		return NULL;
	p->generation = p->root->generation;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	n = fd < 0 ? -1 : file_pread_full(fd, p->text, PROGRAM_OUTPUT_MAX - 1, 0);
	if (n < 0)
		return NULL;
	p->text[n] = '\0';
	return p->text;
}

const char *program_poll(struct program *p, int64_t now_us)
{
	int ended;

	if (is_recorded(p))
		return read_recorded(p);
	if (p->fd < 0) {
		if (p->started_us < 0 || now_us - p->started_us >= p->def->every_us)
			start(p, now_us);
		return NULL;
	}
	ended = drain(p);
	if (ended == 0 && now_us - p->started_us < PROGRAM_TIMEOUT_US)
		return NULL;
	p->text[p->len] = '\0';
	p->failed = !finish(p, ended != 1);
	return p->failed ? NULL : p->text;
}

void program_close(struct program *p)
{
	finish(p, true);
	free(p->text);
	p->text = NULL;
}
