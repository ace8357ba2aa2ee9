/* The recorder with clocks and collectors that a test controls. */
#include "collect/recorder.h"
#include "spool_util.h"

#include <malloc.h>
#include <math.h>
#include <unistd.h>

#define ASKED_MAX 4096

/* A clock that moves from instant to instant at once. Before the sample of each instant `meddle`
 * may set it, delay it, or whatever else happens to machines. */
struct fake_ticker {
	struct ticker ticker; /* must be first */
	int64_t wall_us, mono_us;
	unsigned n_due, stop_after;
	void (*meddle)(struct fake_ticker *t, unsigned sample);
	int64_t asked[ASKED_MAX]; /* the last instants waited for */
};

static void fake_now(struct ticker *t, int64_t *ret_wall_us, int64_t *ret_mono_us)
{
	const struct fake_ticker *f = (const struct fake_ticker *)t;

	*ret_wall_us = f->wall_us;
	*ret_mono_us = f->mono_us;
}

static void pass(struct fake_ticker *f, int64_t us)
{
	f->wall_us += us;
	f->mono_us += us;
}

static int fake_wait(struct ticker *t, int64_t until_wall_us, struct lp_err *err)
{
	struct fake_ticker *f = (struct fake_ticker *)t;

	(void)err;
	if (f->n_due == f->stop_after)
		return TICKER_STOP;
	if (f->n_due % 7 == 3 && f->asked[f->n_due % ASKED_MAX] != until_wall_us) {
		/* As if the clock had been set by nothing. */
		f->asked[f->n_due % ASKED_MAX] = until_wall_us;
		return TICKER_AGAIN;
	}
	f->asked[f->n_due % ASKED_MAX] = until_wall_us;
	pass(f, until_wall_us - f->wall_us + 50); /* the machine takes its time */
	if (f->meddle)
		f->meddle(f, f->n_due);
	f->n_due++;
	return TICKER_DUE;
}

static struct fake_ticker *fake_ticker(const char *start, unsigned stop_after)
{
	static struct fake_ticker f;

	memset(&f, 0, sizeof(f));
	f.ticker = (struct ticker){.patient = true, .fd = -1, .now = fake_now, .wait = fake_wait};
	f.wall_us = at(start);
	f.mono_us = 777;
	f.stop_after = stop_after;
	return &f;
}

/* A disk that does 100 reads in every second of the steady clock. */
static struct fake_ticker *clock_at_hand;
static unsigned n_samples_taken;

struct fake_disk {
	struct collect_row row;
	bool known;
};

static int disk_open(const struct collect_config *config, void **ret_state, struct lp_err *err)
{
	(void)config;
	(void)err;
	*ret_state = calloc(1, sizeof(struct fake_disk));
	n_samples_taken = 0;
	return *ret_state ? 0 : -ENOMEM;
}

static int disk_store(struct fake_disk *d, const char *name, struct collect_sink *sink)
{
	const int64_t values[2] = {clock_at_hand->mono_us / 10000, 0};
	struct lp_err err = {0};
	bool fresh = !d->known;

	if (fresh)
		assert_int_equal(
			collect_add_component(sink, &fake_schema, "h", name, "", &d->row, &err), 0);
	d->known = true;
	return collect_store(sink, &d->row, fresh, values, &err);
}

static int disk_sample(void *state, struct collect_sink *sink, struct lp_err *err)
{
	(void)err;
	n_samples_taken++;
	return disk_store(state, "sda", sink);
}

static const struct collector disk = {
	.name = "disk", .open = disk_open, .sample = disk_sample, .close = free};

/* One that is there from the 6th to the 10th sample. */
static int plugged_sample(void *state, struct collect_sink *sink, struct lp_err *err)
{
	(void)err;
	return n_samples_taken > 5 && n_samples_taken <= 10 ? disk_store(state, "sdb", sink) : 0;
}

static const struct collector plugged = {
	.name = "plugged", .open = disk_open, .sample = plugged_sample, .close = free};

static int broken_sample(void *state, struct collect_sink *sink, struct lp_err *err)
{
	(void)state;
	(void)sink;
	return n_samples_taken % 3 ? lp_err_set(err, -EIO, "it is broken") : 0;
}

static const struct collector broken = {
	.name = "broken", .open = disk_open, .sample = broken_sample, .close = free};

static int lacking_open(const struct collect_config *config, void **ret_state, struct lp_err *err)
{
	(void)config;
	(void)ret_state;
	return lp_err_set(err, -ENOENT, "this kernel has none");
}

static const struct collector lacking = {.name = "lacking", .open = lacking_open};

static int refusing_open(const struct collect_config *config, void **ret_state, struct lp_err *err)
{
	(void)config;
	(void)ret_state;
	return lp_err_set(err, -EINVAL, "a wrong option");
}

static const struct collector refusing = {.name = "refusing", .open = refusing_open};

static void config_make(struct recorder_config *c, struct place *p, int64_t interval_us)
{
	*c = (struct recorder_config){.collect = {.observer = "h"},
		.collectors = {&disk},
		.spool = {.dir = p->dir, .name = "h"},
		.interval_us = interval_us,
		.flush_us = 10 * interval_us,
		.warn = &p->warn};
}

static void run(const struct recorder_config *c, struct fake_ticker *t, struct loop_stats *ret)
{
	struct lp_err err = {0};

	clock_at_hand = t;
	if (recorder_run(c, &t->ticker, ret, &err) < 0)
		fail_msg("%s", err.text);
}

static void record(struct place *p, struct fake_ticker *t, struct loop_stats *ret)
{
	struct recorder_config c;

	config_make(&c, p, US_PER_SEC);
	run(&c, t, ret);
}

/* All values of tps, one a line: "sda 100 100 - 100". */
static void tps_read(const char *dir, int64_t step_us, char *text, size_t size)
{
	static const char *const metrics[] = {"tps"};
	struct lp_table_options opt = {.metrics = metrics, .n_metrics = 1, .step_us = step_us};
	struct lp_dataset *ds = NULL;
	struct lp_table **tables = NULL;
	struct lp_err err = {0};
	uint32_t n = 0;
	size_t len = 0;

	assert_int_equal(lp_dataset_open(&dir, 1, NULL, NULL, NULL, &ds, &err), 0);
	if (lp_dataset_tables(ds, &opt, &tables, &n, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(n, 1);
	for (uint32_t c = 0; c < tables[0]->n_components; c++) {
		len += (size_t)snprintf(text + len, size - len, "%s%s", c ? "\n" : "",
			tables[0]->components[c]->name);
		for (uint32_t i = 0; i < tables[0]->n_slots; i++) {
			double v = tables[0]->values[c * tables[0]->n_slots + i];

			if (isnan(v))
				len += (size_t)snprintf(text + len, size - len, " -");
			else
				len += (size_t)snprintf(text + len, size - len, " %.0f", v);
			assert_true(len < size);
		}
	}
	lp_table_free(tables[0]);
	free(tables);
	lp_dataset_close(ds);
}

static void assert_tps(const char *dir, const char *expected)
{
	char text[4096];

	tps_read(dir, US_PER_SEC, text, sizeof(text));
	assert_string_equal(text, expected);
}

static void test_alignment(void **state)
{
	static const int64_t intervals[] = {US_PER_SEC / 10, US_PER_SEC / 4, US_PER_SEC,
		10 * US_PER_SEC, 60 * US_PER_SEC, 300 * US_PER_SEC};
	struct place *p = *state;

	for (size_t i = 0; i < sizeof(intervals) / sizeof(intervals[0]); i++) {
		struct fake_ticker *t = fake_ticker("2024-03-01T12:34:56.789Z", 20);
		struct recorder_config c;
		struct loop_stats st;
		static struct samples s;

		config_make(&c, p, intervals[i]);
		run(&c, t, &st);
		assert_int_equal(st.samples, 20);
		assert_int_equal(st.late, 0);
		samples_read(st.spool.path, &s);
		assert_int_equal(s.n, 20);
		for (unsigned n = 0; n < 20; n++) {
			assert_int_equal(t->asked[n] % intervals[i], 0);
			assert_int_equal(s.wall_us[n], t->asked[n] + 50);
			if (n)
				assert_int_equal(t->asked[n] - t->asked[n - 1], intervals[i]);
		}
		assert_true(t->asked[0] - at("2024-03-01T12:34:56.789Z") <= intervals[i]);
		remove_tree(p->dir);
	}
}

static void test_rotation(void **state)
{
	struct place *p = *state;
	struct loop_stats st;
	static struct samples s;
	char path[256];

	for (unsigned before = 0; before < 12; before++) { /* wherever the last flush was */
		char start[32];

		snprintf(start, sizeof(start), "2024-02-29T23:59:%02u.5Z", 44 + before);
		record(p, fake_ticker(start, 40), &st);
		snprintf(path, sizeof(path), "h-20240229T2359%02uZ.lpa h-20240301T000005Z.lpa",
			45 + before);
		assert_files(p->dir, path);
		assert_int_equal(st.spool.files, 2);
		snprintf(path, sizeof(path), "%s/h-20240301T000005Z.lpa", p->dir);
		assert_string_equal(st.spool.path, path);
		samples_read(path, &s);
		assert_int_equal(s.wall_us[0], at("2024-03-01T00:00:05Z") + 50);
		assert_int_equal(s.n, 40 - (20 - before));
		samples_read(p->dir, &s);
		assert_int_equal(s.n, 40);
		remove_tree(p->dir);
	}
}

static void test_rotation_for_days(void **state)
{
	struct place *p = *state;
	struct recorder_config c;
	struct loop_stats st;
	char text[4096];

	config_make(&c, p, 3600 * US_PER_SEC);
	run(&c, fake_ticker("2024-03-01T12:00:00Z", 62), &st);
	assert_files(p->dir,
		"h-20240301T130000Z.lpa h-20240302T010000Z.lpa h-20240303T010000Z.lpa "
		"h-20240304T010000Z.lpa");
	/* The first value of each day is there: files do not end rates. */
	tps_read(p->dir, 3600 * US_PER_SEC, text, sizeof(text));
	assert_null(strstr(text, "-"));
}

static void back_5_seconds(struct fake_ticker *t, unsigned sample)
{
	if (sample == 12) /* 00:00:07 -> 00:00:02 */
		t->wall_us -= 5 * US_PER_SEC;
}

static void test_set_back_after_midnight(void **state)
{
	struct place *p = *state;
	struct fake_ticker *t = fake_ticker("2024-02-29T23:59:54.5Z", 40);
	struct loop_stats st;

	t->meddle = back_5_seconds;
	record(p, t, &st);
	assert_files(p->dir, "h-20240229T235955Z.lpa h-20240301T000005Z.lpa");
	assert_int_equal(st.samples, 40);
	assert_int_equal(st.late, 0);
	assert_int_equal(heard_count(&p->heard, "leapt"), 0);
}

static void forward_10_seconds(struct fake_ticker *t, unsigned sample)
{
	if (sample == 5)
		t->wall_us += 10 * US_PER_SEC;
}

static void test_step_forward(void **state)
{
	struct place *p = *state;
	struct fake_ticker *t = fake_ticker("2024-03-01T11:59:59.5Z", 10);
	struct loop_stats st;
	char events[2048];

	t->meddle = forward_10_seconds;
	record(p, t, &st);
	/* A gap; the rate after it is that of one second, by the steady clock. */
	assert_tps(p->dir, "sda 100 100 100 100 - - - - - - - - - - 100 100 100 100 100");
	assert_int_equal(st.late, 0);
	assert_int_equal(p->heard.n, 0);
	events_read(st.spool.path, events);
	assert_string_equal(events, "kind=clock-step step_us=10000000\n");
}

static int later_sample(void *state, struct collect_sink *sink, struct lp_err *err)
{
	struct fake_disk *d = state;
	int64_t values[2] = {0, 0};
	bool fresh = !d->known;

	n_samples_taken++;
	/* 10 reads a second before the clock is set back, 30 afterwards. */
	for (unsigned i = 0; i < n_samples_taken; i++)
		values[0] += i < 8 ? 10 : 30;
	if (fresh)
		assert_int_equal(
			collect_add_component(sink, &fake_schema, "h", "sda", "", &d->row, err), 0);
	d->known = true;
	return collect_store(sink, &d->row, fresh, values, err);
}

static const struct collector later = {
	.name = "later", .open = disk_open, .sample = later_sample, .close = free};

static void back_4_seconds(struct fake_ticker *t, unsigned sample)
{
	if (sample == 8)
		t->wall_us -= 4 * US_PER_SEC;
}

static void test_step_back(void **state)
{
	struct place *p = *state;
	struct fake_ticker *t = fake_ticker("2024-03-01T11:59:59.5Z", 14);
	struct recorder_config c;
	struct loop_stats st;
	static struct samples s;
	char events[2048];

	config_make(&c, p, US_PER_SEC);
	c.collectors[0] = &later;
	t->meddle = back_4_seconds;
	run(&c, t, &st);
	samples_read(p->dir, &s); /* 12:00:04 to 12:00:07 were recorded twice */
	assert_int_equal(s.n, 14);
	assert_int_equal(s.wall_us[7], at("2024-03-01T12:00:07Z") + 50);
	assert_int_equal(s.wall_us[8], at("2024-03-01T12:00:04Z") + 50);
	events_read(st.spool.path, events);
	assert_string_equal(events, "kind=clock-step step_us=-4000000\n");
	assert_tps(p->dir, "sda 10 10 10 30 30 30 30 30 30");
}

static void leap_3_hours(struct fake_ticker *t, unsigned sample)
{
	if (sample == 5)
		t->wall_us += 3 * 3600 * US_PER_SEC;
	if (sample == 20)
		t->wall_us -= 3 * 3600 * US_PER_SEC;
}

static void test_leap(void **state)
{
	struct place *p = *state;
	struct fake_ticker *t = fake_ticker("2024-03-01T11:59:59.5Z", 30);
	struct loop_stats st;
	char events[2048];

	t->meddle = leap_3_hours;
	record(p, t, &st);
	assert_int_equal(heard_count(&p->heard, "leapt by +10800.0 s"), 1);
	assert_int_equal(heard_count(&p->heard, "leapt by -10800.0 s"), 1);
	assert_int_equal(p->heard.n, 2);
	events_read(st.spool.path, events);
	assert_string_equal(events,
		"kind=clock-step step_us=10800000000\nkind=clock-step step_us=-10800000000\n");
	assert_files(p->dir, "h-20240301T120000Z.lpa");
	assert_int_equal(st.late, 0);
}

static void back_from_the_future(struct fake_ticker *t, unsigned sample)
{
	if (sample == 15)
		t->wall_us = at("2024-03-01T12:00:00Z");
}

/* A machine that started with a wrong year must not wait for it to write daily files again. */
static void test_wrong_year(void **state)
{
	struct place *p = *state;
	struct fake_ticker *t = fake_ticker("2040-01-01T12:00:00Z", 70);
	struct recorder_config c;
	struct loop_stats st;

	t->meddle = back_from_the_future;
	config_make(&c, p, 1800 * US_PER_SEC);
	run(&c, t, &st);
	assert_files(
		p->dir, "h-20240301T120000Z.lpa h-20240302T003000Z.lpa h-20400101T123000Z.lpa");
	assert_int_equal(heard_count(&p->heard, "leapt"), 1);
}

static void busy(struct fake_ticker *t, unsigned sample)
{
	if (sample == 5)
		pass(t, 3 * US_PER_SEC + US_PER_SEC / 5);
}

static void test_late(void **state)
{
	struct place *p = *state;
	struct fake_ticker *t = fake_ticker("2024-03-01T11:59:59.5Z", 10);
	struct loop_stats st;

	t->meddle = busy;
	record(p, t, &st);
	assert_int_equal(st.samples, 10);
	assert_int_equal(st.late, 3);
	assert_int_equal(t->asked[6], at("2024-03-01T12:00:09Z")); /* aligned again */
	assert_int_equal(p->heard.n, 0);
}

static void test_duration(void **state)
{
	struct place *p = *state;
	struct fake_ticker *t = fake_ticker("2024-03-01T11:59:59.5Z", 1000);
	struct recorder_config c;
	struct loop_stats st;

	config_make(&c, p, US_PER_SEC);
	c.duration_us = 60 * US_PER_SEC;
	t->meddle = leap_3_hours; /* a duration is by the steady clock */
	run(&c, t, &st);
	assert_int_equal(st.samples, 61); /* 60 seconds have 61 ends */
	assert_int_equal(st.spool.samples_written, 61);
	assert_int_equal(st.components, 1);
}

static void test_flush(void **state)
{
	struct place *p = *state;
	struct recorder_config c;
	struct loop_stats st;

	config_make(&c, p, 60 * US_PER_SEC);
	c.flush_us = US_PER_SEC; /* shorter than the interval: every sample is written */
	run(&c, fake_ticker("2024-03-01T12:00:00Z", 30), &st);
	assert_int_equal(st.spool.samples_written, 30);
}

static void test_broken_collector(void **state)
{
	struct place *p = *state;
	struct recorder_config c;
	struct loop_stats st;

	config_make(&c, p, US_PER_SEC);
	c.collectors[0] = &lacking;
	c.collectors[1] = &broken;
	c.collectors[2] = &disk;
	run(&c, fake_ticker("2024-03-01T11:59:59.5Z", 10), &st);
	assert_int_equal(heard_count(&p->heard, "without lacking: this kernel has none"), 1);
	assert_int_equal(heard_count(&p->heard, "broken: it is broken"), 1);
	assert_int_equal(p->heard.n, 2);
	assert_tps(p->dir, "sda 100 100 100 100 100 100 100 100 100");
}

static void test_nothing_to_record(void **state)
{
	struct place *p = *state;
	struct recorder_config c;
	struct loop_stats st;
	struct fake_ticker *t = fake_ticker("2024-03-01T12:00:00Z", 1);
	struct lp_err err = {0};

	config_make(&c, p, US_PER_SEC);
	c.collectors[0] = &lacking;
	assert_int_equal(recorder_run(&c, &t->ticker, &st, &err), -ENOENT);
	assert_non_null(strstr(err.text, "nothing to record"));
	c.collectors[0] = &disk;
	c.collectors[1] = &refusing;
	assert_int_equal(recorder_run(&c, &t->ticker, &st, &err), -EINVAL);
	assert_string_equal(err.text, "refusing: a wrong option");
	c.collectors[1] = NULL;
	c.spool.dir = "/proc/nowhere";
	assert_true(recorder_run(&c, &t->ticker, &st, &err) < 0);
	assert_files(p->dir, "");
}

static void test_hot_plug(void **state)
{
	struct place *p = *state;
	struct recorder_config c;
	struct loop_stats st;

	config_make(&c, p, US_PER_SEC);
	c.flush_us = 3 * US_PER_SEC;
	c.collectors[1] = &plugged;
	run(&c, fake_ticker("2024-03-01T11:59:59.5Z", 12), &st);
	assert_int_equal(st.components, 2);
	assert_tps(p->dir,
		"sda 100 100 100 100 100 100 100 100 100 100 100\n"
		"sdb - - - - - 100 100 100 100 - -");
}

#define TRANSIENTS 100000
#define TRANSIENT_LABELS 300 /* bytes */
/* When memory is looked at: it has its size then, and at the end. */
#define LOOK_FIRST (TRANSIENTS / 6)
#define LOOK_LAST (TRANSIENTS - 1)

/* The sanitizers' own count; they have their own malloc(). */
size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

static size_t allocated(void)
{
	struct mallinfo2 m;

	if (__sanitizer_get_current_allocated_bytes)
		return __sanitizer_get_current_allocated_bytes();
	m = mallinfo2();
	return m.uordblks + m.hblkhd;
}

/* Are all files but the one at hand sealed? */
static bool all_sealed(const char *dir)
{
	struct dirent **entries = NULL;
	char path[512];
	bool sealed = true;
	int n = scandir(dir, &entries, visible, alphasort);

	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, entries[i]->d_name);
		if (strstr(path, ".tmp"))
			sealed = false;
		else if (i + 1 < n)
			sealed = sealed && is_sealed(path);
		free(entries[i]);
	}
	free(entries);
	return sealed;
}

/* What is allocated when the other threads have done their work. */
static size_t allocated_at_rest(const char *dir)
{
	size_t least = SIZE_MAX;

	while (!all_sealed(dir))
		usleep(20000);
	for (unsigned i = 0; i < 50; i++) {
		size_t now = allocated();

		least = now < least ? now : least;
		usleep(2000);
	}
	return least;
}

static const char *transient_dir;
static size_t allocated_first, allocated_last;

/* An interface that stays, and a new one in each sample. */
static int transient_sample(void *state, struct collect_sink *sink, struct lp_err *err)
{
	const int64_t values[2] = {n_samples_taken, 0};
	struct collect_row row;
	char name[32], labels[TRANSIENT_LABELS + 1];
	int r = disk_store(state, "eth0", sink);

	snprintf(name, sizeof(name), "veth%u", n_samples_taken++);
	snprintf(labels, sizeof(labels), "mac=%0*u", TRANSIENT_LABELS - 4, n_samples_taken);
	if (r == 0)
		r = collect_add_component(sink, &fake_schema, "h", name, labels, &row, err);
	if (r == 0)
		r = collect_store(sink, &row, true, values, err);
	if (n_samples_taken == LOOK_FIRST)
		allocated_first = allocated_at_rest(transient_dir);
	if (n_samples_taken == LOOK_LAST)
		allocated_last = allocated_at_rest(transient_dir);
	return r;
}

static const struct collector transient = {
	.name = "transient", .open = disk_open, .sample = transient_sample, .close = free};

/* Count the samples of all components. */
static int presence_take(
	void *ctx, struct lp_source *source, const struct lp_batch *b, struct lp_err *err)
{
	uint64_t *n = ctx;

	(void)source;
	(void)err;
	for (uint32_t row = 0; b && row < b->kinds[0].n_components; row++) {
		for (uint32_t s = b->carry ? 1 : 0; s < b->n_samples; s++)
			*n += b->kinds[0].state[(size_t)row * b->cap_samples + s] & LP_PRESENT;
	}
	return 0;
}

/* A host of containers: in a day as many interfaces as it has seconds, all of them recorded, and
 * memory that does not grow with them. */
static void test_transients(void **state)
{
	struct place *p = *state;
	const char *dir = p->dir;
	uint64_t n = 0;
	struct recorder_config c;
	struct loop_stats st;
	struct lp_dataset *ds = NULL;
	struct lp_err err = {0};

	config_make(&c, p, US_PER_SEC);
	c.collectors[0] = &transient;
	c.flush_us = 200 * US_PER_SEC;
	transient_dir = p->dir;
	allocated_first = allocated_last = 0;
	run(&c, fake_ticker("2024-03-01T00:00:05Z", TRANSIENTS), &st);
	assert_int_equal(st.samples, TRANSIENTS);
	assert_int_equal(st.components, TRANSIENTS + 1);
	assert_int_equal(st.spool.samples_lost, 0);
	print_message("# allocated: %zu bytes, later %zu; %d files\n", allocated_first,
		allocated_last, (int)st.spool.files);
	assert_true(allocated_last > 0);
	/* Where nothing retires it is more than five times as much. What is being written and
	 * sealed just then differs from look to look. */
	assert_true(allocated_last < 4 * allocated_first);
	assert_int_equal(lp_dataset_open(&dir, 1, NULL, NULL, NULL, &ds, &err), 0);
	assert_int_equal(lp_dataset_read(ds, NULL, presence_take, &n, &err), 0);
	assert_int_equal(n, 2 * TRANSIENTS);
	lp_dataset_close(ds);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		place_test(test_alignment),
		place_test(test_rotation),
		place_test(test_rotation_for_days),
		place_test(test_set_back_after_midnight),
		place_test(test_step_forward),
		place_test(test_step_back),
		place_test(test_leap),
		place_test(test_wrong_year),
		place_test(test_late),
		place_test(test_duration),
		place_test(test_flush),
		place_test(test_broken_collector),
		place_test(test_nothing_to_record),
		place_test(test_hot_plug),
		place_test(test_transients),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
