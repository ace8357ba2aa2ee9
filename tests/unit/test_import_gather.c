#include "unit.h"

#include "import/importer.h"
#include "import/remote/gather.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char table[] =
	"version: 1\ngroups:\n"
	"  - kind: disk\n    name: \"{device}\"\n    metrics:\n"
	"      - {metric: ios_total, column: rd_ios}\n"
	"      - {metric: time_total, column: rd_ticks, scale: 1000}\n"
	"  - kind: thing\n    name: \"{device}\"\n    metrics:\n"
	"      - {metric: sum, per: count, column: latency, unit: ms, scale: 1000}\n"
	"      - {metric: bytes_total, column: bytes, unit: bytes/s}\n"
	"      - {metric: level, column: level}\n"
	"      - {metric: cpu_total, column: cpu, sum: true}\n"
	"      - {metric: absent, column: absent}\n";

struct fixture {
	struct mapping mapping;
	struct lp_catalogue *catalogue;
	struct strmap present;
	struct gather g;
	struct lp_warn warn;
};

static void fixture_open(struct fixture *f)
{
	static const char *const names[] = {
		"ios_total", "time_total", "sum", "count", "bytes_total", "level", "cpu_total"};
	struct lp_err err = {0};

	*f = (struct fixture){.catalogue = lp_catalogue_new()};
	assert_int_equal(mapping_parse(&f->mapping, table, strlen(table), "t", &err), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_int_equal(strmap_put(&f->present, names[i], 0), 0);
	assert_int_equal(gather_init(&f->g, &f->mapping, f->catalogue, &f->present, &f->warn,
				 "server", &err),
		0);
	gather_begin(&f->g, 0);
}

static void fixture_close(struct fixture *f)
{
	gather_release(&f->g);
	mapping_release(&f->mapping);
	strmap_release(&f->present);
	lp_catalogue_free(f->catalogue);
}

/* Give a series, "1:10 2:20" for values at seconds. */
static void give(struct fixture *f, const char *metric, const char *job, const char *instance,
	const char *device, const char *samples)
{
	json_t *labels = json_pack("{s:s,s:s,s:s,s:s}", "__name__", metric, "job", job, "instance",
		instance, "device", device);
	json_t *values = json_array();
	struct answer_series s = {.labels = labels, .values = values};
	struct lp_err err = {0};
	while (*samples) {
		char *end;
		double at = strtod(samples, &end);
		size_t len = strcspn(end + 1, " ");

		json_array_append_new(values, json_pack("[fs#]", at, end + 1, (int)len));
		samples = end + 1 + len + strspn(end + 1 + len, " ");
	}
	assert_int_equal(gather_series(&f->g, &s, &err), 0);
	json_decref(labels);
	json_decref(values);
}

static const struct lp_batch_kind *kind_of(
	const struct fixture *f, const struct lp_batch *b, const char *kind)
{
	for (uint32_t i = 0; i < b->n_kinds; i++) {
		if (!strcmp(f->catalogue->schemas[b->kinds[i].schema].kind, kind))
			return &b->kinds[i];
	}
	return NULL;
}

static int64_t cell(const struct fixture *f, const struct lp_batch *b, const char *kind,
	const char *column, uint32_t row, uint32_t sample)
{
	const struct lp_batch_kind *k = kind_of(f, b, kind);
	int at;

	assert_non_null(k);
	at = lp_schema_column(&f->catalogue->schemas[k->schema], column);
	assert_true(at >= 0);
	return k->columns[at][(size_t)row * b->cap_samples + sample];
}

static double real(
	const struct fixture *f, const struct lp_batch *b, const char *column, uint32_t sample)
{
	return lp_cell_to_real(cell(f, b, "thing", column, 0, sample));
}

/* Counters of our own columns stay counters; a second piece carries the last sample on. */
static void test_counters(void **state)
{
	struct fixture f;
	struct lp_batch *b;
	struct lp_err err = {0};

	(void)state;
	fixture_open(&f);
	give(&f, "ios_total", "j", "a:9100", "sda", "1:10 2:20 3:40");
	give(&f, "time_total", "j", "a:9100", "sda", "1:0.5 2:0.55 3:0.75");
	give(&f, "nobody_knows", "j", "a:9100", "sda", "1:1");
	assert_int_equal(gather_interval_us(&f.g), 1000000);
	assert_int_equal(gather_next(&f.g, &b, &err), 1);
	assert_int_equal(b->n_samples, 3);
	assert_false(b->carry);
	assert_int_equal(b->wall_us[1], 2000000);
	assert_int_equal(cell(&f, b, "disk", "rd_ios", 0, 2), 40);
	assert_int_equal(cell(&f, b, "disk", "rd_ticks", 0, 2), 750);
	assert_int_equal(f.catalogue->schemas[0].columns[1].bits, 32);
	assert_string_equal(f.catalogue->components[0].observer, "a");
	assert_int_equal(gather_next(&f.g, &b, &err), 0);

	gather_begin(&f.g, 3500);
	give(&f, "ios_total", "j", "a:9100", "sda", "3:40 4:80");
	assert_int_equal(gather_next(&f.g, &b, &err), 1);
	assert_int_equal(b->n_samples, 2);
	assert_true(b->carry);
	assert_int_equal(cell(&f, b, "disk", "rd_ios", 0, 0), 40);
	assert_int_equal(cell(&f, b, "disk", "rd_ios", 0, 1), 80);
	assert_int_equal(cell(&f, b, "disk", "rd_ticks", 0, 1), LP_MISSING);

	/* What is dropped was never there. */
	gather_begin(&f.g, 5000);
	give(&f, "ios_total", "j", "a:9100", "sda", "5:90");
	gather_drop(&f.g);
	assert_int_equal(gather_next(&f.g, &b, &err), 0);
	fixture_close(&f);
}

static void test_finished(void **state)
{
	struct fixture f;
	struct lp_batch *b;
	struct lp_err err = {0};

	(void)state;
	fixture_open(&f);
	give(&f, "sum", "j", "a", "x", "10:1 20:1.5 30:0.1 40:0.2");
	give(&f, "count", "j", "a", "x", "10:10 20:20 30:1 40:1");
	give(&f, "bytes_total", "j", "a", "x", "10:100 20:300 30:50 40:NaN");
	give(&f, "level", "j", "a", "x", "10:-3 20:4");
	give(&f, "cpu_total", "j", "a", "x", "10:1 20:2");
	give(&f, "cpu_total", "j", "a", "x", "10:1 20:5");
	assert_int_equal(gather_next(&f.g, &b, &err), 1);
	assert_true(isnan(real(&f, b, "latency", 0)));
	assert_true(fabs(real(&f, b, "latency", 1) - 50) < 1e-9);
	assert_true(isnan(real(&f, b, "latency", 2))); /* reset */
	assert_true(isnan(real(&f, b, "latency", 3))); /* nothing happened */
	assert_true(real(&f, b, "bytes", 1) == 20);
	assert_true(isnan(real(&f, b, "bytes", 2)));
	assert_true(real(&f, b, "level", 0) == -3);
	assert_true(isnan(real(&f, b, "level", 2)));
	assert_true(fabs(real(&f, b, "level", 1) - 4) < 1e-9);
	assert_int_equal(lp_schema_column(&f.catalogue->schemas[1], "absent"), -1);
	assert_int_equal(f.warn.count, 0);
	fixture_close(&f);
}

/* Targets have times of their own, and names of their own where they would be the same. */
static void test_targets(void **state)
{
	struct fixture f;
	struct lp_batch *b;
	struct lp_err err = {0};

	(void)state;
	fixture_open(&f);
	give(&f, "ios_total", "j", "h:1", "sda", "1:10 2:20");
	give(&f, "ios_total", "j", "h:2", "sda", "1.5:1 2.5:2");
	give(&f, "ios_total", "other", "h:1", "sda", "1.7:1");
	give(&f, "ios_total", "j", "h:1", "", "1:1");
	assert_int_equal(gather_next(&f.g, &b, &err), 1);
	assert_int_equal(b->n_samples, 2);
	assert_int_equal(gather_next(&f.g, &b, &err), 1);
	assert_int_equal(b->wall_us[0], 1500000);
	assert_int_equal(gather_next(&f.g, &b, &err), 0);
	assert_int_equal(f.catalogue->n_components, 2);
	assert_string_equal(f.catalogue->components[1].observer, "h:2");
	assert_int_equal(f.warn.count, 1); /* scraped by two jobs */
	give(&f, "ios_total", "j", "h:1", "sda", "3:10");
	give(&f, "ios_total", "j", "h:1", "sda", "3:11");
	gather_begin(&f.g, 0);
	assert_int_equal(gather_next(&f.g, &b, &err), 1);
	assert_int_equal(cell(&f, b, "disk", "rd_ios", 0, 1), 10);
	fixture_close(&f);
}

static void test_interval(void **state)
{
	(void)state;
	assert_int_equal(importer_interval(1002000), 1000000);
	assert_int_equal(importer_interval(14996000), 15000000);
	assert_int_equal(importer_interval(1501000), 1500000);
	assert_int_equal(importer_interval(103000), 100000);
	assert_int_equal(importer_interval(0), 0);
}

static void test_names(void **state)
{
	struct fixture f;
	struct strbuf names = {0};

	(void)state;
	fixture_open(&f);
	gather_names(&f.g, &names);
	assert_string_equal(
		names.text, "ios_total|time_total|sum|count|bytes_total|level|cpu_total");
	strbuf_release(&names);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counters),
		cmocka_unit_test(test_finished),
		cmocka_unit_test(test_targets),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_interval),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
