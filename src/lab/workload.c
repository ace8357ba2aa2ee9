#include "lab/workload_env.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "base/time.h"
#include "lab/process.h"
#include "lab/tool.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	PIECE_BYTES = 4 << 20,
	ROUNDS_MAX = 10,     /* pieces per server and client */
	PIECES_MAX = 60,     /* per client, so that preparing takes less than a minute */
	PREPARE_MS = 240000, /* even if a disk is slow */
	SLICE_MS = 200,	     /* between checks for a signal */
	STOP_MS = 10000,
	LOG_MAX = 64 << 20,
};

#define FAILED_FILE "run/%s-work.failed"
#define HOLD_FILE "run/%s-work.hold"

uint64_t workload_mib(const struct lab_config *c)
{
	uint64_t most = PIECES_MAX / c->n_servers;
	/* Half of a disk is for the pieces of all clients. */
	uint64_t room = c->disk_bytes / 2 / PIECE_BYTES / c->n_clients;
	uint64_t rounds = most < ROUNDS_MAX ? most : ROUNDS_MAX;
	rounds = room < rounds ? room : rounds;
	return (rounds ? rounds : 1) * c->n_servers * (PIECE_BYTES >> 20);
}

static void add(struct workload_env *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add(struct workload_env *e, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	if (vasprintf(&e->items[e->n], fmt, args) < 0) {
		e->items[e->n] = NULL;
		e->failed = true;
	} else {
		e->n++;
	}
	va_end(args);
}

static void add_bricks(const struct lab *lab, struct workload_env *e)
{
	struct strbuf bricks = {0};
	char path[LAB_PATH_MAX];
	for (unsigned i = 0; i < lab->config.n_servers; i++)
		strbuf_printf(&bricks, "%s%s", i ? " " : "",
			lab_path(lab, path, "%s/brick", lab->nodes[i].name));
	e->failed |= bricks.failed;
	if (!bricks.failed)
		add(e, "BRICKS=%s", bricks.text ? bricks.text : "");
	strbuf_release(&bricks);
}

int workload_env_make(const struct lab *lab, unsigned client, struct workload_env *ret)
{
	const struct lab_node *node = lab_client(lab, client);
	char path[LAB_PATH_MAX];
	add(ret, "CLIENT=%u", client + 1);
	add(ret, "CLIENTS=%u", lab->config.n_clients);
	add(ret, "SERVERS=%u", lab->config.n_servers);
	add(ret, "MIB=%llu", (unsigned long long)workload_mib(&lab->config));
	/* The shell has numbers of 63 bits, and adds to this one. */
	add(ret, "SEED=%llu", (unsigned long long)(lab->config.seed & 0xffffff));
	add(ret, "PASS=0");
	add(ret, "LIST=%s", lab_path(lab, path, "%s/pieces", node->name));
	add(ret, "FAILED=%s", lab_path(lab, path, FAILED_FILE, node->name));
	add(ret, "HOLD=%s", lab_path(lab, path, HOLD_FILE, node->name));
	add(ret, "WORK_DIR=%s", lab_path(lab, path, "%s/mnt/%s", node->name, node->name));
	add_bricks(lab, ret);
	return ret->failed ? -ENOMEM : 0;
}

void workload_env_release(struct workload_env *e)
{
	for (unsigned i = 0; i < e->n; i++)
		free(e->items[i]);
	*e = (struct workload_env){0};
}

/* "iozone|fio": does one of them exist? */
static bool any_exists(char *names)
{
	char *rest = NULL;
	for (char *n = strtok_r(names, "|", &rest); n; n = strtok_r(NULL, "|", &rest)) {
		if (tool_exists(n))
			return true;
	}
	return false;
}

int workload_check(const struct workload *w, struct lp_err *err)
{
	_cleanup_free_ char *needs = strdup(w->needs);
	char *rest = NULL;
	if (!needs)
		return lp_err_sys(err, -ENOMEM, "%s", w->name);
	for (char *n = strtok_r(needs, " ", &rest); n; n = strtok_r(NULL, " ", &rest)) {
		char names[64];
		snprintf(names, sizeof(names), "%s", n);
		if (!any_exists(names))
			return lp_err_set(err, -ENOENT,
				"the workload %s needs a program that is not installed: %s",
				w->name, n);
	}
	return 0;
}

static int ended(
	const struct lab *lab, const struct lab_node *node, const char *what, struct lp_err *err)
{
	char path[LAB_PATH_MAX], words[256];
	tool_last_words(lab_path(lab, path, "log/%s-work.log", node->name), words, sizeof(words));
	return lp_err_set(err, -EIO, "the workload on %s %s%s%s", node->name, what,
		*words ? ": " : "", words);
}

static int spawn_script(const struct lab *lab, unsigned client, const char *const *argv,
	pid_t *ret_pid, struct lp_err *err)
{
	_cleanup_(workload_env_release) struct workload_env env = {0};
	const struct lab_node *node = lab_client(lab, client);
	char pid_file[LAB_PATH_MAX], log[LAB_PATH_MAX];
	unlink(lab_path(lab, log, FAILED_FILE, node->name));
	if (workload_env_make(lab, client, &env) < 0)
		return lp_err_sys(err, -ENOMEM, "workload of %s", node->name);
	const struct spawn s = {
		.netns = node->netns,
		.log = lab_path(lab, log, "log/%s-work.log", node->name),
		.pid_file = lab_path(lab, pid_file, "run/%s-work.pid", node->name),
		.argv = argv,
		.env = (const char *const *)env.items,
	};
	return tool_spawn(&s, ret_pid, err);
}

static int hold(const struct lab *lab, struct lp_err *err)
{
	char path[LAB_PATH_MAX];
	for (unsigned i = 0; i < lab->config.n_clients; i++) {
		lab_path(lab, path, HOLD_FILE, lab_client(lab, i)->name);
		_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
		if (fd < 0)
			return lp_err_sys(err, -errno, "cannot write %s", path);
	}
	return 0;
}

int workload_release(const struct lab *lab, struct lp_err *err)
{
	char path[LAB_PATH_MAX];
	for (unsigned i = 0; i < lab->config.n_clients; i++) {
		lab_path(lab, path, HOLD_FILE, lab_client(lab, i)->name);
		if (unlink(path) < 0 && errno != ENOENT)
			return lp_err_sys(err, -errno, "cannot remove %s", path);
	}
	return 0;
}

static int spawn_all(const struct lab *lab, const char *script, unsigned how, pid_t *ret_pids,
	struct lp_err *err)
{
	const char *const once[] = {"sh", "-c", script, NULL};
	const char *const again[] = {"sh", "-c", workload_again, "sh", script, NULL};
	int r = workload_stop(lab, err);
	if (r == 0 && how & WORKLOAD_HELD)
		r = hold(lab, err);
	for (unsigned i = 0; r == 0 && i < lab->config.n_clients; i++)
		r = spawn_script(lab, i, how ? again : once, &ret_pids[i], err);
	if (r < 0)
		workload_stop(lab, NULL);
	return r;
}

char *workload_script(const struct workload *w, const char *what)
{
	struct strbuf sb = {0};
	strbuf_printf(&sb, "%s%s%s\n", workload_library, w->script, what);
	return strbuf_take(&sb);
}

int workload_start(
	const struct lab *lab, const struct workload *w, unsigned how, struct lp_err *err)
{
	pid_t pids[LAB_NODES_MAX];
	_cleanup_free_ char *script = workload_script(w, "work_passes");
	if (!script)
		return lp_err_sys(err, -ENOMEM, "%s", w->name);
	return spawn_all(lab, script, how, pids, err);
}

static int64_t now_ms(void)
{
	return clock_us(CLOCK_MONOTONIC) / 1000;
}

/* Wait for the end of a child until `end_ms`, or until a signal has come. */
static int await_one(const struct lab *lab, const struct lab_node *node, pid_t pid, int64_t end_ms,
	const volatile int *stop, struct lp_err *err)
{
	int status = 0;
	while (!process_wait(pid, SLICE_MS)) {
		if (stop && *stop)
			return lp_err_set(err, -EINTR, "interrupted");
		if (now_ms() > end_ms)
			return ended(lab, node, "was not ready in time", err);
	}
	if (waitpid(pid, &status, 0) != pid || status != 0)
		return ended(lab, node, "could not be prepared", err);
	return 0;
}

/* Wait for all of them, which are children of this process; the caller stops the others after a
 * failure. */
static int await_all(
	const struct lab *lab, const pid_t *pids, const volatile int *stop, struct lp_err *err)
{
	int64_t end_ms = now_ms() + PREPARE_MS;
	int r = 0;
	for (unsigned i = 0; r == 0 && i < lab->config.n_clients; i++)
		r = await_one(lab, lab_client(lab, i), pids[i], end_ms, stop, err);
	return r;
}

int workload_prepare(const struct lab *lab, const struct workload *w, const volatile int *stop,
	struct lp_err *err)
{
	pid_t pids[LAB_NODES_MAX];
	_cleanup_free_ char *script = workload_script(w, "work_prepare");
	if (!script)
		return lp_err_sys(err, -ENOMEM, "%s", w->name);
	int r = spawn_all(lab, script, 0, pids, err);
	if (r == 0)
		r = await_all(lab, pids, stop, err);
	int stopped = workload_stop(lab, r < 0 ? NULL : err);
	return r < 0 ? r : stopped;
}

int workload_stop(const struct lab *lab, struct lp_err *err)
{
	char pid_file[LAB_PATH_MAX];
	int r = 0;
	/* A process that waits for a server ends when that has answered, so signal all processes
	 * before waiting for any. */
	for (unsigned i = 0; i < lab->config.n_clients; i++)
		tool_kill(lab_path(lab, pid_file, "run/%s-work.pid", lab_client(lab, i)->name),
			SIGHUP, 0, NULL);
	for (unsigned i = 0; i < lab->config.n_clients; i++) {
		const char *name = lab_client(lab, i)->name;
		int k = tool_kill(
			lab_path(lab, pid_file, "run/%s-work.pid", name), SIGTERM, STOP_MS, err);
		r = r < 0 ? r : k;
	}
	return r < 0 ? r : workload_release(lab, err);
}

int workload_verify(const struct lab *lab, struct lp_err *err)
{
	char pid_file[LAB_PATH_MAX];
	for (unsigned i = 0; i < lab->config.n_clients; i++) {
		const struct lab_node *node = lab_client(lab, i);
		if (!tool_pid(lab_path(lab, pid_file, "run/%s-work.pid", node->name)))
			return ended(lab, node, "has ended", err);
		if (access(lab_path(lab, pid_file, FAILED_FILE, node->name), F_OK) == 0)
			return ended(lab, node, "has failed", err);
	}
	return 0;
}

int workload_parse_bytes(const char *net_dev, uint64_t *ret_bytes)
{
	enum { RX_BYTES = 0, TX_BYTES = 8 };
	const char *at = strstr(net_dev, "eth0:");
	uint64_t sum = 0;
	if (!at)
		return -EBADMSG;
	at += strlen("eth0:");
	for (unsigned i = 0; i <= TX_BYTES; i++) {
		char *end;
		uint64_t value = strtoull(at, &end, 10);
		if (end == at)
			return -EBADMSG;
		if (i == RX_BYTES || i == TX_BYTES)
			sum += value;
		at = end;
	}
	*ret_bytes = sum;
	return 0;
}

int workload_bytes(const struct lab *lab, uint64_t *ret_bytes, struct lp_err *err)
{
	uint64_t sum = 0;
	for (unsigned i = 0; i < lab->config.n_clients; i++) {
		const struct lab_node *node = lab_client(lab, i);
		_cleanup_free_ char *text = NULL;
		char path[LAB_PATH_MAX];
		uint64_t bytes = 0;
		size_t size;
		pid_t pid = tool_pid(lab_path(lab, path, "run/%s-fs.pid", node->name));
		if (!pid)
			return lp_err_set(
				err, -ESRCH, "the file system of %s has ended", node->name);
		snprintf(path, sizeof(path), "/proc/%d/net/dev", (int)pid);
		int r = file_slurp(path, LOG_MAX, &text, &size, err);
		if (r < 0)
			return r;
		if (workload_parse_bytes(text, &bytes) < 0)
			return lp_err_set(err, -EBADMSG, "%s: no counters of eth0", path);
		sum += bytes;
	}
	*ret_bytes = sum;
	return 0;
}
