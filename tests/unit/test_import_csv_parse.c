#include "base/cleanup.h"
#include "base/strbuf.h"
#include "import/csv_parse.h"
#include "unit.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static char file[64];

/* A file with that content; its path is in `file`. */
static void write_file(const void *data, size_t size)
{
	int fd;

	strcpy(file, "/tmp/limpet-csv-XXXXXX");
	fd = mkstemp(file);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, size), size);
	close(fd);
}

/* All rows as "line:field|field;" and faults as "line!fault;". */
static void rows_are(const void *data, size_t size, char separator, const char *want)
{
	struct lp_err err = {0};
	struct strbuf got = {0};
	struct csv_reader r;
	int ret;

	write_file(data, size);
	assert_int_equal(csv_reader_open(&r, file, &err), 0);
	if (separator)
		r.separator = separator;
	else
		assert_int_equal(csv_reader_detect(&r, &err), 0);
	while ((ret = csv_reader_next(&r, &err)) == 1) {
		strbuf_printf(
			&got, "%d%s%s", (int)r.line, r.fault ? "!" : ":", r.fault ? r.fault : "");
		for (size_t i = 0; i < r.n_fields; i++)
			strbuf_printf(&got, "%s%.*s", i ? "|" : "", (int)r.fields[i].len,
				r.fields[i].text);
		strbuf_putc(&got, ';');
	}
	assert_int_equal(ret, 0);
	assert_string_equal(got.text ? got.text : "", want);
	strbuf_release(&got);
	csv_reader_close(&r);
	unlink(file);
}

static void text_rows_are(const char *text, const char *want)
{
	rows_are(text, strlen(text), 0, want);
}

/* Exports for Excel begin with the separator. */
static void test_declared(void **state)
{
	(void)state;
	text_rows_are("sep=,\na;b,c\n", "2:a;b|c;");
	text_rows_are("\xef\xbb\xbfsep=;\r\na,b;c\r\n1,5;2\r\n", "2:a,b|c;3:1,5|2;");
	text_rows_are("sep=\t\na,b\tc\n", "2:a,b|c;");
	text_rows_are("sep=,", "1:sep=|;"); /* there is nothing else */
	text_rows_are("sep=x\n", "1:sep=x;");
	text_rows_are("sep=,,\n", "1:sep=||;");
}

static void test_plain(void **state)
{
	(void)state;
	text_rows_are("a,b\n1,2\n", "1:a|b;2:1|2;");
	text_rows_are("a,b\r\n1,2\r\n", "1:a|b;2:1|2;");
	text_rows_are("a,b\n1,2", "1:a|b;2:1|2;");
	text_rows_are("a,b\n,\n1,\n", "1:a|b;2:|;3:1|;");
	text_rows_are("\xef\xbb\xbf"
		      "a,b\n",
		"1:a|b;");
	text_rows_are("a, b ,c \n", "1:a|b|c;");
	text_rows_are("", "");
	text_rows_are("\n\n  \n", "");
}

static void test_comments_and_blank_lines(void **state)
{
	(void)state;
	text_rows_are("# one; two;\n\na,b\n#x,y\n\r\n1,2\n\n\n", "3:a|b;6:1|2;");
}

static void test_separators(void **state)
{
	(void)state;
	text_rows_are("a;b;c,d\n1;2;3\n", "1:a|b|c,d;2:1|2|3;");
	text_rows_are("a\tb\n1\t\n", "1:a|b;2:1|;");
	text_rows_are("\"a;b;c\",d\n", "1:a;b;c|d;");
	rows_are("a|b,c\n", 6, '|', "1:a|b,c;");
}

static void test_quotes(void **state)
{
	(void)state;
	text_rows_are("\"a\",\"b,c\"\n\"1\"\r\n", "1:a|b,c;2:1;");
	text_rows_are("\"say \"\"hi\"\"\",\"\"\n", "1:say \"hi\"|;");
	text_rows_are("\"two\nlines\",x\ny,z\n", "1:two\nlines|x;3:y|z;");
	text_rows_are("3\" disk,x\n", "1:3\" disk|x;");
	text_rows_are(" \"a\" , \"b\"\n", "1:a|b;");
	text_rows_are("a,\"\"\"\"\n", "1:a|\";");
}

static void test_bad_quotes_cost_their_line_only(void **state)
{
	(void)state;
	text_rows_are("a,b\n1,\"2\n3,4\n", "1:a|b;2!a quote is opened and never closed;3:3|4;");
	text_rows_are("a,b\n\"1\"x,2\n3,4\n", "1:a|b;2!text follows a closing quote;3:3|4;");
}

static void test_nul(void **state)
{
	struct lp_err err = {0};
	struct csv_reader r;

	(void)state;
	rows_are("a,b\n1,\0\n3,4\n", 12, 0, "1:a|b;2!not text;3:3|4;");
	write_file("a,b\n1,\0\n3,4\n", 12);
	assert_int_equal(csv_reader_open(&r, file, &err), 0);
	assert_int_equal(csv_reader_next(&r, &err), 1);
	assert_int_equal(csv_reader_next(&r, &err), 1);
	assert_int_equal(r.nul, 6 + 1);
	csv_reader_close(&r);
	unlink(file);
}

/* Rows that lie across the ends of the buffer are whole, and a row without an end is bounded. */
static void test_long(void **state)
{
	static const char tail[] = {'\n', '1', ',', '2', '\n'};
	size_t size = 4 * CSV_ROW_MAX, used = 0;
	_cleanup_free_ char *text = malloc(size);
	struct lp_err err = {0};
	struct csv_reader r;
	int n = 0;

	(void)state;
	while (used < size / 8)
		used += (size_t)sprintf(text + used, "%d,\"x\"\"%d\"\n", n, n), n++;
	write_file(text, used);
	assert_int_equal(csv_reader_open(&r, file, &err), 0);
	for (int i = 0; i < n; i++) {
		char want[32];

		assert_int_equal(csv_reader_next(&r, &err), 1);
		assert_int_equal(r.n_fields, 2);
		assert_int_equal(r.fields[1].len, sprintf(want, "x\"%d", i));
		assert_memory_equal(r.fields[1].text, want, r.fields[1].len);
	}
	assert_int_equal(csv_reader_next(&r, &err), 0);
	csv_reader_close(&r);
	unlink(file);

	memset(text, 'x', size);
	memcpy(text + size - sizeof(tail), tail, sizeof(tail));
	rows_are(text, size, 0, "1!longer than 1 MiB (is a quote not closed?);2:1|2;");
	memset(text, ',', size);
	memcpy(text + size - sizeof(tail), tail, sizeof(tail));
	rows_are(text, size, 0, "1!more fields than the 16384 that a row may have;2:1|2;");
}

static void test_wrapped(void **state)
{
	static const struct {
		const char *data;
		const char *want;
		int code;
	} cases[] = {
		{"\x1f\x8b\x08 abcdefgh", "cannot be unpacked (gzip)", -EBADMSG},
		{"\x28\xb5\x2f\xfd abcdefgh", "damaged", -EBADMSG},
		{"\xfd\x37zXZ abcdefgh", "cannot be unpacked (xz)", -EBADMSG},
		{"BZh abcdefgh", "bzip2 -dk /tmp/", -EINVAL},
		{"\xff\xfet abcdefgh", "iconv -f UTF-16", -EINVAL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lp_err err = {0};
		struct csv_reader r;

		write_file(cases[i].data, strlen(cases[i].data));
		assert_int_equal(csv_reader_open(&r, file, &err), cases[i].code);
		assert_non_null(strstr(err.text, cases[i].want));
		unlink(file);
	}
}

static void test_unreadable(void **state)
{
	struct lp_err err = {0};
	struct csv_reader r;

	(void)state;
	assert_int_equal(csv_reader_open(&r, "/nonexistent/x.csv", &err), -ENOENT);
	assert_non_null(strstr(err.text, "/nonexistent/x.csv"));
	assert_int_equal(csv_reader_open(&r, "/tmp", &err), -EISDIR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_declared),
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_comments_and_blank_lines),
		cmocka_unit_test(test_separators),
		cmocka_unit_test(test_quotes),
		cmocka_unit_test(test_bad_quotes_cost_their_line_only),
		cmocka_unit_test(test_nul),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_wrapped),
		cmocka_unit_test(test_unreadable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
