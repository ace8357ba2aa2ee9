/* The loop with instruments that a test controls, by the system's clock. Durations are not
 * checked. */
#include "collect/loop.h"
#include "spool_util.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* An instrument: every sample of it makes something happen, and that wants to be served. */
struct fake {
	char name[8];
	int event_fd;	    /* readable when something happened; -1: it waits itself */
	unsigned happened;  /* not served yet, where it waits itself */
	unsigned end_after; /* so much was served; 0: never */
	unsigned stop_at;   /* a signal comes in this sample; 0: never */
	unsigned fail_at;   /* this sample fails; 0: none */
	int fail_open, fail_begin;
	bool again; /* the last sample does not hold it all */
	struct collect_row row;
	/* What was called. */
	unsigned n_samples, n_last, n_served, n_closed;
	bool began;
};

static int fake_open(void *config, void **ret_state, struct lp_err *err)
{
	struct fake *f = config;

	if (f->fail_open)
		return lp_err_set(err, f->fail_open, "%s cannot be opened", f->name);
	*ret_state = f;
	return 0;
}

static int fake_begin(void *state, struct collect_sink *sink, struct lp_err *err)
{
	struct fake *f = state;

	assert_non_null(sink->spool);
	f->began = true;
	return f->fail_begin ? lp_err_set(err, f->fail_begin, "%s cannot begin", f->name) : 0;
}

static int fake_descriptor(void *state)
{
	return ((struct fake *)state)->event_fd;
}

static int fake_serve(void *state, int timeout_ms, struct lp_err *err)
{
	struct fake *f = state;
	eventfd_t n = 0;

	(void)err;
	if (f->event_fd >= 0) {
		assert_int_equal(timeout_ms, 0); /* the loop has waited */
		if (eventfd_read(f->event_fd, &n) < 0)
			n = 0;
	} else if (f->happened) {
		n = f->happened;
		f->happened = 0;
	} else if (timeout_ms) {
		poll(NULL, 0, timeout_ms);
	}
	f->n_served += (unsigned)n;
	return f->end_after && f->n_served >= f->end_after;
}

static int store(struct fake *f, struct collect_sink *sink, struct lp_err *err)
{
	const int64_t values[2] = {f->n_samples, f->n_served};
	bool first = !f->n_samples;

	if (first && collect_add_component(sink, &fake_schema, "h", f->name, "", &f->row, err) < 0)
		return -ENOMEM;
	return collect_store(sink, &f->row, first, values, err);
}

static int fake_sample_at(
	void *state, const struct instant *at, struct collect_sink *sink, struct lp_err *err)
{
	struct fake *f = state;
	int r = store(f, sink, err);

	assert_int_equal(at->wall_us, sink->batch->wall_us[sink->batch->n_samples - 1]);
	f->n_samples++;
	f->n_last += at->last;
	if (f->event_fd >= 0)
		eventfd_write(f->event_fd, 1);
	else
		f->happened++;
	if (f->n_samples == f->stop_at)
		raise(SIGTERM);
	if (f->n_samples == f->fail_at)
		return lp_err_set(err, -EIO, "%s broke", f->name);
	return r < 0 ? r : at->last && f->again && f->n_last == 1;
}

static void fake_close(void *state)
{
	struct fake *f = state;

	f->n_closed++;
}

/* Both are sampled at the ends. */
static const struct instrument served = {
	.name = "served",
	.at_ends = true,
	.open = fake_open,
	.begin = fake_begin,
	.descriptor = fake_descriptor,
	.serve = fake_serve,
	.sample = fake_sample_at,
	.close = fake_close,
};

/* At instants only, as collectors are. */
static const struct instrument sampled = {
	.name = "sampled",
	.open = fake_open,
	.sample = fake_sample_at,
	.close = fake_close,
};

static struct fake fake_make(const char *name, bool descriptor)
{
	struct fake f = {.event_fd = descriptor ? eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC) : -1};

	assert_true(!descriptor || f.event_fd >= 0);
	snprintf(f.name, sizeof(f.name), "%s", name);
	return f;
}

static void fake_release(struct fake *f)
{
	if (f->event_fd >= 0)
		close(f->event_fd);
}

static int run(struct place *p, const struct instrument *a, struct fake *fa,
	const struct instrument *b, struct fake *fb, struct loop_stats *ret, struct lp_err *err)
{
	struct loop_config c = {.instruments = {{a, fa}, {b, fb}},
		.spool = {.dir = p->dir, .name = "h", .observer = "h"},
		.interval_us = 20000,
		.flush_us = 100000,
		.warn = &p->warn};
	struct ticker *ticker = NULL;
	int r;

	assert_int_equal(ticker_system(&ticker, err), 0);
	r = loop_run(&c, ticker, ret, err);
	ticker_free(ticker);
	return r;
}

/* What the archive has of a component: how many samples have it. */
struct count {
	const char *name;
	uint32_t n;
};

static int count_batch(
	void *ctx, struct lp_source *source, const struct lp_batch *b, struct lp_err *err)
{
	struct count *count = ctx;

	(void)err;
	for (uint32_t k = 0; b && k < b->n_kinds; k++) {
		for (uint32_t row = 0; row < b->kinds[k].n_components; row++) {
			const struct lp_batch_kind *kind = &b->kinds[k];

			if (strcmp(source->catalogue->components[kind->ids[row]].name,
				    count->name) != 0)
				continue;
			for (uint32_t s = b->carry ? 1 : 0; s < b->n_samples; s++)
				count->n +=
					kind->state[(size_t)row * b->cap_samples + s] & LP_PRESENT;
		}
	}
	return 0;
}

static uint32_t written(const struct place *p, const char *name)
{
	const char *dir = p->dir;
	struct count count = {.name = name};
	struct lp_dataset *ds = NULL;
	struct lp_err err = {0};

	assert_int_equal(lp_dataset_open(&dir, 1, NULL, NULL, NULL, &ds, &err), 0);
	assert_int_equal(lp_dataset_read(ds, NULL, count_batch, &count, &err), 0);
	lp_dataset_close(ds);
	return count.n;
}

/* Whether it waits itself or has a descriptor: it is served after each sample, ends the loop when
 * it has ended, and is sampled at the beginning and at the end. */
static void test_served(void **state)
{
	struct place *p = *state;

	for (int descriptor = 0; descriptor < 2; descriptor++) {
		struct fake f = fake_make("a", descriptor);
		struct loop_stats st = {0};
		struct lp_err err = {0};

		f.end_after = 3;
		assert_int_equal(run(p, &served, &f, NULL, NULL, &st, &err), 0);
		assert_true(f.began);
		assert_int_equal(f.n_served, 3);
		assert_int_equal(f.n_samples, 4); /* one after the last that was served */
		assert_int_equal(f.n_last, 1);
		assert_int_equal(f.n_closed, 1);
		assert_int_equal(st.samples, 4);
		assert_int_equal(st.components, 1);
		assert_int_equal(st.spool.samples_written, 4);
		assert_int_equal(written(p, "a"), 4);
		fake_release(&f);
		remove_tree(p->dir);
	}
}

/* The loop goes on until the last one has ended, and all of them are in every sample. */
static void test_several(void **state)
{
	struct place *p = *state;
	struct fake a = fake_make("a", true), b = fake_make("b", false);
	struct loop_stats st = {0};
	struct lp_err err = {0};

	a.end_after = 2;
	b.end_after = 6;
	assert_int_equal(run(p, &served, &a, &served, &b, &st, &err), 0);
	assert_int_equal(a.n_served, 2);
	assert_int_equal(b.n_served, 6);
	assert_int_equal(a.n_samples, b.n_samples);
	assert_int_equal(a.n_last, 1);
	assert_int_equal(written(p, "a"), a.n_samples);
	assert_int_equal(written(p, "b"), b.n_samples);
	fake_release(&a);
}

/* One that is only sampled never ends: that takes a signal, and there is no sample at the ends
 * unless another one asks for it. */
static void test_signal(void **state)
{
	struct place *p = *state;
	struct fake a = fake_make("a", true), b = fake_make("b", false);
	struct loop_stats st = {0};
	struct lp_err err = {0};

	b.stop_at = 3;
	assert_int_equal(run(p, &sampled, &b, NULL, NULL, &st, &err), 0);
	assert_int_equal(b.n_samples, 3);
	assert_int_equal(b.n_last, 0);
	assert_int_equal(written(p, "b"), 3);
	remove_tree(p->dir);
	b = fake_make("b", false);
	b.stop_at = 5;
	a.end_after = 2; /* what else runs goes on */
	assert_int_equal(run(p, &served, &a, &sampled, &b, &st, &err), 0);
	assert_int_equal(a.n_served, 2);
	assert_int_equal(a.n_samples, 6);
	assert_int_equal(b.n_samples, 6);
	assert_int_equal(b.n_last, 1);
	fake_release(&a);
}

static void test_again(void **state)
{
	struct place *p = *state;
	struct fake f = fake_make("a", true);
	struct loop_stats st = {0};
	struct lp_err err = {0};

	f.end_after = 1;
	f.again = true;
	assert_int_equal(run(p, &served, &f, NULL, NULL, &st, &err), 0);
	assert_int_equal(f.n_samples, 3);
	assert_int_equal(f.n_last, 2);
	assert_int_equal(written(p, "a"), 3);
	fake_release(&f);
}

/* What was sampled before it broke is kept. */
static void test_failures(void **state)
{
	struct place *p = *state;
	struct fake a = fake_make("a", true), b = fake_make("b", true);
	struct loop_stats st = {0};
	struct lp_err err = {0};

	a.fail_at = 3;
	assert_int_equal(run(p, &served, &a, NULL, NULL, &st, &err), -EIO);
	assert_string_equal(err.text, "a broke");
	assert_int_equal(a.n_closed, 1);
	assert_int_equal(written(p, "a"), 3);
	remove_tree(p->dir);
	a.n_closed = 0;
	b.fail_open = -ENOENT;
	assert_int_equal(run(p, &served, &a, &served, &b, &st, &err), -ENOENT);
	assert_int_equal(a.n_closed, 1);
	assert_int_equal(b.n_closed, 0);
	assert_int_equal(access(p->dir, F_OK), -1); /* nothing was made */
	b.fail_open = 0;
	b.fail_begin = -EPERM;
	assert_int_equal(run(p, &served, &b, NULL, NULL, &st, &err), -EPERM);
	assert_int_equal(b.n_closed, 1);
	fake_release(&a);
	fake_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		place_test(test_served),
		place_test(test_several),
		place_test(test_signal),
		place_test(test_again),
		place_test(test_failures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
