/* The reader: its result depends only on the records up to the watermark, and it keeps only the
 * recent past. */
#include "unit.h"

#include "base/array.h"
#include "base/strbuf.h"
#include "explain/semantic_reader.h"
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define T0_US (INT64_C(1800000000) * 1000000)
#define SECOND INT64_C(1000000)

static uint64_t random_state;

static unsigned random_below(unsigned n)
{
	random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)((random_state >> 33) % n);
}

/* Something that happens at an observer. */
enum fact_kind { FACT_EVENT, FACT_DESCRIPTOR, FACT_PEER, FACT_PROGRAM, FACT_PROCESS, FACT_TALLY };

struct fact {
	enum fact_kind kind;
	int64_t at_us;
	struct trace_event e;
	struct trace_descriptor d;
	int64_t values[3];
	char text[64];
};

#define OBSERVERS 3
#define FACTS 4000

static const char *const names[OBSERVERS] = {"s1", "c1", "c2"};
static const char *const addresses[OBSERVERS] = {"10.0.0.1", "10.0.1.1", "10.0.1.2"};

struct story {
	struct fact facts[OBSERVERS][FACTS];
	size_t n[OBSERVERS];
	struct hosts hosts;
};

static struct story story;

static void feed(struct semantic_reader *r, const char *observer, struct fact *f)
{
	int got = 0;

	switch (f->kind) {
	case FACT_EVENT:
		f->e.text = f->text[0] ? f->text : NULL;
		f->e.text_len = (uint32_t)strlen(f->text);
		got = semantic_reader_event(r, observer, &f->e);
		break;
	case FACT_DESCRIPTOR:
		f->d.name = f->text;
		got = semantic_reader_descriptor(r, observer, &f->d);
		break;
	case FACT_PEER:
		got = reader_peer(r, observer, f->at_us, f->text, f->values);
		break;
	case FACT_PROGRAM:
		got = reader_program(r, observer, f->at_us, f->text, f->values[0] % 2, true);
		break;
	case FACT_PROCESS:
		got = reader_process(
			r, observer, f->at_us, (int32_t)f->values[0], f->text, f->values[1] % 2);
		break;
	case FACT_TALLY:
		got = reader_tally(r, observer, f->at_us, f->text, f->values[0]);
		break;
	}
	assert_int_equal(got, 0);
}

static void random_call(struct fact *f)
{
	static const char *const calls[] = {
		"pwrite64", "read", "openat", "accept4", "connect", "mmap", "fsync", "recvfrom"};
	static const int results[] = {0, 0, 100, -ENOSPC, -EIO, -EMFILE, -ECONNREFUSED, -ENOTCONN,
		-ECONNRESET, -ENOENT, -EAGAIN, -ENOMEM};
	static const uint8_t files[] = {TRACE_FILE_STORAGE, TRACE_FILE_TCP, TRACE_FILE_NONE};

	f->e.what = random_below(20) ? TRACE_CALL : TRACE_PENDING;
	f->e.nr = (uint16_t)syscall_number(calls[random_below(ARRAY_SIZE(calls))]);
	f->e.ret = f->e.what == TRACE_CALL ? results[random_below(ARRAY_SIZE(results))] : 0;
	f->e.file = files[random_below(ARRAY_SIZE(files))];
	f->e.args[0] = random_below(6);
	if (random_below(30) == 0)
		f->e.dur_ns = (35 + random_below(60)) * NS_PER_SEC;
	f->e.start_ns -= f->e.dur_ns;
}

static void random_event(struct fact *f)
{
	static const uint16_t signals[] = {SIGABRT, SIGTERM, SIGINT, SIGUSR1, SIGSEGV};
	unsigned what = random_below(40);

	f->e = (struct trace_event){
		.start_ns = f->at_us * 1000, .pid = 100 + (int)random_below(8), .what = TRACE_CALL};
	f->e.tid = f->e.pid;
	if (what > 4) {
		random_call(f);
	} else if (what == 0) {
		f->e.what = TRACE_SIGNAL;
		f->e.nr = signals[random_below(ARRAY_SIZE(signals))];
		f->e.args[0] = random_below(2) ? (uint64_t)f->e.pid : 1;
	} else if (what == 1) {
		f->e.what = TRACE_EXIT;
		f->e.ret = random_below(2) ? SIGABRT : (int)random_below(2) << 8;
	} else if (what == 2) {
		f->e.what = TRACE_FORK;
		f->e.ret = 100 + random_below(8);
		f->e.args[0] = random_below(2) ? CLONE_THREAD : 0;
	} else if (what == 3) {
		f->e.what = TRACE_EXEC;
		snprintf(f->text, sizeof(f->text), "/usr/bin/p%u", random_below(4));
	} else {
		f->e.what = TRACE_LOST;
		f->e.ret = 3;
	}
}

static void random_descriptor(struct fact *f)
{
	f->d = (struct trace_descriptor){.time_ns = f->at_us * 1000,
		.pid = 100 + (int)random_below(8),
		.fd = (int)random_below(6),
		.from = 100 + (int)random_below(8),
		.change = (uint8_t)(1 + random_below(TRACE_FD_SEEN)),
		.file = random_below(2) ? TRACE_FILE_TCP : TRACE_FILE_STORAGE};
	if (f->d.file == TRACE_FILE_TCP)
		snprintf(f->text, sizeof(f->text), "tcp %s:%u %s:%u",
			addresses[random_below(OBSERVERS)], 80 + random_below(3),
			addresses[random_below(OBSERVERS)], 80 + random_below(3));
	else
		snprintf(f->text, sizeof(f->text), "/data/%u", random_below(9));
}

static void random_fact(struct fact *f, int64_t at_us)
{
	unsigned kind = random_below(20);

	*f = (struct fact){.at_us = at_us};
	if (kind < 10) {
		f->kind = FACT_EVENT;
		random_event(f);
	} else if (kind < 14) {
		f->kind = FACT_DESCRIPTOR;
		random_descriptor(f);
	} else if (kind < 17) {
		f->kind = FACT_PEER;
		for (int i = 0; i < 2; i++)
			f->values[i] = random_below(100);
		f->values[2] = random_below(2) ? random_below(60) * SECOND : 0;
		snprintf(f->text, sizeof(f->text), "%s:%u", addresses[random_below(OBSERVERS)],
			80 + random_below(3));
	} else if (kind == 17) {
		f->kind = FACT_PROGRAM;
		f->values[0] = random_below(8) == 0;
		snprintf(f->text, sizeof(f->text), "p%u", random_below(4));
	} else if (kind == 18) {
		f->kind = FACT_PROCESS;
		f->values[0] = 100 + random_below(8);
		f->values[1] = random_below(2);
		snprintf(f->text, sizeof(f->text), "p%u", random_below(4));
	} else {
		f->kind = FACT_TALLY;
		f->values[0] = random_below(5000);
		snprintf(f->text, sizeof(f->text), "p%u:openat:EMFILE", random_below(4));
	}
}

/* `n` facts of each observer, with `step_us` between them on average; of every other story all at
 * whole seconds, as samples are. */
static void story_tell(uint64_t seed, size_t n, unsigned step_us)
{
	random_state = seed;
	for (unsigned o = 0; o < OBSERVERS; o++) {
		int64_t at_us = T0_US;

		story.n[o] = n;
		for (size_t i = 0; i < n; i++) {
			at_us += random_below(2 * step_us);
			random_fact(&story.facts[o][i], seed % 2 ? at_us : at_us / SECOND * SECOND);
		}
	}
}

static void add_finding(struct strbuf *sb, const struct semantic_finding *f)
{
	strbuf_printf(sb, "%s %s %.9f %" PRIu32 " %" PRId64 " %" PRId64 "\n", f->component->text,
		f->cause, f->confidence, f->n, f->first_us, f->last_us);
	for (uint32_t i = 0; i < f->n_evidence; i++)
		strbuf_printf(sb, "  %s\n", f->evidence[i]);
	strbuf_printf(sb, "  %s\n", f->advice);
}

/* The whole verdict as text; to be freed. */
static char *verdict(struct semantic_reader *r)
{
	struct semantic s = {0};
	struct strbuf sb = {0};

	assert_int_equal(semantic_reader_verdict(r, &s), 0);
	strbuf_printf(&sb, "%d %" PRIu32 " %" PRIu32 "\n", s.any, s.n_observers, s.n_processes);
	for (uint32_t i = 0; i < s.n; i++)
		add_finding(&sb, &s.findings[i]);
	for (uint32_t i = 0; i < s.n_notes; i++)
		strbuf_printf(&sb, "%s\n", s.notes[i]);
	semantic_release(&s);
	assert_false(sb.failed);
	return strbuf_take(&sb);
}

static struct semantic_reader *reader_new(void)
{
	struct semantic_options options = {0};
	struct semantic_reader *r = semantic_reader_new(&options, &story.hosts, false);

	assert_non_null(r);
	return r;
}

/* One observer after the other, up to that time and `more_us` beyond it; then to that time. */
static char *told_at_once(int64_t until_us, int64_t more_us)
{
	struct semantic_reader *r = reader_new();
	char *text;

	for (unsigned o = OBSERVERS; o-- > 0;) {
		for (size_t i = 0; i < story.n[o]; i++) {
			if (story.facts[o][i].at_us <= until_us + more_us)
				feed(r, names[o], &story.facts[o][i]);
		}
	}
	assert_int_equal(semantic_reader_advance(r, until_us), 0);
	text = verdict(r);
	semantic_reader_free(r);
	return text;
}

/* The earliest that has not been fed. */
static int64_t unfed_us(const size_t next[OBSERVERS])
{
	int64_t least = INT64_MAX;

	for (unsigned o = 0; o < OBSERVERS; o++) {
		if (next[o] < story.n[o] && story.facts[o][next[o]].at_us < least)
			least = story.facts[o][next[o]].at_us;
	}
	return least;
}

/* Observers interleaved at random, advanced and asked at random moments, up to that time. */
static char *told_at_random(int64_t until_us)
{
	struct semantic_reader *r = reader_new();
	size_t next[OBSERVERS] = {0};
	char *text;

	while (unfed_us(next) <= until_us) {
		unsigned o = random_below(OBSERVERS), burst = random_below(60);

		for (; burst && next[o] < story.n[o] &&
			story.facts[o][next[o]].at_us <= until_us + 100 * SECOND;
			burst--)
			feed(r, names[o], &story.facts[o][next[o]++]);
		if (random_below(4) == 0 && unfed_us(next) - 1 < until_us)
			assert_int_equal(semantic_reader_advance(r, unfed_us(next) - 1), 0);
		if (random_below(40) == 0)
			free(verdict(r));
	}
	assert_int_equal(semantic_reader_advance(r, until_us), 0);
	text = verdict(r);
	semantic_reader_free(r);
	return text;
}

static void must_be_same(char *a, char *b)
{
	if (strcmp(a, b) != 0)
		fail_msg("one says\n%s\nthe other\n%s", a, b);
	free(a);
	free(b);
}

/* Whatever comes in which order, whenever it is advanced and asked. */
static void test_any_order(void **state)
{
	size_t findings = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 12; seed++) {
		/* From a few minutes to some hours, so that much is given back on the way. */
		static const unsigned steps[] = {200000, 1000000, 6000000};
		size_t n = 300 + 100 * (seed % 4);
		int64_t end_us, half_us;
		char *whole;

		story_tell(seed, n, steps[seed % ARRAY_SIZE(steps)]);
		end_us = story.facts[0][n - 1].at_us;
		half_us = T0_US + (end_us - T0_US) / (2 + (int64_t)random_below(5));
		whole = told_at_once(end_us, 0);
		findings += strstr(whole, "/sys:") != NULL;
		must_be_same(whole, told_at_random(end_us));
		/* Up to t: no matter what comes later, and what a fresh one says. */
		must_be_same(told_at_once(half_us, 0), told_at_random(half_us));
		must_be_same(told_at_once(half_us, 0), told_at_once(half_us, 50 * SECOND));
	}
	assert_true(findings > 6); /* else nothing was compared */
}

static struct trace_event call_at(int64_t at_us, int pid, const char *call, int fd, int64_t ret)
{
	return (struct trace_event){.start_ns = at_us * 1000,
		.pid = pid,
		.tid = pid,
		.what = TRACE_CALL,
		.nr = (uint16_t)syscall_number(call),
		.file = TRACE_FILE_STORAGE,
		.ret = ret,
		.args = {(uint64_t)fd}};
}

/* One second of a busy host: a process of a new name is born, opens a file, connects somewhere,
 * fails, and ends. */
static void busy_second(struct semantic_reader *r, int64_t at_us, int second)
{
	int pid = 1000 + second;
	struct trace_event e = call_at(at_us, 1, "clone", 0, pid);
	struct trace_descriptor d = {.time_ns = at_us * 1000 + 2000,
		.pid = pid,
		.fd = 5,
		.change = TRACE_FD_OPEN,
		.file = TRACE_FILE_TCP};
	int64_t values[3] = {1, 0, SECOND};
	char text[64];

	e.what = TRACE_FORK;
	assert_int_equal(semantic_reader_event(r, "h", &e), 0);
	e = call_at(at_us + 1, pid, "execve", 0, 0);
	snprintf(text, sizeof(text), "/bin/job%d", second);
	e.what = TRACE_EXEC;
	e.text = text;
	e.text_len = (uint32_t)strlen(text);
	assert_int_equal(semantic_reader_event(r, "h", &e), 0);
	d.name = text;
	snprintf(text, sizeof(text), "tcp 10.0.0.1:%d 10.%d.%d.%d:80", 20000 + second % 20000,
		1 + second % 7, second / 200 % 200, second % 200);
	assert_int_equal(semantic_reader_descriptor(r, "h", &d), 0);
	assert_int_equal(reader_peer(r, "h", at_us + 3, strrchr(text, ' ') + 1, values), 0);
	e = call_at(at_us + 4, pid, "pwrite64", 5, -EIO);
	assert_int_equal(semantic_reader_event(r, "h", &e), 0);
	snprintf(text, sizeof(text), "job%d:openat:EMFILE", second);
	assert_int_equal(reader_tally(r, "h", at_us + 5, text, second), 0);
	e = call_at(at_us + 6, pid, "read", 0, 100);
	e.what = TRACE_EXIT;
	e.ret = 0;
	assert_int_equal(semantic_reader_event(r, "h", &e), 0);
}

/* Hours of that take no more room than the first half hour; findings of the beginning are kept. */
static void test_bounded(void **state)
{
	struct semantic_reader *r = reader_new();
	struct trace_event e = call_at(T0_US, 2, "write", 3, -ENOSPC);
	size_t most[2] = {0};
	char *text;

	(void)state;
	e.text = "/bin/early";
	e.text_len = 10;
	e.what = TRACE_EXEC;
	assert_int_equal(semantic_reader_event(r, "h", &e), 0);
	e = call_at(T0_US + 1, 2, "write", 3, -ENOSPC);
	assert_int_equal(semantic_reader_event(r, "h", &e), 0);
	e.what = TRACE_EXIT;
	e.start_ns += 1000;
	e.ret = 1 << 8;
	assert_int_equal(semantic_reader_event(r, "h", &e), 0);
	for (int second = 1; second < 6 * 3600; second++) {
		int64_t at_us = T0_US + second * SECOND;
		size_t kept;

		busy_second(r, at_us, second);
		assert_int_equal(semantic_reader_advance(r, at_us + SECOND - 1), 0);
		kept = semantic_reader_kept(r);
		if (kept > most[second > 1800])
			most[second > 1800] = kept;
	}
	assert_true(most[0] > 1000);
	assert_true(most[1] <= most[0]);
	text = verdict(r);
	assert_non_null(strstr(text, "h/sys:early resource-exhausted"));
	assert_non_null(strstr(text, "write to descriptor 3 failed with ENOSPC"));
	free(text);
	semantic_reader_free(r);
}

/* What goes on for hours began when it began, however far back the reader looks. */
static void test_long(void **state)
{
	struct semantic_reader *r = reader_new();
	struct semantic s = {0};

	(void)state;
	for (int second = 0; second < 3 * 3600; second++) {
		struct trace_event e = call_at(T0_US + second * SECOND, 7, "openat", 0, -EMFILE);

		assert_int_equal(semantic_reader_event(r, "h", &e), 0);
	}
	assert_int_equal(semantic_reader_finish(r), 0);
	assert_true(semantic_reader_kept(r) < 1300);
	assert_int_equal(semantic_reader_verdict(r, &s), 0);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.findings[0].first_us, T0_US);
	assert_int_equal(s.findings[0].last_us, T0_US + (3 * 3600 - 1) * SECOND);
	assert_string_equal(s.findings[0].evidence[s.findings[0].n_evidence - 1],
		"it began at 2027-01-15T08:00:00Z");
	semantic_release(&s);
	semantic_reader_free(r);
}

/* A server that ended in good order is not down an hour later, though clients still ask for it; one
 * that crashed still is. */
static void test_ended_long_ago(void **state)
{
	(void)state;
	for (int crashed = 0; crashed < 2; crashed++) {
		struct semantic_reader *r = reader_new();
		struct trace_event e = call_at(T0_US, 7, "accept4", 3, 4);
		struct trace_descriptor d = {.time_ns = (T0_US + SECOND) * 1000,
			.pid = 9,
			.fd = 5,
			.change = TRACE_FD_CONNECT,
			.file = TRACE_FILE_TCP,
			.name = "tcp 10.0.1.1:4000 10.0.0.1:80"};
		int64_t values[3] = {1, 0, 0};
		char *text;

		e.file = TRACE_FILE_TCP;
		assert_int_equal(reader_process(r, "s1", T0_US, 7, "fsd", true), 0);
		assert_int_equal(semantic_reader_event(r, "s1", &e), 0);
		assert_int_equal(reader_peer(r, "c1", T0_US, "10.0.0.1:80", values), 0);
		values[1] = 1;
		assert_int_equal(reader_peer(r, "c1", T0_US + SECOND, "10.0.0.1:80", values), 0);
		assert_int_equal(semantic_reader_descriptor(r, "c1", &d), 0);
		e = call_at(T0_US + 2 * SECOND, 7, "read", 0, 0);
		e.what = TRACE_EXIT;
		e.ret = crashed ? SIGSEGV : SIGTERM;
		assert_int_equal(semantic_reader_event(r, "s1", &e), 0);
		for (int second = 3; second < 3600; second++) {
			e = call_at(T0_US + second * SECOND, 9, "connect", 5, -ECONNREFUSED);
			e.file = TRACE_FILE_TCP;
			assert_int_equal(semantic_reader_event(r, "c1", &e), 0);
		}
		assert_int_equal(semantic_reader_finish(r), 0);
		text = verdict(r);
		assert_int_equal(strstr(text, "s1/sys:fsd crash") != NULL, crashed);
		assert_int_equal(strstr(text, "was killed by SIGSEGV") != NULL, crashed);
		assert_null(strstr(text, "sys:80"));
		free(text);
		semantic_reader_free(r);
	}
}

/* Records that are too late do not count, and are reported. */
static void test_late(void **state)
{
	struct semantic_reader *r = reader_new();
	struct trace_event e = call_at(T0_US, 7, "openat", 0, 3);
	char *text;

	(void)state;
	assert_int_equal(semantic_reader_event(r, "h", &e), 0);
	assert_int_equal(semantic_reader_advance(r, T0_US + SECOND), 0);
	e = call_at(T0_US + SECOND, 7, "openat", 0, -EMFILE);
	assert_int_equal(semantic_reader_event(r, "h", &e), 0);
	assert_int_equal(semantic_reader_finish(r), 0);
	text = verdict(r);
	assert_non_null(strstr(text, "1 records of system calls came too late to count"));
	free(text);
	semantic_reader_free(r);
}

/* Nothing was fed; or nothing that is about system calls. */
static void test_nothing(void **state)
{
	struct semantic_reader *r = reader_new();

	(void)state;
	assert_int_equal(semantic_reader_finish(r), 0);
	assert_false(semantic_reader_any(r));
	assert_int_equal(semantic_reader_presence(r, "h", T0_US, false), 0);
	assert_int_equal(semantic_reader_finish(r), 0);
	assert_false(semantic_reader_any(r));
	assert_int_equal(semantic_reader_presence(r, "h", T0_US + 1, true), 0);
	assert_int_equal(semantic_reader_finish(r), 0);
	assert_true(semantic_reader_any(r));
	/* Advancing to the end of time ends. */
	assert_int_equal(semantic_reader_advance(r, INT64_MAX), 0);
	semantic_reader_free(r);
	semantic_reader_free(NULL);
}

static int setup(void **state)
{
	(void)state;
	for (unsigned o = 0; o < OBSERVERS; o++)
		assert_int_equal(hosts_add(&story.hosts, names[o], addresses[o]), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	hosts_release(&story.hosts);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_order),
		cmocka_unit_test(test_bounded),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_ended_long_ago),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
