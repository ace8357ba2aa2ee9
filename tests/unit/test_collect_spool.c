#include "collect/spool.h"
#include "spool_util.h"
#include <sys/wait.h>

#define PER_BATCH 5
#define START "2024-03-01T12:00:00Z"

/* A spool at work. */
struct bench {
	struct spool_config config;
	struct spool *spool;
	int64_t now_us;
	uint64_t logged; /* calls; each has its number */
};

static void bench_start(struct bench *b)
{
	struct lp_err err = {0};

	if (spool_open(&b->config, &b->spool, &err) < 0)
		fail_msg("%s", err.text);
	fake_journal(b->spool);
}

static void bench_open(struct bench *b, struct place *p, const char *dir, bool logs)
{
	*b = (struct bench){.config = {.dir = dir,
				    .logs = logs,
				    .name = "h",
				    .observer = "h",
				    .interval_us = US_PER_SEC,
				    .batch_samples = PER_BATCH,
				    .warn = &p->warn},
		.now_us = at(START)};
	bench_start(b);
}

static void bench_make(struct bench *b, struct place *p, const char *dir)
{
	bench_open(b, p, dir, false);
}

static void bench_close(struct bench *b, struct spool_stats *ret)
{
	spool_close(b->spool, ret);
}

static void submit(struct bench *b, bool new_file)
{
	struct lp_batch *batch = spool_batch(b->spool);

	while (batch->n_samples < batch->cap_samples) {
		fake_sample(batch, b->now_us);
		b->now_us += US_PER_SEC;
		if (batch->n_samples - batch->carry == PER_BATCH)
			break;
	}
	assert_int_equal(spool_submit(b->spool, new_file), 0);
}

/* Wait until the writing thread has written `n` samples. */
static void await_written(struct bench *b, uint64_t n)
{
	struct spool_stats st;

	for (int i = 0; i < 10000; i++) {
		spool_get_stats(b->spool, &st);
		if (st.samples_written >= n)
			return;
		usleep(1000);
	}
	fail_msg("%u samples were never written", (unsigned)n);
}

static void await_failing(struct bench *b)
{
	struct spool_stats st;

	for (int i = 0; i < 10000; i++) {
		spool_get_stats(b->spool, &st);
		if (st.failing)
			return;
		usleep(1000);
	}
	fail_msg("writing never failed");
}

/* Wait until `n` files have been begun. */
static void await_files(struct bench *b, uint64_t n)
{
	struct spool_stats st;

	for (int i = 0; i < 10000; i++) {
		spool_get_stats(b->spool, &st);
		if (!st.failing && st.files >= n)
			return;
		usleep(1000);
	}
	fail_msg("%u files were never begun", (unsigned)n);
}

static void assert_in_order(const char *dir, const char *start, uint32_t n)
{
	static struct samples s;

	samples_read(dir, &s);
	assert_int_equal(s.n, n);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(s.wall_us[i], at(start) + i * US_PER_SEC);
}

static void test_writes_all(void **state)
{
	struct place *p = *state;
	struct spool_stats st;
	struct bench b;

	bench_make(&b, p, p->dir);
	for (int i = 0; i < 6; i++)
		submit(&b, false);
	spool_submit(b.spool, false); /* nothing new: nothing happens */
	bench_close(&b, &st);
	assert_int_equal(st.samples_written, 6 * PER_BATCH);
	assert_int_equal(st.samples_lost, 0);
	assert_int_equal(st.files, 1);
	assert_true(st.bytes_written > 0);
	assert_false(st.failing);
	assert_files(p->dir, "h-20240301T120000Z.lpa");
	assert_non_null(strstr(st.path, "/h-20240301T120000Z.lpa"));
	assert_true(is_sealed(st.path));
	assert_in_order(p->dir, START, 6 * PER_BATCH);
	assert_int_equal(p->heard.n, 0);
}

static void test_nothing_recorded(void **state)
{
	struct place *p = *state;
	struct spool_stats st;
	struct bench b;

	bench_make(&b, p, p->dir);
	bench_close(&b, &st);
	assert_int_equal(st.files, 0);
	assert_string_equal(st.path, "");
	assert_files(p->dir, "");
}

static void test_new_file(void **state)
{
	struct place *p = *state;
	struct bench b;

	bench_make(&b, p, p->dir);
	submit(&b, true);
	submit(&b, false);
	await_written(&b, 2 * PER_BATCH);
	/* Immediately after a flush, when there is nothing to submit: */
	assert_int_equal(spool_submit(b.spool, true), 0);
	submit(&b, false);
	bench_close(&b, NULL);
	assert_files(
		p->dir, "h-20240301T120000Z.lpa h-20240301T120005Z.lpa h-20240301T120010Z.lpa");
	assert_in_order(p->dir, START, 3 * PER_BATCH);
}

static void test_events(void **state)
{
	struct place *p = *state;
	struct spool_stats st;
	char events[2048];
	struct bench b;

	bench_make(&b, p, p->dir);
	spool_event(b.spool, b.now_us, "kind=first");
	spool_event(b.spool, b.now_us, "kind=second");
	submit(&b, false);
	for (int i = 0; i < 20; i++)
		spool_event(b.spool, b.now_us, "kind=many");
	submit(&b, false);
	bench_close(&b, &st);
	events_read(st.path, events);
	assert_ptr_equal(strstr(events, "kind=first\nkind=second\nkind=many\n"), events);
}

static void test_two_recorders(void **state)
{
	struct place *p = *state;
	struct spool_config other;
	struct spool *second = NULL;
	struct lp_err err = {0};
	struct bench b;

	bench_make(&b, p, p->dir);
	other = b.config;
	assert_int_equal(spool_open(&other, &second, &err), -EBUSY);
	assert_non_null(strstr(err.text, "another recorder"));
	other.name = "i";
	assert_int_equal(spool_open(&other, &second, &err), 0);
	spool_close(second, NULL);
	bench_close(&b, NULL);
	other.name = "h";
	assert_int_equal(spool_open(&other, &second, &err), 0); /* the first one is gone */
	spool_close(second, NULL);
	spool_close(NULL, NULL);
}

static void test_bad_directories(void **state)
{
	struct place *p = *state;
	char path[1024];
	struct spool_config c = {.dir = path, .name = "h", .observer = "h", .batch_samples = 1};
	struct spool *s = NULL;
	struct lp_err err = {0};

	snprintf(path, sizeof(path), "/proc/nowhere");
	assert_true(spool_open(&c, &s, &err) < 0);
	assert_non_null(strstr(err.text, "/proc/nowhere"));
	memset(path, 'x', 600);
	path[0] = '/';
	path[600] = '\0';
	assert_int_equal(spool_open(&c, &s, &err), -ENAMETOOLONG);
	snprintf(path, sizeof(path), "%s/a/b/c", p->dir);
	assert_int_equal(spool_open(&c, &s, &err), 0);
	spool_close(s, NULL);
}

/* Put a file where the directory was: nothing can be written there, not even by root. */
static void block(const char *dir)
{
	FILE *f;

	remove_tree(dir);
	f = fopen(dir, "w");
	assert_non_null(f);
	fclose(f);
}

static void test_fails_and_recovers(void **state)
{
	struct place *p = *state;
	struct spool_stats st;
	struct bench b;
	char dir[128];

	snprintf(dir, sizeof(dir), "%s/d", p->dir);
	bench_make(&b, p, dir);
	submit(&b, false);
	await_written(&b, PER_BATCH);
	block(dir);
	for (int i = 0; i < 4; i++)
		submit(&b, false);
	await_failing(&b);
	spool_get_stats(b.spool, &st);
	assert_int_equal(st.samples_lost, 0); /* they wait */
	assert_int_equal(unlink(dir), 0);
	await_written(&b, 5 * PER_BATCH);
	bench_close(&b, &st);
	assert_int_equal(st.samples_written, 5 * PER_BATCH);
	assert_int_equal(st.samples_lost, 0);
	assert_int_equal(heard_count(&p->heard, "sampling continues"), 1);
	assert_int_equal(heard_count(&p->heard, "works again; 0 samples were lost"), 1);
	assert_in_order(dir, "2024-03-01T12:00:05Z", 4 * PER_BATCH);
}

static void test_queue_full(void **state)
{
	struct place *p = *state;
	struct spool_stats st;
	char dir[128], events[2048];
	static struct samples s;
	struct bench b;

	snprintf(dir, sizeof(dir), "%s/d", p->dir);
	bench_make(&b, p, dir);
	block(dir);
	for (int i = 0; i < SPOOL_DEPTH + 3; i++) {
		if (i == SPOOL_DEPTH + 1)
			spool_event(b.spool, b.now_us, "kind=kept");
		submit(&b, i == SPOOL_DEPTH);
	}
	await_failing(&b);
	spool_get_stats(b.spool, &st);
	assert_int_equal(st.samples_lost, 3 * PER_BATCH);
	assert_int_equal(unlink(dir), 0);
	await_written(&b, SPOOL_DEPTH * PER_BATCH);
	submit(&b, false);
	bench_close(&b, &st);
	assert_int_equal(st.samples_written, (SPOOL_DEPTH + 1) * PER_BATCH);
	assert_int_equal(st.samples_lost, 3 * PER_BATCH);
	assert_int_equal(heard_count(&p->heard, "works again"), 1);
	assert_int_equal(p->heard.n, 2);
	samples_read(dir, &s); /* the newest were lost, then it goes on */
	assert_int_equal(s.n, (SPOOL_DEPTH + 1) * PER_BATCH);
	assert_int_equal(s.wall_us[SPOOL_DEPTH * PER_BATCH],
		at(START) + (SPOOL_DEPTH + 3) * PER_BATCH * US_PER_SEC);
	/* What was to go with the lost ones went with the next: the new file, the remark. */
	assert_int_equal(st.files, 2);
	events_read(st.path, events);
	assert_non_null(strstr(events, "kind=kept\n"));
}

/* Told to stop while nothing can be written: one more try, then the samples are lost. */
static void test_stops_while_failing(void **state)
{
	struct place *p = *state;
	struct spool_stats st;
	struct bench b;
	char dir[128];

	snprintf(dir, sizeof(dir), "%s/d", p->dir);
	bench_make(&b, p, dir);
	block(dir);
	submit(&b, false);
	submit(&b, false);
	await_failing(&b);
	bench_close(&b, &st);
	assert_int_equal(st.samples_lost, 2 * PER_BATCH);
	assert_int_equal(st.samples_written, 0);
	assert_int_equal(p->heard.n, 1);
	/* And where that try succeeds everything is written, and once. */
	unlink(dir);
	bench_make(&b, p, dir);
	block(dir);
	submit(&b, false);
	submit(&b, false);
	await_failing(&b);
	unlink(dir);
	bench_close(&b, &st);
	assert_int_equal(st.samples_lost, 0);
	assert_in_order(dir, START, 2 * PER_BATCH);
}

static void test_patient(void **state)
{
	struct place *p = *state;
	struct spool_stats st;
	struct bench b;

	bench_make(&b, p, p->dir);
	bench_close(&b, NULL);
	b.config.patient = true;
	bench_start(&b);
	for (int i = 0; i < 5 * SPOOL_DEPTH; i++)
		submit(&b, false);
	bench_close(&b, &st);
	assert_int_equal(st.samples_lost, 0);
	assert_in_order(p->dir, START, 5 * SPOOL_DEPTH * PER_BATCH);
}

/* A component appears, another gets other labels. */
static void test_catalogue_changes(void **state)
{
	struct place *p = *state;
	struct lp_source *source = NULL;
	struct lp_batch *batch;
	struct lp_err err = {0};
	struct spool_stats st;
	struct bench b;

	bench_make(&b, p, p->dir);
	submit(&b, false);
	await_written(&b, PER_BATCH);
	assert_int_equal(journal_add(spool_journal(b.spool), 0, 0, "h", "sda", "stable=new\n"), 0);
	assert_int_equal(journal_add(spool_journal(b.spool), 1, 0, "h", "sdb", ""), 0);
	fake_sample(spool_batch(b.spool), b.now_us);
	assert_int_equal(spool_submit(b.spool, false), 0);
	bench_close(&b, &st);
	assert_int_equal(lp_archive_open(st.path, NULL, NULL, &source, &err), 0);
	while (lp_source_next(source, &batch, &err) > 0)
		;
	assert_int_equal(source->catalogue->n_components, 2);
	assert_string_equal(source->catalogue->components[0].labels, "stable=new\n");
	lp_source_close(source);
}

/* Changes while samples were lost are known when samples are written again; earlier owners of an id
 * keep their recorded samples. */
static void test_catalogue_changes_while_full(void **state)
{
	struct place *p = *state;
	struct lp_source *source = NULL;
	struct lp_batch *batch;
	struct lp_err err = {0};
	struct spool_stats st;
	struct bench b;
	char dir[128];

	snprintf(dir, sizeof(dir), "%s/d", p->dir);
	bench_make(&b, p, dir);
	block(dir);
	for (int i = 0; i < SPOOL_DEPTH + 3; i++) {
		struct journal *j = spool_journal(b.spool);

		if (i == SPOOL_DEPTH + 1) { /* the first that is lost and that has changes */
			assert_int_equal(journal_add(j, 1, 0, "h", "sdb", ""), 0);
			assert_int_equal(journal_add(j, 2, 0, "h", "sdc", ""), 0);
		}
		if (i == SPOOL_DEPTH + 2) {
			assert_int_equal(journal_add(j, 0, 0, "h", "sdd", ""), 0);
			assert_int_equal(journal_add(j, 2, 0, NULL, NULL, NULL), 0);
			assert_int_equal(j->n, 3);
		}
		submit(&b, false);
	}
	await_failing(&b);
	assert_int_equal(unlink(dir), 0);
	await_written(&b, SPOOL_DEPTH * PER_BATCH);
	submit(&b, false);
	bench_close(&b, &st);
	assert_int_equal(lp_archive_open(st.path, NULL, NULL, &source, &err), 0);
	assert_int_equal(source->catalogue->n_components, 3);
	assert_string_equal(source->catalogue->components[0].name, "sda");
	assert_int_equal(lp_source_next(source, &batch, &err), 1);
	assert_string_equal(source->catalogue->components[batch->kinds[0].ids[0]].name, "sda");
	while (lp_source_next(source, &batch, &err) == 1)
		assert_string_equal(
			source->catalogue->components[batch->kinds[0].ids[0]].name, "sdd");
	lp_source_close(source);
}

/* Log some more calls; every fifth one opens its file. */
static void log_calls(struct bench *b, unsigned n)
{
	struct trace_log *log = spool_log(b->spool);

	for (unsigned i = 0; i < n; i++, b->logged++) {
		struct trace_event e = {.seq = b->logged,
			.start_ns = b->now_us * 1000,
			.what = TRACE_CALL,
			.pid = 812,
			.tid = 812,
			.text = "/data/x",
			.text_len = 7};
		struct trace_descriptor d = {.seq = b->logged,
			.time_ns = b->now_us * 1000,
			.pid = 812,
			.fd = 3,
			.change = TRACE_FD_OPEN,
			.file = TRACE_FILE_STORAGE,
			.name = "/data/x"};

		assert_int_equal(trace_log_add(log, &e), 0);
		if (b->logged % 5 == 0)
			assert_int_equal(trace_log_add_descriptor(log, &d), 0);
	}
}

/* What is expected of a file's logs: all calls from `first` on. */
struct expected {
	uint64_t first, n_calls, n_descriptors;
};

static int expect_call(void *ctx, uint64_t record, const struct trace_event *e)
{
	struct expected *x = ctx;

	assert_int_equal(record, x->n_calls);
	assert_int_equal(e->seq, x->first + x->n_calls++);
	assert_int_equal(e->text_len, 7);
	assert_memory_equal(e->text, "/data/x", 7);
	return 0;
}

static int expect_descriptor(void *ctx, uint64_t record, const struct trace_descriptor *d)
{
	struct expected *x = ctx;

	assert_int_equal(record, x->n_descriptors);
	assert_int_equal(d->seq, (x->first + 4) / 5 * 5 + 5 * x->n_descriptors++);
	assert_string_equal(d->name, "/data/x");
	return 0;
}

/* The file has exactly these calls and their descriptors, in order, and is sound. */
static void assert_logs(const char *dir, const char *name, uint64_t first, uint64_t n)
{
	struct lp_source *source = NULL;
	struct expected x = {.first = first};
	struct trace_log_reader to = {
		.event = expect_call, .descriptor = expect_descriptor, .ctx = &x};
	struct lp_err err = {0};
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	assert_true(is_sealed(path));
	if (lp_archive_open(path, NULL, NULL, &source, &err) < 0 ||
		trace_log_read(source, &to, &err) < 0)
		fail_msg("%s", err.text);
	lp_source_close(source);
	assert_int_equal(x.n_calls, n);
	assert_int_equal(x.n_descriptors, (first + n + 4) / 5 - (first + 4) / 5);
}

/* Submit only the log. */
static void submit_log(struct bench *b)
{
	assert_int_equal(spool_submit_log(b->spool, b->now_us), 0);
	assert_int_equal(trace_log_records(spool_log(b->spool)), 0);
}

static void test_logs(void **state)
{
	struct place *p = *state;
	struct spool_stats st;
	struct bench b;

	bench_open(&b, p, p->dir, true);
	for (unsigned i = 0; i < 6; i++) {
		log_calls(&b, 7 * i); /* the first batch has none */
		submit(&b, false);
		assert_int_equal(trace_log_records(spool_log(b.spool)), 0);
	}
	bench_close(&b, &st);
	assert_int_equal(st.samples_written, 6 * PER_BATCH);
	assert_int_equal(st.records_lost, 0);
	assert_files(p->dir, "h-20240301T120000Z.lpa");
	assert_logs(p->dir, "h-20240301T120000Z.lpa", 0, 7 * 15);
	assert_in_order(p->dir, START, 6 * PER_BATCH);
	assert_int_equal(p->heard.n, 0);
}

/* Much is logged between two samples: the log goes, and the batch stays as it was. */
static void test_logs_alone(void **state)
{
	struct place *p = *state;
	struct spool_stats st;
	struct bench b;

	bench_open(&b, p, p->dir, true);
	for (int i = 0; i < 3; i++) {
		struct lp_batch *batch = spool_batch(b.spool);
		uint32_t before;

		fake_sample(batch, b.now_us);
		b.now_us += US_PER_SEC;
		before = batch->n_samples;
		for (int k = 0; k < 2; k++) {
			log_calls(&b, 1000);
			spool_event(b.spool, b.now_us, k ? "kind=second" : "kind=first");
			submit_log(&b);
			submit_log(&b); /* nothing new: nothing happens */
			assert_ptr_equal(spool_batch(b.spool), batch);
			assert_int_equal(batch->n_samples, before);
		}
		log_calls(&b, 1);
		submit(&b, false);
		await_written(&b, (uint64_t)(i + 1) * PER_BATCH);
	}
	bench_close(&b, &st);
	assert_int_equal(st.samples_lost + st.records_lost, 0);
	assert_int_equal(st.files, 1);
	assert_logs(p->dir, "h-20240301T120001Z.lpa", 0, b.logged);
	assert_in_order(p->dir, START, 3 * PER_BATCH);
}

/* There are logs and never a sample: they have a file, of the time they were handed over. */
static void test_logs_without_samples(void **state)
{
	struct place *p = *state;
	struct spool_stats st;
	char events[2048];
	struct bench b;

	bench_open(&b, p, p->dir, true);
	spool_event(b.spool, b.now_us, "kind=told");
	log_calls(&b, 12);
	submit_log(&b);
	bench_close(&b, &st);
	assert_int_equal(st.samples_written, 0);
	assert_int_equal(st.files, 1);
	assert_true(st.bytes_written > 0);
	assert_logs(p->dir, "h-20240301T120000Z.lpa", 0, 12);
	events_read(st.path, events);
	assert_string_equal(events, "kind=told\n");
}

/* What was logged before a new file begins is in the old one; each counts its own records. */
static void test_logs_new_file(void **state)
{
	struct place *p = *state;
	struct bench b;

	bench_open(&b, p, p->dir, true);
	log_calls(&b, 3);
	submit(&b, true);
	log_calls(&b, 9);
	submit_log(&b); /* begins it: nothing of the samples is there yet */
	log_calls(&b, 5);
	submit(&b, false);
	await_written(&b, 2 * PER_BATCH);
	log_calls(&b, 2); /* not handed over when a new file is wished for: goes with the samples */
	assert_int_equal(spool_submit(b.spool, true), 0);
	log_calls(&b, 1);
	submit(&b, false);
	bench_close(&b, NULL);
	assert_files(
		p->dir, "h-20240301T120000Z.lpa h-20240301T120005Z.lpa h-20240301T120010Z.lpa");
	assert_logs(p->dir, "h-20240301T120000Z.lpa", 0, 3);
	assert_logs(p->dir, "h-20240301T120005Z.lpa", 3, 14);
	assert_logs(p->dir, "h-20240301T120010Z.lpa", 17, 3);
	assert_in_order(p->dir, START, 3 * PER_BATCH);
}

/* Told where to write, and not to a directory. */
static void test_logs_path(void **state)
{
	struct place *p = *state;
	struct bench b;
	char path[128];

	bench_open(&b, p, p->dir, true);
	spool_close(b.spool, NULL);
	snprintf(path, sizeof(path), "%s/own.lpa", p->dir);
	b.config.path = path;
	bench_start(&b);
	log_calls(&b, 4);
	submit(&b, true); /* there is no other file */
	log_calls(&b, 4);
	submit_log(&b);
	bench_close(&b, NULL);
	assert_files(p->dir, "own.lpa");
	assert_logs(p->dir, "own.lpa", 0, 8);
	assert_in_order(p->dir, START, PER_BATCH);
}

/* While nothing can be written logs wait like samples, and are written once. */
static void test_logs_fail_and_recover(void **state)
{
	struct place *p = *state;
	struct spool_stats st;
	struct bench b;
	char dir[128];

	snprintf(dir, sizeof(dir), "%s/d", p->dir);
	bench_open(&b, p, dir, true);
	log_calls(&b, 10);
	submit(&b, false);
	await_written(&b, PER_BATCH);
	block(dir);
	for (unsigned i = 0; i < 3; i++) {
		log_calls(&b, 10);
		submit_log(&b);
		log_calls(&b, 10);
		submit(&b, false);
	}
	await_failing(&b);
	assert_int_equal(unlink(dir), 0);
	await_written(&b, 4 * PER_BATCH);
	bench_close(&b, &st);
	assert_int_equal(st.samples_lost + st.records_lost, 0);
	assert_logs(dir, "h-20240301T120005Z.lpa", 10, 60);
	assert_in_order(dir, "2024-03-01T12:00:05Z", 3 * PER_BATCH);
}

/* More than can wait is lost, counted and forgotten; the remarks and the new file are not. */
static void test_logs_queue_full(void **state)
{
	struct place *p = *state;
	struct spool_stats st;
	char dir[128], events[2048];
	struct bench b;

	snprintf(dir, sizeof(dir), "%s/d", p->dir);
	bench_open(&b, p, dir, true);
	spool_close(b.spool, NULL);
	b.config.patient = true; /* so that nothing is lost once it can be written */
	bench_start(&b);
	block(dir);
	for (unsigned i = 0; i < SPOOL_DEPTH; i++) {
		log_calls(&b, 5);
		submit_log(&b);
	}
	fake_sample(spool_batch(b.spool), b.now_us);
	assert_int_equal(spool_submit(b.spool, true), 0); /* lost */
	await_failing(&b);
	log_calls(&b, 10); /* and two descriptors */
	spool_event(b.spool, b.now_us, "kind=kept");
	submit_log(&b);
	spool_get_stats(b.spool, &st);
	assert_int_equal(st.records_lost, 12);
	assert_int_equal(st.samples_lost, 1);
	assert_int_equal(unlink(dir), 0);
	b.now_us += 60 * US_PER_SEC;
	await_files(&b, 1);
	log_calls(&b, 5);
	submit(&b, false);
	bench_close(&b, &st);
	assert_int_equal(st.records_lost, 12);
	assert_int_equal(st.files, 2);
	assert_logs(dir, "h-20240301T120000Z.lpa", 0, 5 * SPOOL_DEPTH);
	assert_logs(dir, "h-20240301T120100Z.lpa", 5 * SPOOL_DEPTH + 10, 5);
	events_read(st.path, events);
	assert_string_equal(events, "kind=kept\n");
}

static void test_logs_stop_while_failing(void **state)
{
	struct place *p = *state;
	struct spool_stats st;
	struct bench b;
	char dir[128];

	snprintf(dir, sizeof(dir), "%s/d", p->dir);
	bench_open(&b, p, dir, true);
	block(dir);
	log_calls(&b, 5);
	submit_log(&b);
	log_calls(&b, 5);
	submit(&b, false);
	await_failing(&b);
	bench_close(&b, &st);
	assert_int_equal(st.records_lost, 12);
	assert_int_equal(st.samples_lost, PER_BATCH);
}

/* Recorders have none. */
static void test_no_logs(void **state)
{
	struct place *p = *state;
	struct bench b;

	bench_make(&b, p, p->dir);
	assert_null(spool_log(b.spool));
	assert_int_equal(spool_submit_log(b.spool, b.now_us), 0);
	bench_close(&b, NULL);
	assert_files(p->dir, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		place_test(test_writes_all),
		place_test(test_nothing_recorded),
		place_test(test_new_file),
		place_test(test_events),
		place_test(test_two_recorders),
		place_test(test_bad_directories),
		place_test(test_fails_and_recovers),
		place_test(test_queue_full),
		place_test(test_stops_while_failing),
		place_test(test_patient),
		place_test(test_catalogue_changes),
		place_test(test_catalogue_changes_while_full),
		place_test(test_logs),
		place_test(test_logs_alone),
		place_test(test_logs_without_samples),
		place_test(test_logs_new_file),
		place_test(test_logs_path),
		place_test(test_logs_fail_and_recover),
		place_test(test_logs_queue_full),
		place_test(test_logs_stop_while_failing),
		place_test(test_no_logs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
