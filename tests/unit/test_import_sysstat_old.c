#include "sa_reader.h"

#include "sa_old_writer.h"
#include <errno.h>

#define WALL 1600000000
#define BIG UINT64_C(5000000000)

/* Which layouts the versions of sysstat used. */
struct layout {
	uint16_t format;
	uint32_t disk, net, errors;
};

static const struct layout layouts[] = {
	{0x2171, 0, 0, 0}, /* 9.1.6 */
	{0x2171, 1, 0, 0}, /* 10.1.1 */
	{0x2171, 1, 1, 1}, /* 10.1.5 */
	{0x2171, 1, 2, 1}, /* 10.2.0 */
	{0x2173, 1, 2, 1}, /* 10.3.1 to 11.6 */
};
static const struct layout *const latest = &layouts[4];

static const uint32_t disk_sizes[] = {80, 64}, net_sizes[] = {72, 128, 144},
		      error_sizes[] = {88, 160};

static struct sa_writer *writer_new(const struct layout *l, bool big, bool long_is_32)
{
	struct sa_writer *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	w->format = l->format;
	w->big = big;
	w->long_is_32 = long_is_32;
	return w;
}

/* Header and list: CPUs, room for 3 interfaces and for 4 disks. */
static void write_start(struct sa_writer *w, const struct layout *l)
{
	sa_old_begin(w, 4, 2);
	sa_old_activity(w, 1, 0x8a, 3, 160);
	sa_old_activity(w, 12, 0x8a + l->net, 3, net_sizes[l->net]);
	sa_old_activity(w, 13, 0x8a + l->errors, 3, error_sizes[l->errors]);
	sa_old_activity(w, 11, 0x8a + l->disk, 4, disk_sizes[l->disk]);
}

static struct sa_disk disk_at(uint32_t minor, uint64_t step)
{
	return (struct sa_disk){.major = 8,
		.minor = minor,
		.ios = BIG + step,
		.rd_sec = BIG + 1000 + step,
		.wr_sec = BIG + 2000 + 2 * step,
		.rd_ticks = 10 + (uint32_t)step,
		.wr_ticks = 20 + (uint32_t)step,
		.tot_ticks = 0xfffffff0u + (uint32_t)step,
		.rq_ticks = 40};
}

/* A record with interface eth0 and up to 4 disks by their minor numbers; the rest is not in use. */
static void write_stats(struct sa_writer *w, const struct layout *l, uint64_t step, uint32_t cpus,
	const uint32_t *minors, uint32_t n)
{
	sa_old_record(w, SA_STATS, 1000 + 100 * step, WALL + step);
	sa_hole(w, (size_t)160 * cpus);
	sa_old_net(w, l->net, "eth0", BIG + 100 * step);
	sa_zeros(w, (size_t)2 * net_sizes[l->net]);
	sa_old_net_errors(w, l->errors, "eth0", BIG + 10 * step);
	sa_zeros(w, (size_t)2 * error_sizes[l->errors]);
	for (uint32_t i = 0; i < n; i++) {
		struct sa_disk d = disk_at(minors[i], step);

		sa_old_disk(w, l->disk, &d);
	}
	sa_zeros(w, (size_t)(4 - n) * disk_sizes[l->disk]);
}

/* The mark of a restart with its list: `cpus` CPUs from here on, and one that is empty. */
static void write_restart(struct sa_writer *w, const struct layout *l, uint64_t step, uint32_t cpus)
{
	sa_old_record(w, SA_RESTART, 0, WALL + step);
	if (l->format != 0x2173)
		return;
	sa_old_activity(w, 1, 0xeeeeeeee, cpus, 0xeeeeeeee);
	sa_old_activity(w, 0, 0, 0, 0);
}

/* What is left of a number in a long. */
static int64_t as_long(const struct sa_writer *w, uint64_t v)
{
	return w->long_is_32 ? (uint32_t)v : (int64_t)v;
}

static void check_disk(const struct sa_writer *w, const struct layout *l, struct lp_source *s,
	struct lp_batch *b, uint32_t i)
{
	static const char sdb1[] = "oss1/disk:sdb1";
	int64_t rd = BIG + 1000 + i, wr = BIG + 2000 + UINT64_C(2) * i;

	assert_int_equal(
		value(s, b, sdb1, "ios", i), l->disk ? (int64_t)BIG + i : as_long(w, BIG + i));
	assert_int_equal(value(s, b, sdb1, "rd_sec", i), l->disk ? as_long(w, rd) : rd);
	assert_int_equal(value(s, b, sdb1, "wr_sec", i), l->disk ? as_long(w, wr) : wr);
	assert_int_equal(value(s, b, sdb1, "rd_ticks", i), 10 + i);
	assert_int_equal(value(s, b, sdb1, "wr_ticks", i), 20 + i);
	assert_int_equal(value(s, b, sdb1, "tot_ticks", i), 0xfffffff0u + i);
	assert_int_equal(value(s, b, sdb1, "rq_ticks", i), 40);
	assert_int_equal(value(s, b, sdb1, "dc_sec", i), 0);
	assert_int_equal(value(s, b, sdb1, "dc_ticks", i), 0);
	assert_int_equal(state(s, b, sdb1, i), i ? LP_PRESENT : LP_PRESENT | LP_FRESH);
}

static void check_net(const struct sa_writer *w, const struct layout *l, struct lp_source *s,
	struct lp_batch *b, uint32_t i)
{
	static const char *const columns[] = {"rx_packets", "tx_packets", "rx_bytes", "tx_bytes",
		"rx_compressed", "tx_compressed", "rx_multicast"};
	static const char *const errors[] = {"tx_colls", "rx_errs", "tx_errs", "rx_drop", "tx_drop",
		"rx_fifo", "tx_fifo", "rx_frame", "tx_carrier"};
	static const char eth0[] = "oss1/net:eth0";

	for (uint64_t k = 0; k < 7; k++) {
		uint64_t v = BIG + 100 * i + k;

		assert_int_equal(
			value(s, b, eth0, columns[k], i), l->net ? (int64_t)v : as_long(w, v));
	}
	for (uint64_t k = 0; k < 9; k++) {
		uint64_t v = BIG + 10 * i + k;

		assert_int_equal(
			value(s, b, eth0, errors[k], i), l->errors ? (int64_t)v : as_long(w, v));
	}
	assert_int_equal(value(s, b, eth0, "speed", i), l->net == 2 ? 1000 : 0);
	assert_int_equal(value(s, b, eth0, "duplex", i), l->net == 2 ? 2 : 0);
}

static void check_widths(const struct sa_writer *w, const struct layout *l, struct lp_source *s)
{
	int bits = w->long_is_32 ? 32 : 64;

	assert_int_equal(column_of(s, "disk", "ios")->bits, l->disk ? 64 : bits);
	assert_int_equal(column_of(s, "disk", "rd_sec")->bits, l->disk ? bits : 64);
	assert_int_equal(column_of(s, "disk", "tot_ticks")->bits, 32);
	assert_int_equal(column_of(s, "net", "rx_bytes")->bits, l->net ? 64 : bits);
	assert_int_equal(column_of(s, "net", "rx_errs")->bits, l->errors ? 64 : bits);
}

/* A file of three samples, every field checked. */
static void check_machine(const struct layout *l, bool big, bool long_is_32)
{
	struct sa_writer *w = writer_new(l, big, long_is_32);
	struct lp_err err = {0};
	struct lp_batch *b;
	struct lp_source *s;

	w->more_header = l->format == 0x2173 && big ? 24 : 0;
	write_start(w, l);
	for (uint64_t step = 0; step < 3; step++)
		write_stats(w, l, step, 3, (uint32_t[]){0, 17}, 2);
	s = open_writer(w, w->len, NULL, NULL, &err);
	assert_string_equal(err.text, "");
	assert_int_equal(s->interval_us, 1000000);
	assert_int_equal(lp_source_next(s, &b, &err), 1);
	assert_int_equal(b->n_samples, 3);
	assert_int_equal(s->catalogue->n_components, 3); /* eth0, sda, sdb1 */
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(b->wall_us[i], (WALL + (int64_t)i) * 1000000);
		assert_int_equal(b->mono_us[i], 10000000 + i * 1000000);
		check_disk(w, l, s, b, i);
		check_net(w, l, s, b, i);
	}
	check_widths(w, l, s);
	assert_int_equal(lp_source_next(s, &b, &err), 0);
	lp_source_close(s);
	free(w);
}

static void every_layout_and_machine(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		for (int machine = 0; machine < 4; machine++)
			check_machine(&layouts[i], machine & 1, machine & 2);
	}
}

/* Two samples, a comment, a restart with more CPUs (where the format has a list of them), and three
 * samples. */
static void write_restarted(struct sa_writer *w, const struct layout *l)
{
	uint32_t cpus = l->format == 0x2173 ? 5 : 3;

	write_start(w, l);
	write_stats(w, l, 0, 3, (uint32_t[]){0}, 1);
	write_stats(w, l, 1, 3, (uint32_t[]){0}, 1);
	sa_old_record(w, SA_COMMENT, 0, WALL + 1);
	sa_text(w, "hello", 64);
	write_restart(w, l, 2, cpus);
	for (uint64_t step = 3; step < 6; step++)
		write_stats(w, l, step, cpus, (uint32_t[]){0}, 1);
}

static void restarts_change_the_number_of_cpus(void **unused)
{
	(void)unused;
	for (size_t i = 3; i < 5; i++) {
		struct sa_writer *w = writer_new(&layouts[i], i == 3, false);
		struct lp_err err = {0};
		struct lp_batch *b;
		struct lp_source *s;

		write_restarted(w, &layouts[i]);
		s = open_writer(w, w->len, NULL, NULL, &err);
		assert_non_null(s);
		assert_int_equal(lp_source_next(s, &b, &err), 1);
		assert_int_equal(b->n_samples, 5);
		for (uint32_t k = 0; k < 5; k++) {
			uint64_t step = k < 2 ? k : k + 1;

			assert_int_equal(value(s, b, "oss1/disk:sda", "ios", k), BIG + step);
			assert_int_equal(state(s, b, "oss1/disk:sda", k),
				k == 0 || k == 2 ? LP_PRESENT | LP_FRESH : LP_PRESENT);
		}
		assert_int_equal(lp_source_next(s, &b, &err), 0);
		lp_source_close(s);
		free(w);
	}
}

/* The sample before the first selected one is read for the difference, but not if there was a
 * restart between them: its record has other counts. */
static void selected_times_begin_anywhere(void **unused)
{
	static const struct {
		int64_t from;
		uint32_t n;
		int64_t first;
	} cases[] = {{0, 5, 0}, {1, 5, 0}, {2, 3, 3}, {3, 3, 3}, {4, 3, 3}, {5, 2, 4}};
	struct sa_writer *w = writer_new(latest, false, false);

	(void)unused;
	write_restarted(w, latest);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lp_select select = {.from_us = INT64_C(1000000) * (WALL + cases[i].from)};
		struct lp_err err = {0};
		struct lp_batch *b;
		struct lp_source *s = open_writer(w, w->len, &select, NULL, &err);

		assert_non_null(s);
		assert_int_equal(lp_source_next(s, &b, &err), 1);
		assert_int_equal(b->n_samples, cases[i].n);
		assert_int_equal(b->wall_us[0], INT64_C(1000000) * (WALL + cases[i].first));
		assert_int_equal(
			value(s, b, "oss1/disk:sda", "ios", 0), (int64_t)BIG + cases[i].first);
		assert_int_equal(lp_source_next(s, &b, &err), 0);
		lp_source_close(s);
	}
	free(w);
}

/* The kernel lists a new disk between others; all move on by one place. */
static void devices_come_and_go(void **unused)
{
	struct sa_writer *w = writer_new(latest, true, true);
	struct lp_err err = {0};
	struct lp_batch *b;
	struct lp_source *s;

	(void)unused;
	write_start(w, latest);
	write_stats(w, latest, 0, 3, (uint32_t[]){0, 32}, 2);
	write_stats(w, latest, 1, 3, (uint32_t[]){0, 16, 32, 48}, 4);
	write_stats(w, latest, 2, 3, (uint32_t[]){16, 32}, 2);
	write_stats(w, latest, 3, 3, NULL, 0);
	s = open_writer(w, w->len, NULL, NULL, &err);
	assert_non_null(s);
	assert_int_equal(lp_source_next(s, &b, &err), 1);
	assert_int_equal(b->n_samples, 4);
	assert_int_equal(state(s, b, "oss1/disk:sdb", 0), LP_ABSENT);
	assert_int_equal(state(s, b, "oss1/disk:sdb", 1), LP_PRESENT | LP_FRESH);
	assert_int_equal(state(s, b, "oss1/disk:sdb", 2), LP_PRESENT);
	assert_int_equal(state(s, b, "oss1/disk:sda", 2), LP_ABSENT);
	assert_int_equal(state(s, b, "oss1/disk:sdc", 2), LP_PRESENT);
	assert_int_equal(state(s, b, "oss1/disk:sdc", 3), LP_ABSENT);
	assert_int_equal(state(s, b, "oss1/disk:sdd", 2), LP_ABSENT);
	assert_int_equal(value(s, b, "oss1/disk:sdc", "ios", 2), BIG + 2);
	lp_source_close(s);
	free(w);
}

/* A counter of 32 bits begins anew after 4 GB; if it was small, the interface was replaced. */
static void short_counters_wrap(void **unused)
{
	static const uint64_t counters[] = {0xfffffff0, 0x100000010, 0x100000020, 0x100000000};
	struct sa_writer *w = writer_new(&layouts[0], false, true);
	struct lp_err err = {0};
	struct lp_batch *b;
	struct lp_source *s;

	(void)unused;
	sa_old_begin(w, 1, 0);
	sa_old_activity(w, 12, 0x8a, 1, 72);
	for (uint64_t i = 0; i < 4; i++) {
		sa_old_record(w, SA_STATS, 1000 + 100 * i, WALL + i);
		sa_old_net(w, 0, "eth0", counters[i]);
	}
	s = open_writer(w, w->len, NULL, NULL, &err);
	assert_non_null(s);
	assert_int_equal(lp_source_next(s, &b, &err), 1);
	assert_int_equal(value(s, b, "oss1/net:eth0", "rx_packets", 1), 0x10);
	assert_int_equal(state(s, b, "oss1/net:eth0", 1), LP_PRESENT);
	assert_int_equal(state(s, b, "oss1/net:eth0", 2), LP_PRESENT);
	assert_int_equal(state(s, b, "oss1/net:eth0", 3), LP_PRESENT | LP_FRESH);
	lp_source_close(s);
	free(w);
}

/* Overwrite one number of a file; reading it must end with the error `expected` at byte `where`. */
static void check_patch(
	const struct layout *l, size_t at, uint32_t number, size_t where, const char *expected)
{
	struct sa_writer *w = writer_new(l, true, false);
	struct lp_err err = {0};
	struct lp_source *s;
	struct lp_batch *b;
	char text[32];
	size_t len;

	write_restarted(w, l);
	len = w->len;
	w->len = at;
	sa_u32(w, number);
	s = open_writer(w, len, NULL, NULL, &err);
	while (s && lp_source_next(s, &b, &err) > 0)
		;
	lp_source_close(s);
	snprintf(text, sizeof(text), "byte %zu: ", where);
	assert_int_equal(err.code, -EBADMSG);
	assert_non_null(strstr(err.text, text));
	assert_non_null(strstr(err.text, expected));
	free(w);
}

static void impossible_headers_are_refused(void **unused)
{
	const struct layout *older = &layouts[2];

	(void)unused;
	check_patch(latest, 8, 0, 8, "size of the header");
	check_patch(latest, 8, 8193, 8, "size of the header");
	check_patch(latest, 8, 100, 97, "too short for the name");
	check_patch(latest, 96, 0x0d087805, 99, "neither 4 nor 8");
	check_patch(latest, 88, 0, 76, "contradicts itself");
	check_patch(latest, 88, 257, 76, "contradicts itself");
	check_patch(latest, 92, 5, 76, "contradicts itself");
	check_patch(older, 20, 0x0d087805, 23, "neither 4 nor 8");
	check_patch(older, 16, 0, 8, "contradicts itself");
	check_patch(older, 288 + 8, 0, 288, "activity 1 cannot have 0 x 1 items of 160 bytes");
	check_patch(latest, 364 + 12, 5000, 364, "activity 1 cannot have 3 x 5000 items");
	check_patch(latest, 364 + 36, 1025, 384, "activity 12 cannot have");
	check_patch(latest, 364 + 20, 1, 384, "an activity is listed twice");
	check_patch(latest, 364 + 68, 65537, 1884, "number of items before this");
}

static void impossible_records_are_refused(void **unused)
{
	const size_t first = 364 + 80, stats = 48 + 3 * 160 + 3 * 144 + 3 * 160 + 4 * 64;
	const size_t comment = first + 2 * stats, restart = comment + 48 + 64;

	(void)unused;
	check_patch(latest, first + 40, 0x00010101, first, "unknown type");
	check_patch(latest, first + 40, 0x05010101, first, "unknown type");
	check_patch(latest, first + 40, 0x01180101, first, "impossible time");
	check_patch(latest, first + 32, 0x7fffffff, first, "impossible time");
	check_patch(latest, first + 16, 0xffffffff, first, "impossible time");
	check_patch(latest, restart + 48, 77, restart + 48, "impossible activity");
	check_patch(latest, restart + 48 + 8, 0x7fffffff, restart + 48, "impossible activity");
}

/* Items of another size or layout are skipped, and so are items of several structures. */
static void unknown_layouts_are_skipped(void **unused)
{
	static const struct {
		uint32_t magic, size, nr2;
	} cases[] = {{0x8b, 72, 1}, {0x8c, 64, 1}, {0x8b, 64, 2}};

	(void)unused;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sa_writer *w = writer_new(latest, false, true);
		char text[200] = "", expected[80];
		struct lp_warn warn = {.warn = keep_warning, .ctx = text};
		struct lp_err err = {0};
		struct lp_batch *b;
		struct lp_source *s;

		sa_old_begin(w, 2, 0);
		sa_old_activity(w, 11, cases[i].magic, 1, cases[i].size);
		w->len -= 8;
		sa_u32(w, cases[i].nr2);
		w->len += 4;
		sa_old_activity(w, 12, 0x8c, 1, 144);
		sa_old_record(w, SA_STATS, 1000, WALL);
		sa_hole(w, (size_t)cases[i].size * cases[i].nr2);
		sa_old_net(w, 2, "eth0", 5);
		s = open_writer(w, w->len, NULL, &warn, &err);
		assert_non_null(s);
		assert_int_equal(lp_source_next(s, &b, &err), 1);
		assert_int_equal(value(s, b, "oss1/net:eth0", "tx_bytes", 0), 8);
		assert_null(column_of(s, "disk", "ios"));
		snprintf(expected, sizeof(expected),
			"layout 0x%x of sysstat 11.6.5, with items of %u bytes, is not known",
			(unsigned)cases[i].magic, (unsigned)cases[i].size);
		assert_non_null(strstr(text, expected));
		lp_source_close(s);
		free(w);
	}
}

/* Cut a file at every byte: complete records are delivered, then an error says where it ends. */
static void cut_at_every_byte(void **unused)
{
	struct sa_writer *w = writer_new(latest, true, false);
	size_t start, ends[5], n = 0;

	(void)unused;
	write_start(w, latest);
	start = w->len;
	write_stats(w, latest, 0, 3, (uint32_t[]){0}, 1);
	ends[n++] = w->len;
	write_restart(w, latest, 1, 1);
	ends[n++] = w->len;
	write_stats(w, latest, 2, 1, (uint32_t[]){0}, 1);
	ends[n++] = w->len;
	for (size_t len = 0; len <= w->len; len++) {
		struct lp_err err = {0};
		struct lp_source *s = open_writer(w, len, NULL, NULL, &err);
		uint32_t seen = 0;
		struct lp_batch *b;
		char where[32];
		int r;

		assert_int_equal(s != NULL, len >= start);
		if (!s) {
			assert_true(err.code < 0);
			continue;
		}
		while ((r = lp_source_next(s, &b, &err)) > 0)
			seen += b->n_samples - b->carry;
		assert_int_equal(seen, (len >= ends[0]) + (len >= ends[2]));
		assert_int_equal(
			r < 0, len != start && len != ends[0] && len != ends[1] && len != ends[2]);
		snprintf(where, sizeof(where), "byte %zu", len);
		assert_true(r == 0 || strstr(err.text, where));
		lp_source_close(s);
	}
	free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_layout_and_machine),
		cmocka_unit_test(restarts_change_the_number_of_cpus),
		cmocka_unit_test(selected_times_begin_anywhere),
		cmocka_unit_test(devices_come_and_go),
		cmocka_unit_test(short_counters_wrap),
		cmocka_unit_test(impossible_headers_are_refused),
		cmocka_unit_test(impossible_records_are_refused),
		cmocka_unit_test(unknown_layouts_are_skipped),
		cmocka_unit_test(cut_at_every_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
