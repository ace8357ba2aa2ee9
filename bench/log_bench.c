/* The CPU time to write a log of system calls, its size, and the time to read it.
 *
 *     log_bench FILE [RECORDS]
 *
 * The calls are those of PostMark: files are opened, read or appended to, closed, and removed, by
 * four threads that take turns, with varying addresses, sizes and durations. Times are CPU times of
 * this process, so they hardly depend on other processes.
 */
#include "archive/trace_log.h"
#include "clock.h"
#include "model/syscalls.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define START_NS INT64_C(1304899205000000000)
#define ENOUGH (4u << 20)
#define RATE 300000.0 /* records per second of a machine that only makes system calls */

static void __attribute__((noreturn)) die(const struct lp_err *err)
{
	fprintf(stderr, "log_bench: %s\n", err->text);
	exit(1);
}

/* The same log on every machine. */
static uint64_t rng_state = 42;

static uint64_t rng(void)
{
	rng_state ^= rng_state << 13;
	rng_state ^= rng_state >> 7;
	rng_state ^= rng_state << 17;
	return rng_state >> 11;
}

/* One thread of PostMark. */
struct worker {
	int32_t tid;
	unsigned step, file;
	uint64_t fd;
	char path[64];
};

/* The next call of a thread. */
static void worker_call(struct worker *w, struct trace_event *e)
{
	static const char *const names[] = {"openat", "read", "write", "close", "unlink"};
	unsigned step = w->step++ % 5;

	*e = (struct trace_event){.what = TRACE_CALL,
		.pid = 812,
		.tid = w->tid,
		.nr = (uint16_t)syscall_number(names[step]),
		.file = step == 4 ? TRACE_FILE_NONE : TRACE_FILE_STORAGE,
		.dur_ns = 300 + (int64_t)(rng() % 2000) + (rng() % 100 ? 0 : 50000),
		.args = {w->fd, 0x7f0012345000 + (rng() % 16) * 4096, 512 + rng() % 9000}};
	if (step == 0) {
		w->file = (unsigned)(rng() % 20000);
		w->fd = 5 + rng() % 4;
		snprintf(w->path, sizeof(w->path), "/mnt/postmark/s%u/%u", w->file % 10, w->file);
		e->args[0] = (uint64_t)-100;
		e->ret = (int64_t)w->fd;
	} else if (step < 3) {
		e->ret = (int64_t)e->args[2];
	}
	if (step == 0 || step == 4) {
		e->text = w->path;
		e->text_len = (uint32_t)strlen(w->path);
	}
}

/* CPU seconds to keep and write `n` calls, which are generated before. */
static double write_log(const char *path, uint64_t n)
{
	struct lp_archive_meta meta = {.observer = "bench"};
	struct worker workers[4] = {{.tid = 812}, {.tid = 813}, {.tid = 814}, {.tid = 815}};
	struct trace_event *events = calloc(n, sizeof(*events));
	char(*texts)[64] = calloc(n, sizeof(*texts));
	struct trace_log *l = trace_log_new();
	struct lp_archive_writer *w;
	struct lp_err err = {0};
	int64_t now = START_NS;
	double began;

	if (!events || !texts || !l || lp_archive_create(path, &meta, &w, &err) < 0)
		die(&err);
	for (uint64_t i = 0; i < n; i++) {
		worker_call(&workers[rng() % 4], &events[i]);
		events[i].seq = i;
		events[i].start_ns = now += 1000 + (int64_t)(rng() % 4000);
		if (events[i].text_len)
			events[i].text = memcpy(texts[i], events[i].text, events[i].text_len);
	}
	began = cpu_seconds();
	for (uint64_t i = 0; i < n; i++) {
		if (trace_log_add(l, &events[i]) < 0)
			die(&err);
		if (trace_log_waiting(l) >= ENOUGH && trace_log_write(l, w, &err) < 0)
			die(&err);
	}
	if (trace_log_write(l, w, &err) < 0 || lp_archive_close(w, &err) < 0)
		die(&err);
	began = cpu_seconds() - began;
	trace_log_free(l);
	free(events);
	free(texts);
	return began;
}

static int take(void *ctx, uint64_t record, const struct trace_event *e)
{
	*(uint64_t *)ctx += (uint64_t)e->dur_ns + record;
	return 0;
}

static double read_log(const char *path)
{
	uint64_t sum = 0;
	struct trace_log_reader to = {.event = take, .ctx = &sum};
	struct lp_source *source;
	struct lp_err err = {0};
	double began = cpu_seconds();

	if (lp_archive_open(path, NULL, NULL, &source, &err) < 0 ||
		trace_log_read(source, &to, &err) < 0)
		die(&err);
	lp_source_close(source);
	return cpu_seconds() - began;
}

static double size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? (double)st.st_size : 0;
}

int main(int argc, char **argv)
{
	uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 10) : 3000000;
	struct lp_err err = {0};
	double spent;

	if (argc < 2 || !n) {
		fprintf(stderr, "usage: log_bench FILE [RECORDS]\n");
		return 2;
	}
	unlink(argv[1]);
	spent = write_log(argv[1], n);
	printf("write  %5.2f million records a CPU second, %4.1f%% of a core at 300,000/s, "
	       "%5.2f bytes a record\n",
		(double)n / spent / 1e6, spent / (double)n * RATE * 100,
		size_of(argv[1]) / (double)n);
	printf("read   %5.2f million records a CPU second\n", (double)n / read_log(argv[1]) / 1e6);
	spent = cpu_seconds();
	if (lp_archive_seal(argv[1], NULL, &err) < 0)
		die(&err);
	spent = cpu_seconds() - spent;
	printf("seal   %5.2f million records a CPU second, %5.2f bytes a record\n",
		(double)n / spent / 1e6, size_of(argv[1]) / (double)n);
	printf("read   %5.2f million records a CPU second, sealed\n",
		(double)n / read_log(argv[1]) / 1e6);
	return 0;
}
