#include "unit.h"

#include "serve/push_series.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A disk with two columns that are sent and one that nobody knows; four samples, the first carried.
 */
struct rig {
	struct lp_catalogue *catalogue;
	struct lp_batch *batch;
	struct push_names names;
	struct push_series series;
	struct strbuf message;
	char text[1000];
};

static const struct lp_column columns[] = {
	{"rd_ios", "requests", LP_COUNTER, 64},
	{"rd_ticks", "ms", LP_COUNTER, 32},
	{"nobody", "", LP_REAL, 0},
};

static void rig_open(struct rig *r)
{
	const struct lp_schema schema = {"disk", columns, 3};
	struct lp_batch_kind *k;
	struct lp_err err = {0};
	uint32_t number, id, row;

	*r = (struct rig){.catalogue = lp_catalogue_new(), .batch = lp_batch_new(8)};
	assert_int_equal(push_names_load(&r->names, &err), 0);
	assert_int_equal(lp_catalogue_add_schema(r->catalogue, &schema, &number, &err), 0);
	assert_int_equal(lp_catalogue_add_component(r->catalogue, number, "oss3",
				 "s\x1b"
				 "da",
				 "", &id, &err),
		0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(
			lp_batch_add_sample(r->batch, 1000500 + i * 1000000, i * 1000000), 0);
	assert_int_equal(lp_batch_kind_get(r->batch, number, 3, NULL, &k), 0);
	assert_int_equal(lp_batch_add_component(r->batch, k, id, &row), 0);
	for (int i = 0; i < 4; i++) {
		k->state[i] = LP_PRESENT;
		k->columns[0][i] = 10 * i;
		k->columns[1][i] = 1500 * i;
		k->columns[2][i] = lp_cell_from_real(1);
	}
	r->batch->carry = true;
}

static void rig_close(struct rig *r)
{
	push_series_release(&r->series);
	push_names_release(&r->names);
	strbuf_release(&r->message);
	lp_batch_free(r->batch);
	lp_catalogue_free(r->catalogue);
}

static int take(void *ctx, const struct gather_input *in, struct lp_err *err)
{
	static const char *const labels[] = {"__name__", "job", "instance", "kind", "name"};
	struct rig *r = ctx;
	size_t len = strlen(r->text);

	(void)err;
	for (size_t i = 0; i < 5; i++)
		len += (size_t)snprintf(r->text + len, sizeof(r->text) - len, "%s ",
			in->label(in->series, labels[i]));
	for (size_t i = 0; i < in->n; i++) {
		int64_t ms;
		double value;

		assert_int_equal(in->sample(in->series, i, &ms, &value), 1);
		len += (size_t)snprintf(r->text + len, sizeof(r->text) - len, " %ld=%g", (long)ms,
			isnan(value) ? NAN : value);
	}
	snprintf(r->text + len, sizeof(r->text) - len, ";");
	return 0;
}

/* What a message with the samples of that time has. */
static const char *sent(struct rig *r, int64_t from_ms, int64_t to_ms, size_t want_n)
{
	const struct push_part part = {0, r->series.n_runs, from_ms, to_ms};
	struct lp_err err = {0};

	assert_int_equal(push_series_message(&r->series, &part, &r->message), want_n);
	r->text[0] = '\0';
	assert_int_equal(write_request_parse(r->message.text ? r->message.text : "", r->message.len,
				 take, r, &err),
		0);
	return r->text;
}

static void add(struct rig *r, int64_t after_us, int64_t oldest_us)
{
	const struct mapping_column *names[LP_COLUMNS_MAX];

	assert_int_equal(push_names_find(&r->names, &r->catalogue->schemas[0], names), 0);
	assert_null(names[2]);
	assert_int_equal(push_series_add(&r->series, names, r->catalogue, r->batch, 0, 0, after_us,
				 oldest_us),
		0);
}

#define READS "limpet_disk_reads_completed_total limpet oss3 disk s?da "
#define TIMES "limpet_disk_read_time_seconds_total limpet oss3 disk s?da "

static void test_values(void **state)
{
	struct rig r;
	int64_t first, last;

	(void)state;
	rig_open(&r);
	assert_false(push_series_span(&r.series, &first, &last));
	add(&r, INT64_MIN, INT64_MIN);
	assert_string_equal(sent(&r, 0, 10000, 6),
		READS " 2000=10 3000=20 4000=30;" TIMES " 2000=1.5 3000=3 4000=4.5;");
	assert_string_equal(sent(&r, 3000, 4000, 2), READS " 3000=20;" TIMES " 3000=3;");
	assert_true(push_series_span(&r.series, &first, &last));
	assert_int_equal(first, 2000);
	assert_int_equal(last, 4000);
	rig_close(&r);
}

/* Sent samples are not sent again, and old ones are counted. */
static void test_bounds(void **state)
{
	struct rig r;

	(void)state;
	rig_open(&r);
	add(&r, 2000500, INT64_MIN);
	assert_string_equal(
		sent(&r, 0, 10000, 4), READS " 3000=20 4000=30;" TIMES " 3000=3 4000=4.5;");
	assert_int_equal(r.series.n_expired, 0);
	push_series_reset(&r.series);
	add(&r, 2000500, 3000500);
	assert_string_equal(sent(&r, 0, 10000, 2), READS " 4000=30;" TIMES " 4000=4.5;");
	assert_int_equal(r.series.n_expired, 2);
	rig_close(&r);
}

/* A value that was not measured is not sent; a component that goes is said to be gone, once. */
static void test_gone(void **state)
{
	struct rig r;

	(void)state;
	rig_open(&r);
	r.batch->kinds[0].columns[1][1] = LP_MISSING;
	r.batch->kinds[0].state[2] = r.batch->kinds[0].state[3] = LP_ABSENT;
	add(&r, INT64_MIN, INT64_MIN);
	assert_string_equal(sent(&r, 0, 10000, 2), READS " 2000=10 3000=nan;");
	assert_memory_equal(&r.series.samples[1].value, &(uint64_t){WRITE_STALE}, 8);
	rig_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
