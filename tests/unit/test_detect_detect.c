/* The whole engine on invented data: against the plain definitions, and what it must and must not
 * find when it calibrates itself. */
#include "detect_rig.h"

#include "detect/compare/votes.h"

/* --- steps 2 to 6, plainly --- */

struct plain {
	uint32_t smooth, win_size, win_shift, k;
	double threshold;
	const char *method;
};

/* Votes of all in one window. */
static void plain_votes(const struct plain *p, const struct lp_table *t, uint32_t window,
	double *ret_votes, bool *ret_data)
{
	uint32_t n = t->n_components;
	double *block = calloc((size_t)n * p->win_size, sizeof(*block));
	double *ignored = calloc(n, sizeof(*ignored));
	const double **rows = calloc(n, sizeof(*rows));
	struct window w = {rows, n, p->win_size, 0};

	assert_true(block && rows && ignored);
	for (uint32_t i = 0; i < n; i++) {
		double *row = block + (size_t)i * p->win_size;

		for (uint32_t s = 0; s < p->win_size; s++)
			row[s] = oracle_mean(t->values + (size_t)i * t->n_slots,
				window * p->win_shift + s, p->smooth);
		ret_data[i] = 2 * oracle_count(row, p->win_size) >= p->win_size;
		rows[i] = ret_data[i] ? row : NULL;
		w.n_with_data += ret_data[i];
	}
	if (!strcmp(p->method, "median"))
		oracle_median(&w, ret_votes);
	else if (!strcmp(p->method, "thresh"))
		oracle_thresh(&w, ret_votes);
	else if (!strcmp(p->method, "manhattan"))
		oracle_manhattan(&w, ret_votes);
	else
		oracle_pairwise(&w, !strcmp(p->method, "cdf"), ret_votes, ignored);
	free(block);
	free(rows);
	free(ignored);
}

/* Is the component anomalous in the window (step 5)? */
static bool plain_anomalous(const struct plain *p, const struct lp_table *t, uint32_t window,
	uint32_t component, const double *votes, const bool *data)
{
	const double *row = t->values + (size_t)component * t->n_slots;
	uint32_t n_data = 0;
	bool seen = false;

	if (data[component])
		return votes[component] > p->threshold;
	for (uint32_t i = 0; i < t->n_components; i++)
		n_data += data[i];
	for (uint32_t s = 0; s <= window * p->win_shift; s++)
		seen |= !isnan(row[s]);
	return seen && 2 * n_data > t->n_components - 1;
}

static bool plain_fires(const bool *anomalous, uint32_t n_windows, uint32_t k)
{
	for (uint32_t end = 0; end < n_windows; end++) {
		uint32_t n = 0;

		for (uint32_t back = 0; back < 2 * k - 1 && back <= end; back++)
			n += anomalous[end - back];
		if (n >= k)
			return true;
	}
	return false;
}

/* Integers, so that means over 1, 2 or 4 of them are exact; some go missing, some are off. */
static void fill_random(struct rig *r, double *values)
{
	for (uint32_t i = 0; i < r->n_components; i++) {
		uint32_t mood = oracle_below(8), from = oracle_below(r->n_slots);

		for (uint32_t s = 0; s < r->n_slots; s++) {
			double v = 10 + oracle_below(6);

			if (mood == 1 && s > from)
				v *= 4;
			if (mood == 2 && s > from)
				v = 0;
			if ((mood == 3 && s > from) || (mood == 4 && oracle_below(2)))
				v = NAN;
			values[(size_t)i * r->n_slots + s] = v;
		}
	}
}

static void check_plain(const struct plain *p, struct rig *r)
{
	struct fixed_thresholds fixed = {.items = {{NULL, p->threshold}}, .n = 1};
	struct detect_options opt = {.measure = measure_find(p->method),
		.params = {.smooth = p->smooth,
			.win_size = p->win_size,
			.win_shift = p->win_shift,
			.k = p->k},
		.fixed = &fixed};
	const struct lp_verdict *v = rig_run(r, &opt);
	const struct lp_table *t = v->tables[0];
	uint32_t n = t->n_components, n_windows = window_count(&v->params, t->n_slots);
	double *votes = calloc(n, sizeof(*votes));
	bool *data = calloc(n, sizeof(*data)), *anomalous = calloc((size_t)n * n_windows, 1);

	assert_non_null(votes);
	assert_true(data && anomalous);
	assert_int_equal(v->n_series, 1);
	for (uint32_t w = 0; w < n_windows; w++) {
		plain_votes(p, t, w, votes, data);
		for (uint32_t i = 0; i < n; i++) {
			size_t at = (size_t)i * n_windows + w;
			uint8_t mark = v->series[0].marks[at];

			anomalous[at] = plain_anomalous(p, t, w, i, votes, data);
			assert_int_equal(mark > LP_MARK_NORMAL, anomalous[at]);
			if (anomalous[at] && data[i])
				assert_true(fabs(v->series[0].distances[at] - votes[i]) <=
					1e-6 * votes[i]);
		}
	}
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(rig_finding(v, i, "await") != NULL,
			plain_fires(anomalous + (size_t)i * n_windows, n_windows, p->k));
	free(votes);
	free(data);
	free(anomalous);
}

static void test_plain(void **state)
{
	static const char *const methods[] = {"cdf", "kl", "median", "thresh", "manhattan"};
	static const uint32_t smooths[] = {1, 2, 4};

	(void)state;
	for (uint32_t round = 0; round < 200; round++) {
		struct plain p = {.method = methods[round % 5],
			.smooth = smooths[oracle_below(3)],
			.win_size = 4 + oracle_below(20),
			.k = 1 + oracle_below(4)};
		struct rig r;

		p.win_shift = 1 + oracle_below(p.win_size);
		/* Never a value that a distance can have: sums of integers and their quotients. */
		p.threshold = oracle_below(40) / 4.0 + 0.0123456789;
		if (p.method[0] == 'm' || p.method[0] == 't')
			p.threshold *= 10;
		rig_init(&r, 3 + oracle_below(12), 60 + oracle_below(100));
		fill_random(&r, rig_add(&r, "await", "ms"));
		check_plain(&p, &r);
		rig_release(&r);
	}
}

/* --- what it finds by itself --- */

static const struct detect_options by_itself = {0};

static void test_slow_disk(void **state)
{
	struct rig r;
	const struct lp_verdict *v;
	const struct lp_finding *f;

	(void)state;
	rig_init(&r, 8, 600);
	rig_scale(&r, rig_add_noise(&r, "await", "ms", 10, 0.3), 5, 0, 3);
	rig_add_noise(&r, "rd_sec", "sectors/s", 20000, 0.2);
	v = rig_run(&r, &by_itself);
	assert_int_equal(rig_n_accused(v), 1);
	f = rig_finding(v, 5, "await");
	assert_non_null(f);
	assert_int_equal(f->direction, LP_MARK_ABOVE);
	assert_true(f->culprit && !f->explained_by_load);
	assert_true(f->ratio > 2.7 && f->ratio < 3.3);
	assert_true(f->own > 25 && f->peers < 15);
	assert_true(f->load_ratio > 0.9 && f->load_ratio < 1.1);
	assert_true(f->weight >= 1 && f->distance > f->threshold);
	assert_int_equal(f->first_us, 1000000000 - 1000000);
	rig_release(&r);
}

static void test_onset(void **state)
{
	struct rig r;
	const struct lp_finding *f;

	(void)state;
	rig_init(&r, 8, 900);
	rig_scale(&r, rig_add_noise(&r, "await", "ms", 10, 0.3), 2, 450, 6);
	f = rig_finding(rig_run(&r, &by_itself), 2, "await");
	assert_non_null(f);
	/* A window that holds the onset, or the one after it. */
	assert_true(f->first_us >= 1000000000 + 389 * INT64_C(1000000));
	assert_true(f->first_us <= 1000000000 + 481 * INT64_C(1000000));
	assert_int_equal(f->last_us, 1000000000 + 899 * INT64_C(1000000));
	/* k = 3 windows of 30 s more, at the earliest. */
	assert_true(f->indicted_us > 1000000000 + 450 * INT64_C(1000000));
	assert_true(f->indicted_us < 1000000000 + 620 * INT64_C(1000000));
	rig_release(&r);
}

/* One or several bad peers must not hide themselves, nor make others look bad. */
static void test_several_bad(void **state)
{
	(void)state;
	for (uint32_t n_bad = 0; n_bad <= 5; n_bad++) {
		struct rig r;
		double *await;
		const struct lp_verdict *v;

		rig_init(&r, 12, 600);
		await = rig_add_noise(&r, "await", "ms", 10, 0.3);
		for (uint32_t i = 0; i < n_bad; i++)
			rig_scale(&r, await, 2 * i, 0, 3 + i);
		v = rig_run(&r, &by_itself);
		assert_int_equal(rig_n_accused(v), n_bad);
		for (uint32_t i = 0; i < n_bad; i++)
			assert_true(rig_accused(v, 2 * i));
		rig_release(&r);
	}
}

static void test_small_groups(void **state)
{
	(void)state;
	for (uint32_t n = 3; n <= 5; n++) {
		struct rig r;
		const struct lp_verdict *v;

		rig_init(&r, n, 600);
		rig_scale(&r, rig_add_noise(&r, "await", "ms", 10, 0.3), 1, 0, 4);
		v = rig_run(&r, &by_itself);
		assert_int_equal(rig_n_accused(v), 1);
		assert_true(rig_accused(v, 1));
		rig_release(&r);
	}
}

static void test_two_are_refused(void **state)
{
	struct rig r;
	const struct lp_verdict *v;

	(void)state;
	rig_init(&r, 2, 600);
	rig_scale(&r, rig_add_noise(&r, "await", "ms", 10, 0.3), 1, 0, 4);
	v = rig_run(&r, &by_itself);
	assert_int_equal(v->n_findings, 0);
	assert_int_equal(v->n_series, 0);
	assert_int_equal(v->n_groups, 1);
	assert_non_null(v->groups[0].refused);
	rig_release(&r);
}

/* Microseconds on idle disks, on any of them. */
static void test_floor(void **state)
{
	struct rig r;
	double *await;

	(void)state;
	rig_init(&r, 8, 600);
	await = rig_add(&r, "await", "ms");
	for (uint32_t s = 0; s < r.n_slots; s++)
		await[3 * (size_t)r.n_slots + s] = s % 7 ? 0 : 0.09;
	assert_int_equal(rig_run(&r, &by_itself)->n_findings, 0);
	rig_release(&r);
}

static void test_nothing_to_see(void **state)
{
	struct rig r;
	double *values;

	(void)state;
	rig_init(&r, 6, 300);
	rig_add(&r, "await", "ms"); /* all zero */
	values = rig_add(&r, "rd_sec", "sectors/s");
	for (size_t i = 0; i < (size_t)r.n_slots * r.n_components; i++)
		values[i] = 77; /* all the same */
	values = rig_add(&r, "wr_sec", "sectors/s");
	for (size_t i = 0; i < (size_t)r.n_slots * r.n_components; i++)
		values[i] = NAN; /* all missing */
	rig_run(&r, &by_itself);
	assert_int_equal(r.verdict->n_findings, 0);
	assert_int_equal(r.verdict->n_anomalies, 0);
	rig_release(&r);
}

static void test_too_short(void **state)
{
	struct rig r;

	(void)state;
	rig_init(&r, 6, 3);
	rig_add_noise(&r, "await", "ms", 10, 0.3);
	rig_run(&r, &by_itself);
	assert_int_equal(r.verdict->n_series, 0);
	assert_true(r.verdict->n_notes >= 1);
	rig_release(&r);
}

static void test_faster_is_no_culprit(void **state)
{
	struct rig r;
	const struct lp_finding *f;

	(void)state;
	rig_init(&r, 8, 600);
	rig_scale(&r, rig_add_noise(&r, "await", "ms", 10, 0.3), 4, 0, 0.3);
	f = rig_finding(rig_run(&r, &by_itself), 4, "await");
	assert_non_null(f);
	assert_int_equal(f->direction, LP_MARK_BELOW);
	assert_false(f->culprit);
	rig_release(&r);
}

/* Twice the work in twice the time is an imbalance; in eight times the time it is not. */
static void test_load(void **state)
{
	static const double slowness[] = {2, 8};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct rig r;
		const struct lp_finding *f;

		rig_init(&r, 8, 600);
		rig_scale(&r, rig_add_noise(&r, "await", "ms", 10, 0.3), 4, 0, slowness[i]);
		rig_scale(&r, rig_add_noise(&r, "rd_sec", "sectors/s", 20000, 0.2), 4, 0, 2);
		f = rig_finding(rig_run(&r, &by_itself), 4, "await");
		assert_non_null(f);
		assert_true(f->load_ratio > 1.9 && f->load_ratio < 2.1);
		assert_int_equal(f->explained_by_load, i == 0);
		f = rig_finding(r.verdict, 4, "rd_sec");
		assert_non_null(f);
		assert_int_equal(f->culprit, i == 1);
		assert_int_equal(rig_n_accused(r.verdict), i);
		rig_release(&r);
	}
}

/* The same load, which clients brought through the network, or not. */
static void test_load_of_nobody(void **state)
{
	static const double traffic[] = {2, 1};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct rig r;
		const struct lp_finding *f;
		double *rx;

		rig_init(&r, 8, 600);
		rig_scale(&r, rig_add_noise(&r, "await", "ms", 10, 0.3), 4, 0, 2);
		rig_scale(&r, rig_add_noise(&r, "rd_sec", "sectors/s", 20000, 0.2), 4, 0, 2);
		rx = rig_add_noise(&r, "txbyt", "bytes/s", 1e7, 0.2);
		rig_scale(&r, rx, 4, 0, traffic[i]);
		for (uint32_t c = 0; c < r.n_components; c++) {
			struct lp_identity **id = &r.tables[2]->components[c];

			lp_identity_unref(*id);
			*id = identity_printf("oss%u/net:eth0", c);
		}
		f = rig_finding(rig_run(&r, &by_itself), 4, "await");
		assert_non_null(f);
		assert_int_equal(f->explained_by_load, i == 0);
		assert_int_equal(rig_n_accused(r.verdict) > 0, i == 1);
		rig_release(&r);
	}
}

/* Work stops where the peers go on; or its data does. */
static void test_lost_path(void **state)
{
	(void)state;
	for (int missing = 0; missing < 2; missing++) {
		struct rig r;
		double *work;
		const struct lp_finding *f;

		rig_init(&r, 8, 900);
		work = rig_add_noise(&r, "rd_sec", "sectors/s", 20000, 0.2);
		for (uint32_t s = 400; s < r.n_slots; s++)
			work[6 * (size_t)r.n_slots + s] = missing ? NAN : 0;
		f = rig_finding(rig_run(&r, &by_itself), 6, "rd_sec");
		assert_non_null(f);
		assert_int_equal(f->direction, LP_MARK_ABSENT);
		assert_true(f->culprit);
		assert_true(f->ratio == 0);
		assert_int_equal(rig_n_accused(r.verdict), 1);
		rig_release(&r);
	}
}

/* Of a disk that came later nothing was missing before. */
static void test_joins_later(void **state)
{
	struct rig r;
	double *work;

	(void)state;
	rig_init(&r, 8, 900);
	work = rig_add_noise(&r, "rd_sec", "sectors/s", 20000, 0.2);
	for (uint32_t s = 0; s < 433; s++)
		work[6 * (size_t)r.n_slots + s] = NAN;
	assert_int_equal(rig_run(&r, &by_itself)->n_findings, 0);
	rig_release(&r);
}

static void test_many_missing(void **state)
{
	struct rig r;
	double *await;

	(void)state;
	rig_init(&r, 8, 900);
	await = rig_add_noise(&r, "await", "ms", 10, 0.3);
	rig_scale(&r, await, 3, 0, 4);
	for (size_t i = 0; i < (size_t)r.n_slots * r.n_components; i++)
		await[i] = oracle_below(10) < 3 ? NAN : await[i];
	rig_run(&r, &by_itself);
	assert_int_equal(rig_n_accused(r.verdict), 1);
	assert_true(rig_accused(r.verdict, 3));
	rig_release(&r);
}

static void test_congestion_window(void **state)
{
	struct rig r;
	const struct lp_finding *f;

	(void)state;
	rig_init(&r, 6, 300);
	rig_scale(&r, rig_add_noise(&r, "cwnd", "segments", 60, 0.8), 2, 100, 0.08);
	f = rig_finding(rig_run(&r, &by_itself), 2, "cwnd");
	assert_non_null(f);
	assert_int_equal(f->direction, LP_MARK_BELOW);
	assert_true(f->culprit);
	assert_string_equal(r.verdict->series[f->series].method, "series");
	assert_int_equal(rig_n_accused(r.verdict), 1);
	rig_release(&r);
}

/* --- what must not change the verdict --- */

struct outcome {
	uint64_t accused; /* a bit a component */
	size_t n_anomalies;
	double weight;
};

static void rig_three(struct rig *r, double *const *source, const uint32_t *order, double plus)
{
	double *await;

	rig_init(r, 9, 600);
	await = rig_add(r, "latency", "");
	for (uint32_t i = 0; i < 9; i++) {
		for (uint32_t s = 0; s < r->n_slots; s++)
			await[(size_t)order[i] * r->n_slots + s] = source[i][s] + plus;
	}
}

static struct outcome rig_outcome(
	struct rig *r, const uint32_t *order, const struct detect_options *o)
{
	struct outcome out = {0};
	const struct lp_verdict *v = rig_run(r, o);

	for (uint32_t i = 0; i < 9; i++)
		out.accused |= (uint64_t)rig_accused(v, order[i]) << i;
	out.n_anomalies = v->n_anomalies;
	for (uint32_t i = 0; i < v->n_findings; i++)
		out.weight += v->findings[i].weight;
	rig_release(r);
	return out;
}

static void assert_same(const struct outcome *a, const struct outcome *b)
{
	assert_int_equal(a->accused, b->accused);
	assert_int_equal(a->n_anomalies, b->n_anomalies);
	assert_true(fabs(a->weight - b->weight) <= 1e-9 * a->weight);
}

static void test_properties(void **state)
{
	static const uint32_t straight[] = {0, 1, 2, 3, 4, 5, 6, 7, 8},
			      mixed[] = {4, 7, 1, 8, 0, 3, 6, 2, 5};
	struct fixed_thresholds fixed = {.items = {{NULL, 3}}, .n = 1};
	const struct detect_options given = {.fixed = &fixed};
	double *source[9];
	struct outcome first, other;
	struct rig r;

	(void)state;
	for (uint32_t i = 0; i < 9; i++) {
		source[i] = calloc(600, sizeof(double));
		assert_non_null(source[i]);
		for (uint32_t s = 0; s < 600; s++)
			source[i][s] = (64 + oracle_below(32)) * (i == 3 ? 2 : 1);
	}
	rig_three(&r, source, straight, 0);
	first = rig_outcome(&r, straight, &by_itself);
	assert_int_equal(first.accused, 1 << 3);
	rig_three(&r, source, mixed, 0);
	other = rig_outcome(&r, mixed, &by_itself);
	assert_same(&first, &other);

	/* A constant changes ratios, so it changes what weighs; but not what a threshold says. */
	rig_three(&r, source, straight, 0);
	first = rig_outcome(&r, straight, &given);
	rig_three(&r, source, straight, 1024);
	other = rig_outcome(&r, straight, &given);
	assert_same(&first, &other);

	/* Time: the same samples, ten times as far apart. */
	rig_three(&r, source, straight, 0);
	r.tables[0]->step_us *= 10;
	other = rig_outcome(&r, straight, &given);
	assert_same(&first, &other);
	for (uint32_t i = 0; i < 9; i++)
		free(source[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_slow_disk),
		cmocka_unit_test(test_onset),
		cmocka_unit_test(test_several_bad),
		cmocka_unit_test(test_small_groups),
		cmocka_unit_test(test_two_are_refused),
		cmocka_unit_test(test_floor),
		cmocka_unit_test(test_nothing_to_see),
		cmocka_unit_test(test_too_short),
		cmocka_unit_test(test_faster_is_no_culprit),
		cmocka_unit_test(test_load),
		cmocka_unit_test(test_load_of_nobody),
		cmocka_unit_test(test_lost_path),
		cmocka_unit_test(test_joins_later),
		cmocka_unit_test(test_many_missing),
		cmocka_unit_test(test_congestion_window),
		cmocka_unit_test(test_properties),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
