#include "base/array.h"
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "base/time.h"
#include "import/csv_layout.h"
#include "import/importer.h"
#include "unit.h"
#include <errno.h>
#include <limpet/dataset.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define LONG_HEADER "time,component,metric,value\n"

static char dir[64], file[80];

/* Every test has a directory "host7" of its own, with one file. */
static int setup(void **state)
{
	char base[] = "/tmp/limpet-csv-XXXXXX";

	(void)state;
	if (!mkdtemp(base))
		return -1;
	snprintf(dir, sizeof(dir), "%s/host7", base);
	snprintf(file, sizeof(file), "%s/data.csv", dir);
	return mkdir(dir, 0700);
}

static int teardown(void **state)
{
	(void)state;
	unlink(file);
	rmdir(dir);
	*strrchr(dir, '/') = '\0';
	return rmdir(dir);
}

static void write_bytes(const void *data, size_t size)
{
	_cleanup_fclose_ FILE *f = fopen(file, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, size, f), size);
}

static void collect_warning(void *ctx, const char *text)
{
	struct strbuf *sb = ctx;
	const char *line = strstr(text, "line ");
	size_t path = strlen(file);

	if (!line && !strncmp(text, file, path))
		line = text + path + strlen(": ");
	strbuf_printf(sb, "%s\n", line ? line : text);
}

static int open_file(const struct csv_options *o, const struct lp_select *select,
	struct lp_warn *warn, struct lp_source **ret, struct lp_err *err)
{
	return importer_find("csv")->open(file, o, select, warn, ret, err);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Append "component time metric=value ...\n" for each sample of a component. */
static void dump_component(struct strbuf *out, const struct lp_source *s, const struct lp_batch *b,
	const struct lp_batch_kind *k, uint32_t row)
{
	const struct lp_schema *schema = &s->catalogue->schemas[k->schema];
	char name[300], time[TIME_TEXT_MAX];

	lp_component_name(s->catalogue, k->ids[row], name, sizeof(name));
	for (uint32_t i = 0; i < b->n_samples; i++) {
		size_t cell = (size_t)row * b->cap_samples + i;

		assert_int_equal(b->wall_us[i], b->mono_us[i]);
		if (!(k->state[cell] & LP_PRESENT))
			continue;
		strbuf_printf(out, "%s %s", name, time_format(b->wall_us[i], time) + 11);
		for (uint32_t c = 0; c < k->n_columns; c++) {
			assert_int_equal(schema->columns[c].type, LP_REAL);
			if (k->columns[c])
				strbuf_printf(out, " %s=%g", schema->columns[c].name,
					lp_cell_to_real(k->columns[c][cell]));
		}
		strbuf_putc(out, '\n');
	}
}

static void dump_batch(struct strbuf *out, const struct lp_source *s, const struct lp_batch *b)
{
	assert_false(b->carry);
	for (uint32_t i = 1; i < b->n_samples; i++)
		assert_true(b->wall_us[i] > b->wall_us[i - 1]);
	for (uint32_t k = 0; k < b->n_kinds; k++) {
		for (uint32_t row = 0; row < b->kinds[k].n_components; row++)
			dump_component(out, s, b, &b->kinds[k], row);
	}
}

/* All that is in the file must be `want` (lines in any order), and the end `code`. */
static void content_is(const char *text, const struct csv_options *o,
	const struct lp_select *select, const char *want, int code, const char *warnings)
{
	struct strbuf out = {0}, warned = {0}, sorted = {0};
	struct lp_warn warn = {.warn = collect_warning, .ctx = &warned};
	struct lp_err err = {0};
	struct lp_source *s = NULL;
	struct lp_batch *b;
	char *lines[256], *rest, *line;
	size_t n = 0;
	int r;

	write_bytes(text, strlen(text));
	assert_int_equal(open_file(o, select, &warn, &s, &err), 0);
	while ((r = lp_source_next(s, &b, &err)) == 1)
		dump_batch(&out, s, b);
	assert_int_equal(r, code);
	assert_int_equal(lp_source_next(s, &b, &err), code);
	for (rest = out.text; (line = strsep(&rest, "\n")) && *line && n < ARRAY_SIZE(lines);)
		lines[n++] = line;
	qsort(lines, n, sizeof(lines[0]), by_text);
	for (size_t i = 0; i < n; i++)
		strbuf_printf(&sorted, "%s\n", lines[i]);
	assert_string_equal(sorted.text ? sorted.text : "", want);
	assert_string_equal(warned.text ? warned.text : "", warnings);
	lp_source_close(s);
	strbuf_release(&out);
	strbuf_release(&warned);
	strbuf_release(&sorted);
}

static void good_content_is(const char *text, const struct csv_options *o, const char *want)
{
	content_is(text, o, NULL, want, 0, "");
}

static void test_long_form(void **state)
{
	static const char want[] = "a/disk:x 00:00:01Z m=1 n=nan\n"
				   "a/disk:x 00:00:02Z m=2 n=3\n"
				   "a/net:e0 00:00:01Z rx=nan\n";

	(void)state;
	good_content_is(LONG_HEADER "1,a/disk:x,m,1\n1,a/net:e0,rx,NA\n2,a/disk:x,m,2\n"
				    "2,a/disk:x,n,3\n",
		NULL, want);
	good_content_is(
		"1,a/disk:x,m,1\n1,a/net:e0,rx,\n2,a/disk:x,m,2\n2,a/disk:x,n,3", NULL, want);
	good_content_is("# made by hand\r\n\r\nValue;Metric;Time;Component;Note\r\n"
			"1;m;1;a/disk:x;\r\n-;rx;1;a/net:e0;\r\n2;m;2;a/disk:x;\r\n"
			"3;n;2;a/disk:x;\r\n\r\n",
		NULL, want);
}

static void test_order_does_not_matter(void **state)
{
	static const char want[] = "a/disk:x 00:00:01Z m=1\n"
				   "a/disk:x 00:00:02Z m=2\n"
				   "a/disk:y 00:00:01Z m=3\n"
				   "a/disk:y 00:00:02Z m=4\n";

	(void)state;
	good_content_is(LONG_HEADER "1,a/disk:x,m,1\n1,a/disk:y,m,3\n2,a/disk:x,m,2\n"
				    "2,a/disk:y,m,4\n",
		NULL, want);
	good_content_is(LONG_HEADER "1,a/disk:x,m,1\n2,a/disk:x,m,2\n1,a/disk:y,m,3\n"
				    "2,a/disk:y,m,4\n",
		NULL, want);
	good_content_is(LONG_HEADER "2,a/disk:y,m,4\n1,a/disk:x,m,1\n2,a/disk:x,m,2\n"
				    "1,a/disk:y,m,3\n",
		NULL, want);
}

static void test_the_later_row_wins(void **state)
{
	(void)state;
	content_is(LONG_HEADER "2,a/disk:x,m,1\n1,a/disk:x,m,5\n2,a/disk:x,m,7\n", NULL, NULL,
		"a/disk:x 00:00:01Z m=5\na/disk:x 00:00:02Z m=7\n", 0,
		"1 values were replaced by a later one of the same component and time (the first: "
		"a/disk:x at 1970-01-01T00:00:02Z); does the name tell all components apart?\n");
}

/* The same value again, and values of other metrics, replace nothing. */
static void test_repeated_rows(void **state)
{
	(void)state;
	good_content_is(LONG_HEADER "1,a/disk:x,m,5\n1,a/disk:x,n,6\n1,a/disk:x,m,5\n"
				    "1,a/disk:x,n,NA\n1,a/disk:x,n,7\n",
		NULL, "a/disk:x 00:00:01Z m=5 n=7\n");
}

static void test_named_columns(void **state)
{
	struct csv_options o = {.time = "ts", .component = "{dir}/disk:{disk_id}"};

	(void)state;
	o.values.items[o.values.n++] = "throughput,latency=await";
	good_content_is("\"ts\",\"disk_id\",\"throughput\",\"latency\"\n"
			"1,\"d1\",10,0.5\n16,\"d1\",NA,0.75\n1,\"d2\",30,\n",
		&o,
		"host7/disk:d1 00:00:01Z throughput=10 await=0.5\n"
		"host7/disk:d1 00:00:16Z throughput=nan await=0.75\n"
		"host7/disk:d2 00:00:01Z throughput=30 await=nan\n");
	o.component = "{file}/{disk_id}:all";
	o.values.items[o.values.n++] = "latency";
	good_content_is("disk_id,ts,throughput,latency,more,\nd1,1,10,0.5,x,\n", &o,
		"data/d1:all 00:00:01Z throughput=10 await=0.5 latency=0.5\n");
}

/* Two keys that make the same name are one component. */
static void test_keys_may_share_a_name(void **state)
{
	struct csv_options o = {.component = "h/disk:{a}{b}", .values = {{"v"}, 1}};

	(void)state;
	good_content_is("time,a,b,v\n1,x,yz,1\n2,xy,z,2\n", &o,
		"h/disk:xyz 00:00:01Z v=1\nh/disk:xyz 00:00:02Z v=2\n");
}

/* A kind whose metrics become more gets another schema; components keep their names. */
static void test_schemas_grow_between_chunks(void **state)
{
	struct csv_options o = {.chunk_values = 2};

	(void)state;
	good_content_is(LONG_HEADER "1,a/disk:x,m,1\n2,a/disk:x,m,2\n3,a/disk:x,n,3\n"
				    "4,a/disk:x,m,4\n5,a/disk:x,m,5\n",
		&o,
		"a/disk:x 00:00:01Z m=1\na/disk:x 00:00:02Z m=2 n=nan\n"
		"a/disk:x 00:00:03Z m=nan n=3\na/disk:x 00:00:04Z m=4 n=nan\n"
		"a/disk:x 00:00:05Z m=5 n=nan\n");
}

/* The end of a chunk never cuts a sample, so that its metrics stay together. */
static void test_samples_are_whole(void **state)
{
	struct csv_options o = {0};

	(void)state;
	for (o.chunk_values = 2; o.chunk_values < 9; o.chunk_values++)
		good_content_is(LONG_HEADER "1,a/disk:x,m,1\n1,a/disk:x,n,2\n2,a/disk:x,m,3\n"
					    "2,a/disk:x,n,4\n3,a/disk:x,n,6\n3,a/disk:x,m,5\n",
			&o,
			"a/disk:x 00:00:01Z m=1 n=2\na/disk:x 00:00:02Z m=3 n=4\n"
			"a/disk:x 00:00:03Z m=5 n=6\n");
}

static void test_bad_rows_are_left_out(void **state)
{
	(void)state;
	content_is(LONG_HEADER "1,a/disk:x,m,1\n"
			       "2,sda,m,1\n"
			       "3,a/disk:x,m\n"
			       "soon,a/disk:x,m,1\n"
			       "4,a/disk:x,m,1,5\n"
			       "5,a/disk:x,m,inf\n"
			       "6,a/disk:x,m,fast\n"
			       "7,a/disk:x,,1\n"
			       "8,a/disk:x,m,\"8\n"
			       "9,a/disk:x,m,9\n",
		NULL, NULL,
		"a/disk:x 00:00:01Z m=1\na/disk:x 00:00:05Z m=inf\na/disk:x 00:00:06Z m=nan\n"
		"a/disk:x 00:00:09Z m=9\n",
		-EBADMSG,
		"line 3: component 'sda' is not of the form observer/kind:name (for instance "
		"oss3/disk:sdb)\n"
		"line 4: 3 fields where 4 are expected\n"
		"line 5: 'soon' is not a time (want 2011-05-09T00:00:05Z or seconds since 1970)\n"
		"line 6: 5 fields where 4 are expected\n"
		"line 8: 'fast' is not a number; taken as missing\n"
		"line 9: the metric's name is empty, longer than 255 bytes or has control "
		"characters\n"
		"line 10: a quote is opened and never closed\n");
}

/* Files that were appended to each other. */
static void test_the_header_again(void **state)
{
	const struct csv_options named = {
		.time = "ts", .component = "{h}/disk:{d}", .values = {.n = 1, .items = {"m"}}};

	(void)state;
	good_content_is(LONG_HEADER "1,a/disk:x,m,1\n" LONG_HEADER "2,a/disk:x,m,2\n", NULL,
		"a/disk:x 00:00:01Z m=1\na/disk:x 00:00:02Z m=2\n");
	good_content_is("\xef\xbb\xbfts,h,d,m\r\n1,a,x,1\r\n\xef\xbb\xbfts,h,d,m\r\n2,a,x,2\r\n",
		&named, "a/disk:x 00:00:01Z m=1\na/disk:x 00:00:02Z m=2\n");
	/* Other columns: the fields after that would be taken for something else. */
	content_is("ts,h,d,m\n1,a,x,1\nts,d,h,m\n2,x,a,2\n", &named, NULL,
		"a/disk:x 00:00:01Z m=1\n", -EBADMSG, "");
	content_is("ts,h,d,m\n1,a,x,1\nn,ts,h,d,m\n5,2,a,x,2\n", &named, NULL,
		"a/disk:x 00:00:01Z m=1\n", -EBADMSG, "");
}

/* As databases and spreadsheets write them. */
static void test_missing_values(void **state)
{
	(void)state;
	good_content_is(LONG_HEADER "1,a/disk:x,m,\\N\n2,a/disk:x,m,#N/A\n3,a/disk:x,m,NA\n", NULL,
		"a/disk:x 00:00:01Z m=nan\na/disk:x 00:00:02Z m=nan\na/disk:x 00:00:03Z m=nan\n");
}

/* They are impossible values, like absurdly large ones: the code that makes tables leaves them out
 * and counts them (test_model_table.c). The file is not damaged. */
static void test_infinite_values_are_no_fault(void **state)
{
	(void)state;
	good_content_is(LONG_HEADER "1,a/disk:x,m,inf\n2,a/disk:x,m,-Infinity\n"
				    "3,a/disk:x,m,1e999\n4,a/disk:x,m,nan\n5,a/disk:x,m,-nan\n",
		NULL,
		"a/disk:x 00:00:01Z m=inf\na/disk:x 00:00:02Z m=inf\n"
		"a/disk:x 00:00:03Z m=inf\na/disk:x 00:00:04Z m=nan\na/disk:x 00:00:05Z m=nan\n");
}

static void test_warnings_are_bounded(void **state)
{
	struct strbuf text = {0}, warned = {0};
	struct lp_warn warn = {.warn = collect_warning, .ctx = &warned};
	struct lp_err err = {0};
	struct lp_source *s;
	struct lp_batch *b;

	(void)state;
	strbuf_puts(&text, LONG_HEADER);
	for (int i = 0; i < 100; i++)
		strbuf_printf(&text, "%d,a/disk:x,m,bad\n", i);
	write_bytes(text.text, text.len);
	assert_int_equal(open_file(NULL, NULL, &warn, &s, &err), 0);
	assert_int_equal(lp_source_next(s, &b, &err), 1);
	assert_int_equal(b->n_samples, 100);
	assert_int_equal(lp_source_next(s, &b, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "100 bad rows or values"));
	assert_non_null(strstr(err.text, "line 2: 'bad'"));
	assert_int_equal(warn.count, 11);
	assert_non_null(strstr(warned.text, "100 bad rows or values in all, 10 shown"));
	lp_source_close(s);
	strbuf_release(&text);
	strbuf_release(&warned);
}

static void open_fails(
	const void *data, size_t size, const struct csv_options *o, int code, const char *want)
{
	struct lp_err err = {0};
	struct lp_source *s = NULL;

	write_bytes(data, size);
	assert_int_equal(open_file(o, NULL, NULL, &s, &err), code);
	assert_null(s);
	if (!strstr(err.text, want) || !strstr(err.text, file))
		fail_msg("'%s' does not say '%s'", err.text, want);
}

static void text_fails(const char *text, const struct csv_options *o, int code, const char *want)
{
	open_fails(text, strlen(text), o, code, want);
}

static void test_files_without_data(void **state)
{
	(void)state;
	text_fails("", NULL, -ENODATA, "is empty");
	text_fails("\n# nothing\n", NULL, -ENODATA, "is empty");
	text_fails("\n" LONG_HEADER "\n\n", NULL, -ENODATA, "header at line 2 and no rows");
	text_fails(LONG_HEADER "x,y\n", NULL, -EBADMSG, "line 2: 2 fields where 4");
	open_fails("\x7f"
		   "ELF\0\1,2,3\n",
		12, NULL, -EBADMSG, "byte 4 is NUL");
	text_fails("a,\x01\x02,b\n1,2,3\n", NULL, -EBADMSG, "control characters in line 1");
	text_fails("\x28\xb5\x2f\xfd and more", NULL, -EBADMSG, "damaged");
}

static void test_wrong_columns(void **state)
{
	struct csv_options o = {.time = "when"};

	(void)state;
	text_fails("ts,disk,v\n1,a,2\n", NULL, -EINVAL,
		"no column is called 'time'; there are: ts, disk, v (want "
		"time,component,metric,value, or name the columns with --time");
	text_fails("ts,disk,v\n1,a,2\n", &o, -EINVAL, "--value is missing");
	o.values.items[o.values.n++] = "v,w";
	text_fails("ts,disk,v\n1,a,2\n", &o, -EINVAL, "--time: no column is called 'when'");
	o.time = "ts";
	o.component = "{dir}/disk:{name}";
	text_fails("ts,disk,v\n1,a,2\n", &o, -EINVAL, "--component: no column is called 'name'");
	o.component = "{dir}/disk:{disk}";
	text_fails("ts,disk,v\n1,a,2\n", &o, -EINVAL, "--value: no column is called 'w'");
	o.values.items[0] = "v,v";
	text_fails("ts,disk,v\n1,a,2\n", &o, -EINVAL, "metric 'v' is given twice");
	o.values.items[0] = "v,=x";
	text_fails("ts,disk,v\n1,a,2\n", &o, -EINVAL, "is not a list COL[=metric]");
	o.separator = "ab";
	text_fails("ts,disk,v\n1,a,2\n", &o, -EINVAL, "--separator: 'ab'");
}

/* Units of the metrics that are named; the others have none. */
static void test_units(void **state)
{
	static char names[][10] = {"time", "component", "metric", "value"};
	struct csv_field fields[4];
	struct csv_reader reader = {.n_fields = 4, .fields = fields};
	struct csv_options o = {.units = {{"await=ms,tps=1/s", "rd=bytes/s"}, 2}};
	struct csv_layout l;
	struct lp_err err;

	(void)state;
	for (size_t i = 0; i < 4; i++)
		fields[i] = (struct csv_field){names[i], strlen(names[i]), false};
	assert_int_equal(csv_layout_init(&l, &o, &reader, "x.csv", &err), 0);
	assert_string_equal(csv_layout_unit(&l, "await"), "ms");
	assert_string_equal(csv_layout_unit(&l, "tps"), "1/s");
	assert_string_equal(csv_layout_unit(&l, "rd"), "bytes/s");
	assert_string_equal(csv_layout_unit(&l, "wr"), "");
	csv_layout_release(&l);
	o.units.n = 1;
	o.units.items[0] = "await";
	text_fails("1,a/disk:x,m,1\n", &o, -EINVAL, "--unit: 'await' is not a list METRIC=UNIT");
	o.units.items[0] = "await=";
	text_fails("1,a/disk:x,m,1\n", &o, -EINVAL, "--unit: 'await=' is not a list");
	o.units.items[0] = "await=a unit that is much too long for anything";
	text_fails("1,a/disk:x,m,1\n", &o, -EINVAL, "is longer than 24 bytes");
}

static void test_separator_option(void **state)
{
	struct csv_options o = {.separator = "|"};

	(void)state;
	good_content_is("time|component|metric|value\n1|a/disk:x,y|m|1\n", &o,
		"a/disk:x,y 00:00:01Z m=1\n");
	o.separator = "tab";
	good_content_is("1\ta/disk:x\tm\t1\n", &o, "a/disk:x 00:00:01Z m=1\n");
}

static bool want_y(void *ctx, const struct lp_catalogue *c, uint32_t id)
{
	++*(unsigned *)ctx;
	return !strcmp(c->components[id].name, "y");
}

static bool want_n(void *ctx, const struct lp_schema *s, uint32_t column)
{
	(void)ctx;
	return !strcmp(s->columns[column].name, "n");
}

static void test_selection(void **state)
{
	unsigned asked = 0;
	struct lp_select select = {.from_us = 2 * US_PER_SEC,
		.to_us = 4 * US_PER_SEC,
		.component = want_y,
		.column = want_n,
		.ctx = &asked};
	struct csv_options o = {.component = "a/disk:{d}", .values = {{"m,n"}, 1}};

	(void)state;
	/* What is not selected is not even parsed. */
	content_is("time,d,m,n\n1,y,1,2\n2,x,bad,bad\n2,y,bad,6\n3,y,7,8\n3,x,9,1\n4,y,2,3\n", &o,
		&select, "a/disk:y 00:00:02Z n=6\na/disk:y 00:00:03Z n=8\n", 0, "");
	assert_int_equal(asked, 2);
	asked = 0;
	o = (struct csv_options){.chunk_values = 3};
	content_is(LONG_HEADER "1,a/disk:y,n,1\n2,a/disk:y,n,2\n2,a/disk:x,n,2\n3,a/disk:x,m,5\n"
			       "3,a/disk:y,n,3\n3,a/disk:y,m,3\n4,a/disk:y,n,4\n",
		&o, &select, "a/disk:y 00:00:02Z n=2\na/disk:y 00:00:03Z n=3\n", 0, "");
	assert_int_equal(asked, 2);
	select.from_us = 9 * US_PER_SEC;
	select.to_us = 0;
	content_is(LONG_HEADER "1,a/disk:y,n,1\n", NULL, &select, "", 0, "");
}

/* Many samples come in several batches, and nothing is lost between them. */
static void test_many_samples(void **state)
{
	struct strbuf text = {0};
	struct csv_options o = {.chunk_values = 3000};
	struct lp_err err = {0};
	struct lp_source *s;
	struct lp_batch *b;
	size_t seen = 0, batches = 0;
	double sum = 0;
	int r;

	(void)state;
	strbuf_puts(&text, LONG_HEADER);
	for (int d = 0; d < 5; d++) {
		for (int i = 0; i < 2000; i++)
			strbuf_printf(&text, "%d,a/disk:%d,m,%d\n", i * 15, d, i + d);
	}
	write_bytes(text.text, text.len);
	strbuf_release(&text);
	assert_int_equal(open_file(&o, NULL, NULL, &s, &err), 0);
	assert_int_equal(s->interval_us, 15 * US_PER_SEC);
	while ((r = lp_source_next(s, &b, &err)) == 1) {
		const struct lp_batch_kind *k = &b->kinds[0];

		batches++;
		for (uint32_t row = 0; row < k->n_components; row++) {
			for (uint32_t i = 0; i < b->n_samples; i++) {
				size_t cell = (size_t)row * b->cap_samples + i;

				if (k->state[cell] == LP_ABSENT)
					continue;
				sum += lp_cell_to_real(k->columns[0][cell]);
				seen++;
			}
		}
	}
	assert_int_equal(r, 0);
	assert_int_equal(seen, 10000);
	assert_true(sum == 5 * 1999.0 * 1000 + 2000.0 * 10);
	assert_true(batches >= 4);
	assert_int_equal(s->catalogue->n_components, 5);
	lp_source_close(s);
}

/* Components that share no sample would need a huge batch; they get several small ones. */
static void test_many_components(void **state)
{
	struct strbuf text = {0};
	struct csv_options o = {.component = "a/disk:{d}", .values = {{"m"}, 1}};
	struct lp_err err = {0};
	struct lp_source *s;
	struct lp_batch *b;
	size_t seen = 0;
	int r;

	(void)state;
	strbuf_puts(&text, "time,d,m\n");
	for (int i = 0; i < 50000; i++)
		strbuf_printf(&text, "%d,%d,%d\n", i, i, i);
	write_bytes(text.text, text.len);
	strbuf_release(&text);
	assert_int_equal(open_file(&o, NULL, NULL, &s, &err), 0);
	assert_int_equal(s->interval_us, 0);
	while ((r = lp_source_next(s, &b, &err)) == 1) {
		assert_true((size_t)b->kinds[0].cap_components * b->cap_samples <= (8 << 20));
		for (uint32_t row = 0; row < b->kinds[0].n_components; row++) {
			size_t cell = (size_t)row * b->cap_samples + row;

			assert_int_equal(b->kinds[0].state[cell], LP_PRESENT);
			assert_true(lp_cell_to_real(b->kinds[0].columns[0][cell]) == (double)seen);
			seen++;
		}
	}
	assert_int_equal(r, 0);
	assert_int_equal(seen, 50000);
	lp_source_close(s);
}

/* Several files given as DATA land in one table, each with its own components. */
static void test_as_data(void **state)
{
	struct csv_options o = {.component = "{file}/disk:{d}", .values = {{"m"}, 1}};
	struct lp_table_options wanted = {0};
	const char *const paths[] = {dir};
	struct lp_dataset *ds = NULL;
	struct lp_table **tables;
	struct lp_err err = {0};
	char first[sizeof(file)];
	uint32_t n;

	(void)state;
	memcpy(first, file, sizeof(file));
	write_bytes("time,d,m\n15,x,1\n30,x,2\n", 23);
	snprintf(file, sizeof(file), "%s/more.csv", dir);
	write_bytes("time,d,m\n15,x,3\n30,x,4\n", 23);
	assert_int_equal(lp_dataset_open(paths, 1, "csv", &o, NULL, &ds, &err), 0);
	assert_int_equal(lp_dataset_tables(ds, &wanted, &tables, &n, &err), 0);
	assert_int_equal(n, 1);
	assert_string_equal(tables[0]->metric, "m");
	assert_int_equal(tables[0]->n_components, 2);
	assert_int_equal(tables[0]->n_slots, 2);
	assert_string_equal(tables[0]->components[0]->text, "data/disk:x");
	assert_string_equal(tables[0]->components[1]->text, "more/disk:x");
	for (int i = 0; i < 4; i++)
		assert_true(tables[0]->values[i] == i + 1);
	lp_table_free(tables[0]);
	free(tables);
	lp_dataset_close(ds);
	unlink(file);
	memcpy(file, first, sizeof(file));
}

static enum import_match probe(const char *path, const char *head, size_t n)
{
	return importer_find("csv")->probe(path, (const unsigned char *)head, n);
}

static enum import_match probe_text(const char *head)
{
	return probe("x", head, strlen(head));
}

static void test_probe(void **state)
{
	(void)state;
	assert_int_equal(probe("x.csv", "", 0), IMPORT_MAYBE);
	assert_int_equal(probe("x.TSV", "a b", 3), IMPORT_MAYBE);
	assert_int_equal(probe("x.csv.zst", "\x28\xb5\x2f\xfd", 4), IMPORT_MAYBE);
	assert_int_equal(probe("x", "a,b\nc", 5), IMPORT_MAYBE);
	assert_int_equal(probe("x", "a b\nc,d", 7), IMPORT_NO);
	assert_int_equal(probe("x", "a,b\0c", 5), IMPORT_NO);
	assert_int_equal(probe("x", "\x96\xd5,\x01,;", 6), IMPORT_NO);
	assert_int_equal(probe_text("# c\r\n\r\na,\"b,c\"\r\n1,2\r\n1,"), IMPORT_MAYBE);
	assert_int_equal(
		probe_text("# Title\n\nWords, with a comma.\nMore, of, them.\n"), IMPORT_NO);
	assert_int_equal(probe_text("Words, with a comma.\nAnd none.\n"), IMPORT_NO);
	assert_int_equal(probe_text("# only a comment, here\n"), IMPORT_NO);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

/* One column per component, as Grafana exports it, in a zone of its own. */
static void test_wide(void **state)
{
	static const char text[] =
		"\"Time\",\"await {instance=\"\"oss3\"\", device=\"\"sda\"\"}\",\"{device=sdb, "
		"instance=oss3}\",\n"
		"2026-07-01 12:00:00,1.5,2\n2026-07-01 12:00:15,,4\n2026-07-01T10:00:30Z,3,bad\n";
	struct csv_options o = {
		.wide = "await", .component = "{instance}/disk:{device}", .zone = "Europe/Berlin"};
	struct lp_source *s = NULL;
	struct lp_err err = {0};
	struct lp_batch *b;

	(void)state;
	write_bytes(text, strlen(text));
	assert_int_equal(open_file(&o, NULL, NULL, &s, &err), 0);
	assert_int_equal(lp_source_next(s, &b, &err), 1);
	assert_int_equal(b->n_samples, 3);
	assert_true(b->wall_us[0] == INT64_C(1782900000000000));
	assert_true(b->wall_us[2] == INT64_C(1782900030000000));
	assert_int_equal(s->catalogue->n_components, 2);
	assert_string_equal(s->catalogue->components[0].name, "sda");
	assert_string_equal(s->catalogue->components[1].observer, "oss3");
	assert_string_equal(s->catalogue->schemas[0].columns[0].name, "await");
	assert_true(lp_cell_to_real(b->kinds[0].columns[0][0]) == 1.5);
	assert_true(isnan(lp_cell_to_real(b->kinds[0].columns[0][1])));
	assert_true(lp_cell_to_real(b->kinds[0].columns[0][b->cap_samples + 1]) == 4);
	assert_int_equal(lp_source_next(s, &b, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "line 4: 'bad' is not a number"));
	lp_source_close(s);
	o.component = "{rack}/disk:{device}";
	text_fails(text, &o, -EINVAL, "has no such label");
	o.component = NULL;
	text_fails(text, &o, -EINVAL, "is not of the form observer/kind:name");
	o.zone = "Nowhere";
	write_bytes(text, strlen(text));
	assert_int_equal(open_file(&o, NULL, NULL, &s, &err), -EINVAL);
	assert_non_null(strstr(err.text, "there is no time zone 'Nowhere'"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_long_form),
		TEST(test_order_does_not_matter),
		TEST(test_the_later_row_wins),
		TEST(test_repeated_rows),
		TEST(test_named_columns),
		TEST(test_keys_may_share_a_name),
		TEST(test_schemas_grow_between_chunks),
		TEST(test_samples_are_whole),
		TEST(test_bad_rows_are_left_out),
		TEST(test_the_header_again),
		TEST(test_missing_values),
		TEST(test_infinite_values_are_no_fault),
		TEST(test_warnings_are_bounded),
		TEST(test_wide),
		TEST(test_files_without_data),
		TEST(test_wrong_columns),
		TEST(test_units),
		TEST(test_separator_option),
		TEST(test_selection),
		TEST(test_many_samples),
		TEST(test_many_components),
		TEST(test_as_data),
		TEST(test_probe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
