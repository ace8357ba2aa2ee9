#include "collect/spool.h"
#include "spool_util.h"
#include <sys/wait.h>

#define PER_BATCH 5
#define START "2024-03-01T12:00:00Z"

/* A spool at work. */
struct bench {
	struct spool_config config;
	struct spool *spool;
	struct lp_catalogue *catalogue;
	int64_t now_us;
};

static void bench_make(struct bench *b, struct place *p, const char *dir)
{
	struct lp_err err = {0};

	*b = (struct bench){.config = {.dir = dir,
				    .name = "h",
				    .observer = "h",
				    .interval_us = US_PER_SEC,
				    .batch_samples = PER_BATCH,
				    .warn = &p->warn},
		.catalogue = fake_catalogue(),
		.now_us = at(START)};
	if (spool_open(&b->config, &b->spool, &err) < 0)
		fail_msg("%s", err.text);
}

static void bench_close(struct bench *b, struct spool_stats *ret)
{
	spool_close(b->spool, ret);
	lp_catalogue_free(b->catalogue);
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
	assert_int_equal(spool_submit(b->spool, b->catalogue, 1, new_file), 0);
}

/* Wait until the writing thread has written so many samples. */
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
	spool_submit(b.spool, b.catalogue, 1, false); /* nothing new: nothing happens */
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
	/* Right behind a flush, when there is nothing to hand over: */
	assert_int_equal(spool_submit(b.spool, b.catalogue, 1, true), 0);
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
	assert_int_equal(heard_count(&p->heard, "sampling goes on"), 1);
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
	b.catalogue = fake_catalogue();
	b.config.patient = true;
	assert_int_equal(spool_open(&b.config, &b.spool, &(struct lp_err){0}), 0);
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
	uint32_t id;

	bench_make(&b, p, p->dir);
	submit(&b, false);
	await_written(&b, PER_BATCH);
	assert_int_equal(
		lp_catalogue_add_component(b.catalogue, 0, "h", "sda", "stable=new\n", &id, &err),
		0);
	assert_int_equal(lp_catalogue_add_component(b.catalogue, 0, "h", "sdb", "", &id, &err), 0);
	fake_sample(spool_batch(b.spool), b.now_us);
	assert_int_equal(spool_submit(b.spool, b.catalogue, 3, false), 0);
	bench_close(&b, &st);
	assert_int_equal(lp_archive_open(st.path, NULL, NULL, &source, &err), 0);
	while (lp_source_next(source, &batch, &err) > 0)
		;
	assert_int_equal(source->catalogue->n_components, 2);
	assert_string_equal(source->catalogue->components[0].labels, "stable=new\n");
	lp_source_close(source);
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
