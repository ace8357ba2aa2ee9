#include "sa_reader.h"
#include <errno.h>

static const uint32_t old_types[] = {1, 2, 6}, discard_types[] = {1, 3, 7}, new_types[] = {3, 3, 8};
static const uint32_t net_types[] = {7, 0, 1}, edev_types[] = {9, 0, 0}, other_types[] = {0, 2, 0};

#define WALL 1600000000

static struct sa_writer *writer_new(bool big, bool long_is_32, const uint32_t *types)
{
	struct sa_writer *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	w->big = big;
	w->long_is_32 = long_is_32;
	w->extra_next = types == new_types;
	memcpy(w->disk_types, types, sizeof(w->disk_types));
	return w;
}

/* Header and list: something to be skipped, interfaces, their errors, disks. */
static void write_start(struct sa_writer *w)
{
	sa_begin(w, 4);
	sa_activity(w, 4, 0x8a, 1, false, 16, other_types);
	sa_activity(w, 12, 0x8d, 2, true, 80, net_types);
	sa_activity(w, 13, 0x8c, 2, true, 88, edev_types);
	sa_activity(w, 11, 0x8c, 2, true, sa_disk_size(w), w->disk_types);
}

static struct sa_disk disk_at(uint32_t minor, uint64_t step)
{
	return (struct sa_disk){.major = 8,
		.minor = minor,
		.ios = UINT64_C(5000000000) + step,
		.rd_sec = 1000 + step,
		.wr_sec = 2000 + 2 * step,
		.dc_sec = 3000 + step,
		.rd_ticks = 10 + (uint32_t)step,
		.wr_ticks = 20 + (uint32_t)step,
		.tot_ticks = 0xfffffff0u + (uint32_t)step,
		.rq_ticks = 40,
		.dc_ticks = 50,
		.wwn = 0x5000c500aabbccdd,
		.partition = minor % 16};
}

/* A record with statistics of interface eth0 and of disks by their minor numbers (0-terminated
 * after the first). */
static void write_stats(struct sa_writer *w, uint64_t step, const uint32_t *minors, uint32_t n)
{
	sa_record(w, SA_STATS, 1000 + 100 * step, WALL + step, false);
	sa_zeros(w, 16);
	sa_u32(w, 1);
	sa_write_net(w, "eth0", 100 * (step + 1));
	sa_u32(w, 1);
	sa_write_net_errors(w, "eth0", 10 * (step + 1));
	sa_u32(w, n);
	for (uint32_t i = 0; i < n; i++) {
		struct sa_disk d = disk_at(minors[i], step);

		sa_write_disk(w, &d);
	}
}

/* Every field of sample `i`. */
static void check_sample(struct lp_source *s, const struct lp_batch *b, uint32_t i, bool discards)
{
	assert_int_equal(b->wall_us[i], (WALL + (int64_t)i) * 1000000);
	assert_int_equal(b->mono_us[i], 10000000 + i * 1000000);
	assert_int_equal(value(s, b, "oss1/disk:sda", "ios", i), 5000000000 + i);
	assert_int_equal(value(s, b, "oss1/disk:sdb1", "rd_sec", i), 1000 + i);
	assert_int_equal(value(s, b, "oss1/disk:sda", "wr_sec", i), 2000 + 2 * i);
	assert_int_equal(value(s, b, "oss1/disk:sda", "dc_sec", i), discards ? 3000 + i : 0);
	assert_int_equal(value(s, b, "oss1/disk:sda", "rd_ticks", i), 10 + i);
	assert_int_equal(value(s, b, "oss1/disk:sda", "wr_ticks", i), 20 + i);
	assert_int_equal(value(s, b, "oss1/disk:sda", "dc_ticks", i), discards ? 50 : 0);
	assert_int_equal(value(s, b, "oss1/disk:sda", "tot_ticks", i), 0xfffffff0u + i);
	assert_int_equal(value(s, b, "oss1/disk:sda", "rq_ticks", i), 40);
	assert_int_equal(value(s, b, "oss1/net:eth0", "rx_packets", i), 100 * (i + 1));
	assert_int_equal(value(s, b, "oss1/net:eth0", "rx_multicast", i), 100 * (i + 1) + 6);
	assert_int_equal(value(s, b, "oss1/net:eth0", "speed", i), 1000);
	assert_int_equal(value(s, b, "oss1/net:eth0", "duplex", i), 2);
	assert_int_equal(value(s, b, "oss1/net:eth0", "tx_colls", i), 10 * (i + 1));
	assert_int_equal(value(s, b, "oss1/net:eth0", "tx_carrier", i), 10 * (i + 1) + 8);
	assert_int_equal(state(s, b, "oss1/disk:sda", i), i ? LP_PRESENT : LP_PRESENT | LP_FRESH);
}

static void check_columns(struct lp_source *s, bool long_is_32)
{
	assert_int_equal(column_of(s, "disk", "rd_sec")->bits, long_is_32 ? 32 : 64);
	assert_int_equal(column_of(s, "disk", "rd_ticks")->bits, 32);
	assert_int_equal(column_of(s, "disk", "ios")->bits, 64);
	assert_int_equal(column_of(s, "net", "speed")->type, LP_GAUGE);
	assert_int_equal(column_of(s, "net", "rx_bytes")->type, LP_COUNTER);
}

static void check_labels(const struct lp_source *s, bool has_wwn)
{
	char wwn[64];

	for (uint32_t i = 0; i < s->catalogue->n_components; i++) {
		const struct lp_component *c = &s->catalogue->components[i];

		if (strcmp(c->name, "sdb1"))
			continue;
		assert_true(lp_component_label(c, "devno", wwn, sizeof(wwn)));
		assert_string_equal(wwn, "8:17");
		assert_int_equal(lp_component_label(c, "wwn", wwn, sizeof(wwn)), has_wwn);
		if (has_wwn)
			assert_string_equal(wwn, "0x5000c500aabbccdd-1");
	}
}

/* One file of three samples on a given machine and version, every field checked. */
static void check_machine(bool big, bool long_is_32, const uint32_t *types)
{
	struct sa_writer *w = writer_new(big, long_is_32, types);
	struct lp_err err = {0};
	struct lp_batch *b;
	struct lp_source *s;

	write_start(w);
	for (uint64_t step = 0; step < 3; step++)
		write_stats(w, step, (uint32_t[]){0, 17}, 2);
	s = open_writer(w, w->len, NULL, NULL, &err);
	assert_string_equal(err.text, "");
	assert_non_null(s);
	assert_int_equal(s->interval_us, 1000000);
	assert_int_equal(lp_source_next(s, &b, &err), 1);
	assert_int_equal(b->n_samples, 3);
	assert_false(b->carry);
	for (uint32_t i = 0; i < 3; i++)
		check_sample(s, b, i, types != old_types);
	check_columns(s, long_is_32);
	check_labels(s, types == new_types);
	assert_int_equal(lp_source_next(s, &b, &err), 0);
	assert_int_equal(lp_source_next(s, &b, &err), 0);
	lp_source_close(s);
	free(w);
}

static void every_machine_and_version(void **unused)
{
	static const uint32_t *const versions[] = {old_types, discard_types, new_types};

	(void)unused;
	for (int v = 0; v < 3; v++) {
		check_machine(false, false, versions[v]);
		check_machine(true, false, versions[v]);
		check_machine(false, true, versions[v]);
		check_machine(true, true, versions[v]);
	}
}

/* Comments, restarts and structures of the future stand between the samples. */
static void other_records_are_passed_over(void **unused)
{
	struct sa_writer *w = writer_new(true, false, new_types);
	struct lp_err err = {0};
	struct lp_batch *b;
	struct lp_source *s;

	(void)unused;
	w->more_header = 40;
	write_start(w);
	write_stats(w, 0, (uint32_t[]){0}, 1);
	sa_record(w, SA_COMMENT, 1000, WALL, true);
	sa_text(w, "hello", 64);
	sa_extra(w);
	write_stats(w, 1, (uint32_t[]){0}, 1);
	sa_record(w, SA_EXTRA, 1000, WALL, true);
	sa_extra(w);
	sa_record(w, SA_RESTART, 1000, WALL, true);
	sa_u32(w, 3);
	sa_extra(w);
	write_stats(w, 2, (uint32_t[]){0}, 1);
	s = open_writer(w, w->len, NULL, NULL, &err);
	assert_non_null(s);
	assert_int_equal(lp_source_next(s, &b, &err), 1);
	assert_int_equal(b->n_samples, 3);
	assert_int_equal(state(s, b, "oss1/disk:sda", 1), LP_PRESENT);
	assert_int_equal(state(s, b, "oss1/disk:sda", 2), LP_PRESENT | LP_FRESH);
	assert_int_equal(state(s, b, "oss1/net:eth0", 2), LP_PRESENT | LP_FRESH);
	assert_int_equal(lp_source_next(s, &b, &err), 0);
	lp_source_close(s);
	free(w);
}

/* A disk with numbers that distinguish its fields, and further ones of the layout. */
static void write_disk_of_layout(struct sa_writer *w, const uint32_t *types, uint32_t size)
{
	for (uint32_t k = 0; k < types[0]; k++)
		sa_u64(w, k ? 0 : 77);
	for (uint32_t k = 0; k < types[1]; k++)
		sa_long(w, 100 + k);
	for (uint32_t k = 0; k < types[2]; k++)
		sa_u32(w, k == 4 ? 8 : k == 5 ? 16 : 200 + k);
	sa_zeros(w, size - 8 * types[0] - 8 * types[1] - 4 * types[2]);
}

/* Layouts that are older (11.7.1), newer by some fields, and not known at all. */
static void layouts_old_new_and_unknown(void **unused)
{
	static const uint32_t future_types[] = {4, 4, 9};
	static const struct {
		uint32_t magic;
		const uint32_t *types;
		uint32_t size;
		bool known;
	} cases[] = {
		{0x8b, old_types, 48, true},
		{0x8c, future_types, 128, true},
		{0x8d, new_types, 80, false},
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sa_writer *w = writer_new(true, true, new_types);
		char path[] = "/tmp/limpet-sa-XXXXXX", text[200] = "";
		struct lp_warn warn = {.warn = keep_warning, .ctx = text};
		struct lp_err err = {0};
		struct lp_batch *b;
		struct lp_source *s;

		sa_begin(w, 2);
		sa_activity(w, 11, cases[i].magic, 1, false, cases[i].size, cases[i].types);
		sa_activity(w, 12, 0x8d, 1, false, 80, net_types);
		sa_record(w, SA_STATS, 1000, WALL, false);
		write_disk_of_layout(w, cases[i].types, cases[i].size);
		sa_write_net(w, "eth0", 5);
		assert_true(sa_save(w, w->len, path));
		assert_int_equal(
			importer_find("sysstat")->open(path, NULL, NULL, &warn, &s, &err), 0);
		unlink(path);
		assert_int_equal(lp_source_next(s, &b, &err), 1);
		assert_int_equal(value(s, b, "oss1/net:eth0", "tx_bytes", 0), 8);
		assert_int_equal(warn.count, !cases[i].known);
		if (cases[i].known) {
			assert_int_equal(value(s, b, "oss1/disk:sdb", "ios", 0), 77);
			assert_int_equal(value(s, b, "oss1/disk:sdb", "wr_sec", 0), 101);
			assert_int_equal(value(s, b, "oss1/disk:sdb", "rq_ticks", 0), 203);
		} else {
			assert_non_null(strstr(text, "layout 0x8d of sysstat 12.6.1"));
			assert_null(column_of(s, "disk", "ios"));
		}
		lp_source_close(s);
		free(w);
	}
}

/* A list of activities that is cut short by a damaged count has nothing in it that is read, or the
 * same twice: neither may look like a machine without disks. */
static void wrong_lists_are_refused(void **unused)
{
	static const uint32_t ids[][2] = {{1, 2}, {11, 11}};

	(void)unused;
	for (size_t i = 0; i < 2; i++) {
		struct sa_writer *w = writer_new(true, true, new_types);
		char path[] = "/tmp/limpet-sa-XXXXXX";
		struct lp_err err = {0};
		struct lp_source *s;

		sa_begin(w, 2);
		for (size_t k = 0; k < 2; k++)
			sa_activity(w, ids[i][k], 0x8c, 1, true, 80, new_types);
		assert_true(sa_save(w, w->len, path));
		assert_int_equal(
			importer_find("sysstat")->open(path, NULL, NULL, NULL, &s, &err), -EBADMSG);
		unlink(path);
		assert_non_null(strstr(err.text,
			i ? "an activity is listed twice" : "neither is among the 2 activities"));
		free(w);
	}
}

static void devices_come_and_go(void **unused)
{
	struct sa_writer *w = writer_new(false, false, new_types);
	struct lp_err err = {0};
	struct lp_batch *b;
	struct lp_source *s;

	(void)unused;
	write_start(w);
	write_stats(w, 0, (uint32_t[]){0, 16}, 2);
	write_stats(w, 1, (uint32_t[]){16}, 1);
	write_stats(w, 2, (uint32_t[]){32, 16, 0}, 3);
	s = open_writer(w, w->len, NULL, NULL, &err);
	assert_non_null(s);
	assert_int_equal(lp_source_next(s, &b, &err), 1);
	assert_int_equal(state(s, b, "oss1/disk:sda", 1), LP_ABSENT);
	assert_int_equal(state(s, b, "oss1/disk:sda", 2), LP_PRESENT | LP_FRESH);
	assert_int_equal(state(s, b, "oss1/disk:sdb", 1), LP_PRESENT);
	assert_int_equal(state(s, b, "oss1/disk:sdb", 2), LP_PRESENT);
	assert_int_equal(state(s, b, "oss1/disk:sdc", 1), LP_ABSENT);
	assert_int_equal(state(s, b, "oss1/disk:sdc", 2), LP_PRESENT | LP_FRESH);
	assert_int_equal(value(s, b, "oss1/disk:sdb", "rd_sec", 1), 1001);
	lp_source_close(s);
	free(w);
}

/* A disk under the same number whose counters all fell, or whose world wide name changed, is
 * another one; one counter that wrapped is not. */
static void a_replaced_disk_is_fresh(void **unused)
{
	struct sa_writer *w = writer_new(false, false, new_types);
	struct sa_disk disks[4] = {disk_at(0, 5), disk_at(0, 6), disk_at(0, 7), disk_at(0, 8)};
	struct lp_err err = {0};
	struct lp_batch *b;
	struct lp_source *s;

	(void)unused;
	disks[1].rd_sec = 3;
	disks[2] = (struct sa_disk){.major = 8, .ios = 1, .rd_sec = 1, .wwn = disks[0].wwn};
	disks[3].wwn++;
	sa_begin(w, 1);
	sa_activity(w, 11, 0x8c, 1, false, sa_disk_size(w), w->disk_types);
	for (uint64_t i = 0; i < 4; i++) {
		sa_record(w, SA_STATS, 1000 + 100 * i, WALL + i, false);
		sa_write_disk(w, &disks[i]);
	}
	s = open_writer(w, w->len, NULL, NULL, &err);
	assert_non_null(s);
	assert_int_equal(lp_source_next(s, &b, &err), 1);
	assert_int_equal(state(s, b, "oss1/disk:sda", 1), LP_PRESENT);
	assert_int_equal(state(s, b, "oss1/disk:sda", 2), LP_PRESENT | LP_FRESH);
	assert_int_equal(state(s, b, "oss1/disk:sda", 3), LP_PRESENT | LP_FRESH);
	assert_non_null(strstr(s->catalogue->components[0].labels, "wwn=0x5000c500aabbccde"));
	lp_source_close(s);
	free(w);
}

/* Interfaces are listed twice, and not at the same moment. */
static void an_interface_in_one_list_only(void **unused)
{
	struct sa_writer *w = writer_new(false, false, new_types);
	struct lp_err err = {0};
	struct lp_batch *b;
	struct lp_source *s;

	(void)unused;
	sa_begin(w, 2);
	sa_activity(w, 12, 0x8d, 1, true, 80, net_types);
	sa_activity(w, 13, 0x8c, 1, true, 88, edev_types);
	sa_record(w, SA_STATS, 1000, WALL, false);
	sa_u32(w, 1);
	sa_write_net(w, "eth0", 1);
	sa_u32(w, 1);
	sa_write_net_errors(w, "eth1", 1);
	s = open_writer(w, w->len, NULL, NULL, &err);
	assert_non_null(s);
	assert_int_equal(lp_source_next(s, &b, &err), 1);
	assert_int_equal(value(s, b, "oss1/net:eth0", "rx_packets", 0), 1);
	assert_int_equal(value(s, b, "oss1/net:eth0", "rx_errs", 0), LP_MISSING);
	assert_int_equal(value(s, b, "oss1/net:eth1", "rx_packets", 0), LP_MISSING);
	assert_int_equal(value(s, b, "oss1/net:eth1", "rx_errs", 0), 2);
	lp_source_close(s);
	free(w);
}

/* The machine started anew without a mark: its uptime says so, and the clock goes on. */
static void a_restart_without_a_mark(void **unused)
{
	struct sa_writer *w = writer_new(false, false, new_types);
	struct lp_err err = {0};
	struct lp_batch *b;
	struct lp_source *s;

	(void)unused;
	sa_begin(w, 1);
	sa_activity(w, 12, 0x8d, 1, true, 80, net_types);
	for (uint64_t i = 0; i < 3; i++) {
		sa_record(w, SA_STATS, i < 2 ? 100000 + 100 * i : 500, WALL + 20 * i, false);
		sa_u32(w, 1);
		sa_write_net(w, "eth0", 10 + i);
	}
	s = open_writer(w, w->len, NULL, NULL, &err);
	assert_non_null(s);
	assert_int_equal(lp_source_next(s, &b, &err), 1);
	assert_int_equal(state(s, b, "oss1/net:eth0", 1), LP_PRESENT);
	assert_int_equal(state(s, b, "oss1/net:eth0", 2), LP_PRESENT | LP_FRESH);
	assert_int_equal(b->mono_us[1] - b->mono_us[0], 1000000);
	assert_int_equal(b->mono_us[2] - b->mono_us[1], 20000000);
	lp_source_close(s);
	free(w);
}

static bool only_rd_sec(void *ctx, const struct lp_schema *s, uint32_t column)
{
	(void)ctx;
	return !strcmp(s->columns[column].name, "rd_sec");
}

static bool only_sdb(void *ctx, const struct lp_catalogue *c, uint32_t id)
{
	++*(unsigned *)ctx;
	return !strcmp(c->components[id].name, "sdb");
}

static void only_what_is_selected(void **unused)
{
	struct sa_writer *w = writer_new(false, false, new_types);
	unsigned asked = 0;
	struct lp_select select = {.from_us = INT64_C(1000000) * (WALL + 2),
		.to_us = INT64_C(1000000) * (WALL + 4),
		.component = only_sdb,
		.column = only_rd_sec,
		.ctx = &asked};
	struct lp_err err = {0};
	struct lp_batch *b;
	struct lp_source *s;

	(void)unused;
	write_start(w);
	for (uint64_t step = 0; step < 6; step++)
		write_stats(w, step, (uint32_t[]){0, 16}, 2);
	s = open_writer(w, w->len, &select, NULL, &err);
	assert_non_null(s);
	assert_int_equal(lp_source_next(s, &b, &err), 1);
	assert_int_equal(b->n_samples, 3); /* one before, for the first difference */
	assert_int_equal(b->wall_us[0], INT64_C(1000000) * (WALL + 1));
	assert_int_equal(value(s, b, "oss1/disk:sdb", "rd_sec", 2), 1003);
	for (uint32_t k = 0; k < b->n_kinds; k++) {
		uint32_t rows = b->kinds[k].n_components;

		assert_true(rows <= 1);
		for (uint32_t c = 0; rows && c < b->kinds[k].n_columns; c++)
			assert_int_equal(b->kinds[k].columns[c] != NULL, c == 1);
	}
	assert_int_equal(asked, 3); /* sda, sdb and eth0, once each */
	assert_int_equal(lp_source_next(s, &b, &err), 0);
	lp_source_close(s);
	free(w);
}

/* Longer than a batch: the next one carries the last sample, so that no difference is lost. */
static void batches_carry_on(void **unused)
{
	struct sa_writer *w = writer_new(false, false, old_types);
	uint64_t seen = 0, batches = 0;
	int64_t last_ios = 0;
	struct lp_err err = {0};
	struct lp_batch *b;
	struct lp_source *s;

	(void)unused;
	sa_begin(w, 1);
	sa_activity(w, 11, 0x8c, 1, false, sa_disk_size(w), w->disk_types);
	for (uint64_t step = 0; step < 700; step++) {
		struct sa_disk d = disk_at(0, step);

		sa_record(w, SA_STATS, 100 * step, WALL + step, false);
		sa_write_disk(w, &d);
	}
	s = open_writer(w, w->len, NULL, NULL, &err);
	assert_non_null(s);
	while (lp_source_next(s, &b, &err) > 0) {
		assert_int_equal(b->carry, batches > 0);
		if (b->carry)
			assert_int_equal(value(s, b, "oss1/disk:sda", "ios", 0), last_ios);
		for (uint32_t i = b->carry; i < b->n_samples; i++, seen++) {
			assert_int_equal(b->wall_us[i], (int64_t)(WALL + seen) * 1000000);
			assert_int_equal(state(s, b, "oss1/disk:sda", i),
				seen ? LP_PRESENT : LP_PRESENT | LP_FRESH);
		}
		last_ios = value(s, b, "oss1/disk:sda", "ios", b->n_samples - 1);
		batches++;
	}
	assert_int_equal(seen, 700);
	assert_int_equal(batches, 2);
	assert_string_equal(err.text, "");
	lp_source_close(s);
	free(w);
}

/* Cut a file at every byte: complete records are delivered, then an error says where it ends. */
static void cut_at_every_byte(void **unused)
{
	struct sa_writer *w = writer_new(false, false, new_types);
	size_t ends[4];

	(void)unused;
	write_start(w);
	ends[0] = w->len;
	for (uint64_t step = 0; step < 3; step++) {
		write_stats(w, step, (uint32_t[]){0, 16}, 2);
		ends[step + 1] = w->len;
	}
	for (size_t len = 0; len <= w->len; len++) {
		struct lp_err err = {0};
		struct lp_source *s = open_writer(w, len, NULL, NULL, &err);
		uint32_t whole = 0, seen = 0;
		struct lp_batch *b;
		int r;

		assert_int_equal(s != NULL, len >= ends[0]);
		if (!s) {
			assert_true(err.code < 0);
			continue;
		}
		while (whole < 3 && ends[whole + 1] <= len)
			whole++;
		while ((r = lp_source_next(s, &b, &err)) > 0)
			seen += b->n_samples - b->carry;
		assert_int_equal(seen, whole);
		assert_int_equal(r < 0, len != ends[whole]);
		if (r < 0) {
			char where[32];

			snprintf(where, sizeof(where), "byte %zu", len);
			assert_non_null(strstr(err.text, where));
			assert_int_equal(lp_source_next(s, &b, &err), r); /* again */
		}
		lp_source_close(s);
	}
	free(w);
}

static void damage_keeps_what_is_before(void **unused)
{
	struct sa_writer *w = writer_new(false, false, new_types);
	struct lp_err err = {0};
	struct lp_batch *b;
	struct lp_source *s;
	char where[32];

	(void)unused;
	write_start(w);
	write_stats(w, 0, (uint32_t[]){0}, 1);
	snprintf(where, sizeof(where), "byte %zu:", w->len);
	sa_record(w, 200, 1000, WALL, false);
	write_stats(w, 1, (uint32_t[]){0}, 1);
	s = open_writer(w, w->len, NULL, NULL, &err);
	assert_non_null(s);
	assert_int_equal(lp_source_next(s, &b, &err), 1);
	assert_int_equal(b->n_samples, 1);
	assert_int_equal(lp_source_next(s, &b, &err), -EBADMSG);
	assert_non_null(strstr(err.text, where));
	lp_source_close(s);
	free(w);
}

static void a_file_is_known_by_its_start(void **unused)
{
	const struct importer *importer = importer_find("sysstat");
	struct sa_writer *w = writer_new(false, false, new_types);
	static const unsigned char xz[16] = {0xfd, '7', 'z', 'X', 'Z', 0};

	(void)unused;
	write_start(w);
	assert_int_equal(importer->probe("x", w->data, w->len), IMPORT_YES);
	w->len = 0;
	w->big = true;
	write_start(w);
	assert_int_equal(importer->probe("x", w->data, w->len), IMPORT_YES);
	w->data[2] = 0x77;
	assert_int_equal(importer->probe("x", w->data, w->len), IMPORT_MAYBE);
	assert_int_equal(importer->probe("x", w->data, 3), IMPORT_NO);
	assert_int_equal(
		importer->probe("x", (const unsigned char *)"time,component", 14), IMPORT_NO);
	assert_int_equal(importer->probe("/var/log/sa/sa15.xz", xz, 16), IMPORT_MAYBE);
	assert_int_equal(importer->probe("x.xz", xz, 16), IMPORT_NO);
	free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_machine_and_version),
		cmocka_unit_test(other_records_are_passed_over),
		cmocka_unit_test(layouts_old_new_and_unknown),
		cmocka_unit_test(wrong_lists_are_refused),
		cmocka_unit_test(devices_come_and_go),
		cmocka_unit_test(a_replaced_disk_is_fresh),
		cmocka_unit_test(an_interface_in_one_list_only),
		cmocka_unit_test(a_restart_without_a_mark),
		cmocka_unit_test(only_what_is_selected),
		cmocka_unit_test(batches_carry_on),
		cmocka_unit_test(cut_at_every_byte),
		cmocka_unit_test(damage_keeps_what_is_before),
		cmocka_unit_test(a_file_is_known_by_its_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
