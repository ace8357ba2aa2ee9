#include "base/cleanup.h"
#include "base/time.h"
#include "detect/train/thresholds.h"
#include "identity_rig.h"
#include "temp_dir.h"
#include <errno.h>
#include <math.h>
#include <string.h>

DEFINE_CLEANUP(struct thresholds *, thresholds_free);

#define HEAD                                                                                       \
	"limpet thresholds 1\nmethod cdf\nsmooth 15\nwin-size 60\nwin-shift 30\nk 3\nstep 15s\n"

static struct thresholds *good(const char *text)
{
	struct lp_err err = {0};
	struct thresholds *t = NULL;

	if (thresholds_parse(text, strlen(text), "f.thr", &t, &err) < 0)
		fail_msg("%s", err.text);
	return t;
}

static void bad_bytes(const char *text, size_t len, const char *want)
{
	struct thresholds *t = NULL;
	struct lp_err err = {0};

	assert_int_equal(thresholds_parse(text, len, "f.thr", &t, &err), -EBADMSG);
	assert_null(t);
	if (!strstr(err.text, want))
		fail_msg("'%s' is not in '%s'", want, err.text);
	assert_int_equal(thresholds_parse(text, len, "f.thr", &t, NULL), -EBADMSG);
}

static void bad(const char *text, const char *want)
{
	bad_bytes(text, strlen(text), want);
}

static void gets(const struct thresholds *t, const char *metric, const char *who, double want)
{
	double got = -1;

	assert_true(thresholds_get(t, metric, identity_of(who), &got));
	assert_true(got == want);
}

static void test_reads(void **state)
{
	_cleanup_(thresholds_freep) struct thresholds *t =
		good("# before\n\n" HEAD "await oss3/disk:sdb 4.2 # why\r\n"
		     "  %util\toss3/disk:sdb   .5\n\"read time\" \"a b/disk:\\\"c\\\\\\x41\" 1e2\n"
		     "end 3\n# after\n");
	const struct lp_params *p = thresholds_params(t);

	(void)state;
	assert_string_equal(thresholds_method(t), "cdf");
	assert_int_equal(p->smooth, 15);
	assert_int_equal(p->win_size, 60);
	assert_int_equal(p->win_shift, 30);
	assert_int_equal(p->k, 3);
	assert_int_equal(p->step_us, 15 * US_PER_SEC);
	gets(t, "await", "oss3/disk:sdb", 4.2);
	gets(t, "%util", "oss3/disk:sdb", 0.5);
	gets(t, "read time", "a b/disk:\"c\\A", 100);
}

/* How service times were compared may be said, and is written again. */
static void test_service_method(void **state)
{
	static const char *const names[] = {"series", "cdf"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		char text[300], want[40];
		_cleanup_(thresholds_freep) struct thresholds *t = NULL;
		_cleanup_free_ char *written = NULL;

		snprintf(text, sizeof(text), HEAD "service-method %s\ndread s1/sys:a 2\nend\n",
			names[i]);
		t = good(text);
		assert_string_equal(thresholds_service(t), names[i]);
		written = thresholds_text(t);
		snprintf(want, sizeof(want), "\nservice-method %s\n", names[i]);
		assert_non_null(strstr(written, want));
	}
	{
		_cleanup_(thresholds_freep) struct thresholds *t = good(HEAD "end\n");
		_cleanup_free_ char *written = thresholds_text(t);

		assert_null(thresholds_service(t));
		assert_null(strstr(written, "service-method"));
	}
}

static void test_unknown_component(void **state)
{
	_cleanup_(thresholds_freep) struct thresholds *t =
		good(HEAD "await a/disk:1 1\nawait a/disk:2 7\nawait a/disk:3 2\nawait a/net:4 9\n"
			  "rd_sec a/disk:1 3\nrd_sec a/disk:2 4\nawait odd 5\nend");
	double got;

	(void)state;
	gets(t, "await", "b/disk:1", 2); /* the median of 1, 2, 7 */
	gets(t, "await", "b/net:x", 9);
	gets(t, "rd_sec", "b/disk:1", 3.5);
	gets(t, "await", "odd", 5);
	/* Text of another form is a separate kind (lp_identity_parse()). */
	assert_false(thresholds_get(t, "await", identity_of("strange"), &got));
	assert_false(thresholds_get(t, "rd_sec", identity_of("b/net:1"), &got));
	assert_false(thresholds_get(t, "wr_sec", identity_of("a/disk:1"), &got));
	assert_false(thresholds_get(t, "", identity_of("a/disk:1"), &got));
}

static void test_globs(void **state)
{
	_cleanup_(thresholds_freep) struct thresholds *t = good(HEAD
		"cwnd */tcp:* 0.9\ncwnd */tcp:*:in 0.7\ncwnd */tcp:*:out 0.4\nawait a/disk:1 1\n"
		"await a/disk:? 2\ncwnd a/tcp:[::1]:in 0.1\nend 6");

	(void)state;
	gets(t, "cwnd", "oss/tcp:10.0.0.1:in", 0.7);
	gets(t, "cwnd", "oss/tcp:[fe80::1]:out", 0.4);
	gets(t, "cwnd", "a/tcp:[::1]:in", 0.1); /* brackets are no glob, and its own comes first */
	gets(t, "cwnd", "a/tcp:10.0.0.1", 0.9); /* the longest that matches */
	gets(t, "await", "a/disk:1", 1);
	gets(t, "await", "a/disk:2", 2);
	gets(t, "await", "a/disk:10", 1); /* globs do not count in medians */
}

static void test_bad_lines(void **state)
{
	(void)state;
	bad("", "f.thr: the file is empty");
	bad("await a 1\n", "f.thr:1: this is not a file of thresholds");
	bad("limpet thresholds 4\n", "f.thr:1: these thresholds are of version 4, and this limpet");
	bad("limpet thresholds 11\n", "f.thr:1: these thresholds are of version 11, and this");
	bad("limpet thresholds x\n", "'x' is not a version");
	bad("limpet thresholds 1\nmethod kl\nfoo 3\nend\n", "f.thr:3: unknown key 'foo'");
	bad("limpet thresholds 1\nmethod kl\nmethod kl\n", "f.thr:3: 'method' is given twice");
	bad("limpet thresholds 1\nmethod best\n",
		"f.thr:2: there is no method 'best' in this limpet");
	bad("limpet thresholds 1\nk 0\n", "f.thr:2: k: want a whole number from 1 to");
	bad("limpet thresholds 1\nk 99999999999999999999\n", "k: want a whole number");
	bad("limpet thresholds 1\nsmooth -1\n", "smooth: want a whole number");
	bad("limpet thresholds 1\nstep -1s\n", "f.thr:2: step: ");
	bad("limpet thresholds 1\nstep 0\n", "f.thr:2: step: ");
	bad("limpet thresholds 1\nmethod kl\nawait a 1\n",
		"f.thr:3: a line 'smooth ...' is missing");
	bad("limpet thresholds 1\nend\n", "f.thr:2: a line 'method ...' is missing");
	bad(HEAD "await a 1\nk 3\nend\n", "f.thr:9: 'k' is given twice");
	bad(HEAD "service-method kl\nend\n",
		"f.thr:9: service-method: want 'series' or 'cdf', not 'kl'");
	bad(HEAD "service-method cdf\nservice-method cdf\nend\n", "is given twice");
	bad(HEAD "await\nend\n", "f.thr:8: want 'METRIC COMPONENT NUMBER'");
	bad(HEAD "await a 1 2\nend\n", "f.thr:8: want 'METRIC COMPONENT NUMBER'");
	bad(HEAD "await \"a 1\nend\n", "f.thr:8: a word in quotes does not end");
	bad(HEAD "await \"a\\q\" 1\nend\n", "bad backslash");
	bad(HEAD "await \"a\"b 1\nend\n", "f.thr:8: a word in quotes");
	bad(HEAD "await \"\" 1\nend\n", "f.thr:8: a name is empty");
	bad(HEAD "await a 1\nawait b 1\nawait a 2\nend\n", "f.thr:10: await of a has a threshold");
	bad_bytes(HEAD "await a\0 1\nend\n", sizeof(HEAD) + 15, "f.thr:8: the line has a NUL byte");
	bad("limpet thresholds 1\nmethod kl\nsmooth 1\nwin-size 4\nwin-shift 5\nk 1\nstep 1\nend\n",
		"win-shift 5 is more than win-size 4");
}

#define HEAD2                                                                                      \
	"limpet thresholds 2\nmethod cdf\nsmooth 15\nwin-size 60\nwin-shift 30\nk 3\nstep 15s\n"

/* Failures that are normal came with version 2; a file without them is of version 1. */
static void test_normal(void **state)
{
	_cleanup_(thresholds_freep) struct thresholds *t =
		good(HEAD2 "normal client openat ENOENT\nawait a/disk:1 1\n"
			   "normal server lgetxattr ENODATA\nnormal server close EBADF\nend 4\n");
	_cleanup_(thresholds_freep) struct thresholds *again = NULL;
	_cleanup_free_ char *text = thresholds_text(t);
	const struct threshold_normal *normals;
	size_t n;

	(void)state;
	assert_true(thresholds_is_normal(t, "server", "lgetxattr", "ENODATA"));
	assert_false(thresholds_is_normal(t, "client", "lgetxattr", "ENODATA"));
	assert_false(thresholds_is_normal(t, "server", "lgetxattr", "ENOENT"));
	assert_false(thresholds_is_normal(t, "nobody", "lgetxattr", "ENODATA"));
	gets(t, "await", "a/disk:1", 1);
	assert_non_null(strstr(text, "limpet thresholds 2\n"));
	assert_non_null(strstr(text,
		"\nnormal  server  close  EBADF\nnormal  server  lgetxattr  ENODATA\n"
		"normal  client  openat  ENOENT\n\nend 4\n"));
	again = good(text);
	normals = thresholds_normals(again, &n);
	assert_int_equal(n, 3);
	assert_string_equal(normals[0].call, "close");
	assert_int_equal(thresholds_add_normal(again, "server", "close", "EBADF"), -EEXIST);
	assert_int_equal(thresholds_add_normal(again, "server", "close", "EIO"), 0);
}

static void test_bad_normal(void **state)
{
	(void)state;
	bad(HEAD2 "normal server openat\nend\n", "f.thr:8: ");
	bad(HEAD2 "normal someone openat ENOENT\nend\n",
		"f.thr:8: want 'normal server|client CALL ERRNO'");
	bad(HEAD2 "normal server open-at ENOENT\nend\n", "f.thr:8: want 'normal ");
	bad(HEAD2 "normal server openat enoent\nend\n", "f.thr:8: want 'normal ");
	bad(HEAD2 "normal server openat ENOENT x\nend\n", "f.thr:8: want 'METRIC");
	bad(HEAD2 "normal server a E\nnormal server a E\nend\n", "f.thr:9: 'normal server a E'");
	bad(HEAD2 "normal server a E\nend 2\n", "f.thr:9: there should be 2 thresholds");
	bad(HEAD "normal server openat ENOENT\nend\n",
		"f.thr:8: 'normal ...' is of version 2, and the file says");
	bad("limpet thresholds 2\nnormal server a E\n", "f.thr:2: a line 'method ...'");
}

/* Which side is worse is kept with the thresholds. */
static void test_worse(void **state)
{
	_cleanup_(thresholds_freep) struct thresholds *t = good(
		HEAD2 "bandwidth a/disk:1 1\nworse lower bandwidth\nworse higher \"my metric\"\n"
		      "end 1\n");
	_cleanup_free_ char *text = thresholds_text(t);
	_cleanup_(thresholds_freep) struct thresholds *again = good(text);

	(void)state;
	assert_non_null(strstr(text, "limpet thresholds 2\n"));
	assert_non_null(strstr(text, "\nworse  lower  bandwidth\nworse  higher  \"my metric\"\n"));
	assert_int_equal(
		meanings_role(thresholds_meant(again), "bandwidth", LP_ROLE_WORK), LP_ROLE_YIELD);
	assert_int_equal(
		meanings_role(thresholds_meant(again), "my metric", LP_ROLE_OTHER), LP_ROLE_HARM);
	/* A metric may have that name. */
	thresholds_free(again);
	again = good(HEAD "worse a/disk:1 3\nend\n");
	gets(again, "worse", "a/disk:1", 3);
	bad(HEAD "worse lower x\nend\n", "f.thr:8: 'worse ...' is of version 2");
}

#define HEAD3                                                                                      \
	"limpet thresholds 3\nmethod cdf\nsmooth 15\nwin-size 60\nwin-shift 30\nk 3\nstep 15s\n"

/* Weights of functions came with version 3. */
static void test_weights(void **state)
{
	_cleanup_(thresholds_freep) struct thresholds *t =
		good(HEAD3 "samples oss1/functions:all 900\n"
			   "weight samples glusterfsd:posix.so:posix_readv 2.5\n"
			   "weight samples \"a b:*\" 0\nend 3\n");
	_cleanup_free_ char *text = thresholds_text(t);
	_cleanup_(thresholds_freep) struct thresholds *again = good(text);
	const struct function_weights *w = thresholds_weighted(again);

	(void)state;
	assert_non_null(strstr(text, "limpet thresholds 3\n"));
	assert_non_null(strstr(text,
		"\nweight  samples  \"a b:*\"  0\n"
		"weight  samples  glusterfsd:posix.so:posix_readv  2.5\n\nend 3\n"));
	assert_true(function_weights_get(w, "samples", "glusterfsd:posix.so:posix_readv") == 2.5);
	assert_true(function_weights_get(w, "samples", "a b:c") == 0);
	bad(HEAD3 "weight samples a -1\nend\n", "f.thr:8: '-1' is not a weight");
	bad(HEAD3 "weight samples a 1e9\nend\n", "f.thr:8: want 'weight METRIC FUNCTION");
	bad(HEAD3 "weight samples a 1\nweight samples a 1\nend\n",
		"f.thr:9: samples of a has a weight already");
	bad(HEAD2 "weight samples a 1\nend\n", "f.thr:8: 'weight ...' is of version 3");
	bad(HEAD3 "weight samples a 1\nend 2\n", "f.thr:9: there should be 2 thresholds");
}

static void test_bad_numbers(void **state)
{
	static const char *const numbers[] = {"-1", "-0", "nan", "inf", "1e999", "0x10", "1,5",
		"1.5.2", "+1", "e", "-", ".", "1e"};

	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		char text[300], want[80];

		snprintf(text, sizeof(text), HEAD "await a %s\nend\n", numbers[i]);
		snprintf(want, sizeof(want), "f.thr:8: '%s' is not a threshold", numbers[i]);
		bad(text, want);
	}
}

static void test_long_line(void **state)
{
	char text[20000], name[1200];

	(void)state;
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	snprintf(text, sizeof(text), HEAD "await %s 1\nend\n", name);
	bad(text, "f.thr:8: a name is empty or longer than 1000 bytes");
	memset(text, ' ', sizeof(text));
	bad_bytes(text, sizeof(text), "f.thr:1: the line is longer than");
}

/* Whatever is cut off is noticed, wherever the cut is. */
static void test_cut_off(void **state)
{
	static const char whole[] = HEAD "await a/disk:1 1.5\nawait a/disk:2 2.5\nend 2\n";

	(void)state;
	for (size_t len = 0; len < sizeof(whole) - 4; len++) {
		struct thresholds *t = NULL;

		assert_int_equal(thresholds_parse(whole, len, "f.thr", &t, NULL), -EBADMSG);
		assert_null(t);
	}
	bad(HEAD "await a/disk:1 1.5\n", "f.thr:8: the file is cut off");
	bad(HEAD "await a/disk:1 1.5\nend 2\n",
		"f.thr:9: there should be 2 thresholds and there are 1");
	bad(HEAD "await a/disk:1 1.5\nend two\n", "'two' is not a number of thresholds");
	bad(HEAD "end\nawait a/disk:1 1.5\n", "f.thr:9: there is text after 'end'");
}

static struct thresholds *sample(void)
{
	struct lp_params p = {
		.smooth = 5, .win_size = 64, .win_shift = 32, .k = 3, .step_us = 100000};
	struct thresholds *t = thresholds_new("kl", &p);

	assert_non_null(t);
	assert_int_equal(thresholds_add(t, "rd_sec", "b/disk:1", 0.2), 0);
	assert_int_equal(thresholds_add(t, "await", "b/disk:1", 2 * (21 / 10.0)), 0);
	assert_int_equal(thresholds_add(t, "await", "a #1/disk:\t\"\\", 1.0 / 3), 0);
	assert_int_equal(thresholds_add(t, "await", "#x", 0), 0);
	assert_int_equal(thresholds_add(t, "\xc3\xa4", "e\xff", 1e300), 0);
	assert_int_equal(thresholds_add(t, "await", "b/disk:1", 1), -EEXIST);
	assert_int_equal(thresholds_add(t, "await", "c", -1), -EINVAL);
	assert_int_equal(thresholds_add(t, "await", "c", NAN), -EINVAL);
	assert_int_equal(thresholds_add(t, "await", "c", INFINITY), -EINVAL);
	assert_int_equal(thresholds_add(t, "await", "", 1), -EINVAL);
	assert_int_equal(thresholds_finish(t), 0);
	return t;
}

static void test_there_and_back(void **state)
{
	_cleanup_(thresholds_freep) struct thresholds *t = sample(), *u = NULL;
	_cleanup_free_ char *one = thresholds_text(t), *two = NULL;

	(void)state;
	assert_non_null(strstr(one,
		"\nk 3\nstep 0.1s\n\nawait  \"#x\"  0\nawait  \"a #1/disk:\\x09"
		"\\\"\\\\\"  0.3333333333333333\nawait  b/disk:1  4.2\n\n"
		"rd_sec  b/disk:1  0.2\n"));
	assert_string_equal(strstr(one, "\nend"), "\nend 5\n");
	u = good(one);
	two = thresholds_text(u);
	assert_string_equal(one, two);
	gets(u, "await", "a #1/disk:\t\"\\", 1.0 / 3);
	assert_int_equal(thresholds_params(u)->step_us, 100000);
}

static void test_files(void **state)
{
	_cleanup_(thresholds_freep) struct thresholds *t = sample(), *u = NULL;
	const char *path = temp_text("t.thr", "what was there before");
	struct lp_err err = {0};
	struct stat st;

	(void)state;
	assert_int_equal(thresholds_read(path, &u, &err), -EBADMSG);
	assert_int_equal(thresholds_write(t, path, &err), 0);
	assert_int_equal(thresholds_read(path, &u, &err), 0);
	gets(u, "rd_sec", "b/disk:1", 0.2);
	/* A link stays a link, and something that is not a file is not replaced. */
	assert_int_equal(symlink("t.thr", temp_path("link")), 0);
	assert_int_equal(thresholds_write(t, temp_path("link"), &err), 0);
	assert_int_equal(lstat(temp_path("link"), &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(thresholds_write(t, "/dev/null", &err), 0);
	assert_int_equal(stat("/dev/null", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	assert_true(thresholds_write(t, temp_path("no/such/dir"), &err) < 0);
	assert_non_null(strstr(err.text, "no/such/dir"));
	assert_true(thresholds_read(temp_path("nowhere"), &u, &err) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reads),
		cmocka_unit_test(test_service_method),
		cmocka_unit_test(test_unknown_component),
		cmocka_unit_test(test_globs),
		cmocka_unit_test(test_bad_lines),
		cmocka_unit_test(test_normal),
		cmocka_unit_test(test_bad_normal),
		cmocka_unit_test(test_worse),
		cmocka_unit_test(test_weights),
		cmocka_unit_test(test_bad_numbers),
		cmocka_unit_test(test_long_line),
		cmocka_unit_test(test_cut_off),
		cmocka_unit_test(test_there_and_back),
		cmocka_unit_test_setup_teardown(test_files, temp_dir_setup, temp_dir_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
