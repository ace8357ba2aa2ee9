#include "unit.h"

#include "import/remote/write_request.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

struct seen {
	int n;
	char text[200];
	const struct write_sample *expected;
};

static int compare(void *ctx, const struct gather_input *in, struct lp_err *err)
{
	struct seen *s = ctx;

	(void)err;
	assert_int_equal(strlen(in->label(in->series, "job")), 300);
	for (size_t i = 0; i < in->n; i++, s->n++) {
		int64_t ms;
		double value;

		assert_int_equal(in->sample(in->series, i, &ms, &value), 1);
		assert_int_equal(ms, s->expected[i].ms);
		assert_true(value == s->expected[i].value);
	}
	return 0;
}

static int take(void *ctx, const struct gather_input *in, struct lp_err *err)
{
	struct seen *s = ctx;
	const char *name = in->label(in->series, "__name__"), *job = in->label(in->series, "job");
	size_t len = strlen(s->text);

	(void)err;
	s->n++;
	len += (size_t)snprintf(
		s->text + len, sizeof(s->text) - len, "%s/%s:", name, job ? job : "-");
	for (size_t i = 0; i < in->n; i++) {
		int64_t ms;
		double value;

		assert_int_equal(in->sample(in->series, i, &ms, &value), 1);
		len += (size_t)snprintf(
			s->text + len, sizeof(s->text) - len, " %ld=%g", (long)ms, value);
	}
	snprintf(s->text + len, sizeof(s->text) - len, ";");
	return 0;
}

/* Two series, m{job="abc"} with 1.5 at 1000 ms and 2 at 2000 ms and n with -1 at 1 ms, and an
 * unknown field between them. */
static const unsigned char message[] = {
	0x0a,
	0x37,
	0x0a,
	0x0d,
	0x0a,
	0x08,
	0x5f,
	0x5f,
	0x6e,
	0x61,
	0x6d,
	0x65,
	0x5f,
	0x5f,
	0x12,
	0x01,
	0x6d,
	0x0a,
	0x0a,
	0x0a,
	0x03,
	0x6a,
	0x6f,
	0x62,
	0x12,
	0x03,
	0x61,
	0x62,
	0x63,
	0x12,
	0x0c,
	0x09,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0xf8,
	0x3f,
	0x10,
	0xe8,
	0x07,
	0x12,
	0x0c,
	0x09,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x40,
	0x10,
	0xd0,
	0x0f,
	0x1a,
	0x00,
	0x0a,
	0x1c,
	0x0a,
	0x0d,
	0x0a,
	0x08,
	0x5f,
	0x5f,
	0x6e,
	0x61,
	0x6d,
	0x65,
	0x5f,
	0x5f,
	0x12,
	0x01,
	0x6e,
	0x12,
	0x0b,
	0x09,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0x00,
	0xf0,
	0xbf,
	0x10,
	0x01,
};

#define FIRST_BYTES 57 /* of the first series */

static void test_good(void **state)
{
	struct seen s = {0};
	struct lp_err err = {0};

	(void)state;
	assert_int_equal(write_request_parse(message, sizeof(message), take, &s, &err), 0);
	assert_int_equal(s.n, 2);
	assert_string_equal(s.text, "m/abc: 1000=1.5 2000=2;n/-: 1=-1;");
	assert_int_equal(write_request_parse("", 0, take, &s, &err), 0);
}

/* Of a truncated message, complete series come before the error. */
static void test_cut(void **state)
{
	(void)state;
	for (size_t n = 1; n < sizeof(message); n++) {
		struct seen s = {0};
		struct lp_err err = {0};
		int r = write_request_parse(message, n, take, &s, &err);

		assert_int_equal(s.n, n >= FIRST_BYTES);
		if (n == FIRST_BYTES || n == FIRST_BYTES + 2) {
			assert_int_equal(r, 0);
		} else {
			assert_int_equal(r, -EBADMSG);
			assert_string_equal(err.text, "this is not a write request of Prometheus");
		}
	}
}

static int refuse(void *ctx, const struct gather_input *in, struct lp_err *err)
{
	(void)ctx;
	(void)in;
	return lp_err_set(err, -ENOSPC, "no");
}

static void test_stopped(void **state)
{
	struct lp_err err = {0};

	(void)state;
	assert_int_equal(
		write_request_parse(message, sizeof(message), refuse, NULL, &err), -ENOSPC);
	assert_string_equal(err.text, "no");
}

/* The written message is exactly the one above, except for the unknown field. */
static void test_written(void **state)
{
	const struct write_sample first[] = {{1000, 1.5}, {2000, 2}}, second[] = {{1, -1}};
	struct strbuf labels = {0}, written = {0};
	struct seen s = {0};
	struct lp_err err = {0};

	(void)state;
	write_label_add(&labels, "__name__", "m");
	write_label_add(&labels, "empty", "");
	write_label_add(&labels, "job", "abc");
	write_series_add(&written, labels.text, labels.len, first, 2);
	assert_int_equal(written.len, FIRST_BYTES);
	assert_memory_equal(written.text, message, FIRST_BYTES);
	strbuf_reset(&labels);
	write_label_add(&labels, "__name__", "n");
	write_series_add(&written, labels.text, labels.len, second, 1);
	assert_false(written.failed);
	assert_int_equal(write_request_parse(written.text, written.len, take, &s, &err), 0);
	assert_string_equal(s.text, "m/abc: 1000=1.5 2000=2;n/-: 1=-1;");
	strbuf_release(&labels);
	strbuf_release(&written);
}

/* Lengths of more than a byte, and times of today. */
static void test_written_large(void **state)
{
	enum { N = 1000 };
	struct write_sample samples[N];
	struct strbuf labels = {0}, written = {0};
	struct seen s = {0};
	struct lp_err err = {0};
	char job[301];

	(void)state;
	memset(job, 'j', sizeof(job) - 1);
	job[sizeof(job) - 1] = '\0';
	for (int i = 0; i < N; i++)
		samples[i] = (struct write_sample){INT64_C(1790000000000) + i, i};
	write_label_add(&labels, "__name__", "m");
	write_label_add(&labels, "job", job);
	write_series_add(&written, labels.text, labels.len, samples, N);
	s.expected = samples;
	assert_int_equal(write_request_parse(written.text, written.len, compare, &s, &err), 0);
	assert_int_equal(s.n, N);
	strbuf_release(&labels);
	strbuf_release(&written);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_stopped),
		cmocka_unit_test(test_written),
		cmocka_unit_test(test_written_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
