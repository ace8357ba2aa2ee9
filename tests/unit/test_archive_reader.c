#include "archive_util.h"

/* A selection whose answers depend on names only, so that it can be applied afterwards as well. */
static bool want_column(void *ctx, const struct lp_schema *s, uint32_t column)
{
	(void)ctx;
	return strlen(s->columns[column].name) % 2;
}

static bool want_component(void *ctx, const struct lp_catalogue *c, uint32_t id)
{
	(void)ctx;
	return truth_id(c, id) % 3 != 1;
}

static void expect_selected(
	const struct lp_catalogue *c, const struct lp_batch *b, const struct lp_select *sel)
{
	for (uint32_t i = 0; i < b->n_kinds; i++) {
		const struct lp_batch_kind *k = &b->kinds[i];

		for (uint32_t row = 0; sel->component && row < k->n_components; row++)
			assert_true(want_component(NULL, c, k->ids[row]));
		for (uint32_t col = 0; sel->column && col < k->n_columns; col++)
			assert_int_equal(k->columns[col] != NULL,
				want_column(NULL, &c->schemas[k->schema], col));
	}
}

/* How many samples of the truth lie in the selected time. */
static uint32_t samples_selected(const struct truth *t, const struct lp_select *sel)
{
	uint32_t n = 0;

	for (uint32_t s = 0; s < t->n_samples; s++)
		n += t->wall[s] >= sel->from_us && (!sel->to_us || t->wall[s] < sel->to_us);
	return n;
}

static uint32_t rows_expected(const struct truth *t, uint32_t at, const struct lp_select *sel)
{
	uint32_t n = 0;

	for (uint32_t id = 0; id < t->n_components; id++)
		n += (t->state[(size_t)id * t->n_samples + at] & LP_PRESENT) &&
			(!sel->component || want_component(NULL, t->catalogue, id));
	return n;
}

static void read_selected(const struct truth *t, const char *path, const struct lp_select *sel)
{
	_cleanup_(lp_source_closep) struct lp_source *s = NULL;
	struct lp_warn warn = {0};
	struct lp_err err = {0};
	struct lp_batch *b;
	uint32_t n = 0;
	int r;

	assert_int_equal(lp_archive_open(path, sel, &warn, &s, &err), 0);
	while ((r = lp_source_next(s, &b, &err)) > 0) {
		expect_selected(s->catalogue, b, sel);
		if (b->carry)
			truth_check_carry(t, s->catalogue, b);
		for (uint32_t i = b->carry ? 1 : 0; i < b->n_samples; i++) {
			uint32_t at = truth_sample(t, b->mono_us[i]);

			assert_int_equal(truth_check_sample(t, s->catalogue, b, i, TRUTH_EXACT),
				rows_expected(t, at, sel));
			n += t->wall[at] >= sel->from_us &&
				(!sel->to_us || t->wall[at] < sel->to_us);
		}
	}
	assert_int_equal(r, 0);
	assert_int_equal(warn.count, 0);
	assert_int_equal(n, samples_selected(t, sel));
}

/* Whatever is selected, it equals the whole read filtered. */
static void test_selection(void **state)
{
	_cleanup_(truth_freep) struct truth *t =
		truth_new(11, 120, TRUTH_MISSING | TRUTH_HOTPLUG | TRUTH_EXTREME, 1);

	(void)state;
	for (unsigned form = 0; form < 4; form++) {
		truth_write_file(t, test_path("a"), form & 1 ? 40 : 7, form & 1, form & 2);
		for (unsigned i = 0; i < 64; i++) {
			struct lp_select sel = {.column = i & 1 ? want_column : NULL,
				.component = i & 2 ? want_component : NULL};

			if (i & 4)
				sel.from_us = TRUTH_START + i * 1700000;
			if (i & 8)
				sel.to_us = TRUTH_START + 20000000 + i * 1300000;
			read_selected(t, test_path("a"), &sel);
		}
	}
}

static void test_description(void **state)
{
	_cleanup_(truth_freep) struct truth *t = truth_new(2, 50, 0, 2);
	_cleanup_(lp_source_closep) struct lp_source *s = NULL;
	const char *observer, *site;
	struct lp_err err = {0};

	(void)state;
	truth_write_file(t, test_path("d"), 10, LP_ARCHIVE_LOOSE, true);
	assert_int_equal(lp_archive_open(test_path("d"), NULL, NULL, &s, &err), 0);
	assert_int_equal(s->interval_us, 1000000);
	assert_int_equal(s->first_us, t->wall[0]);
	assert_int_equal(s->last_us, t->wall[49]);
	observer = lp_archive_meta_get(s, "observer");
	site = lp_archive_meta_get(s, "site");
	assert_string_equal(observer, "host"); /* the first answer stays good */
	assert_string_equal(site, "lab");
	assert_null(lp_archive_meta_get(s, "nothing"));
	assert_int_equal(s->catalogue->n_components, 2);
	assert_string_equal(s->catalogue->components[0].labels, "stable=x\n");
}

struct events {
	unsigned n;
	char text[4][32];
	int64_t wall[4];
};

static int take_event(void *ctx, int64_t wall_us, const char *text)
{
	struct events *e = ctx;

	snprintf(e->text[e->n], sizeof(e->text[0]), "%s", text);
	e->wall[e->n++] = wall_us;
	return e->n == 3 ? 42 : 0;
}

static void test_events(void **state)
{
	_cleanup_(lp_source_closep) struct lp_source *s = NULL;
	struct lp_archive_writer *w;
	struct events e = {0};
	struct lp_err err = {0};

	(void)state;
	assert_int_equal(lp_archive_create(test_path("e"), &truth_meta, &w, &err), 0);
	assert_int_equal(lp_archive_write_event(w, 5, "kind=one", &err), 0);
	assert_int_equal(lp_archive_write_event(w, -5, "", &err), 0);
	assert_int_equal(lp_archive_write_event(w, 7, "kind=three", &err), 0);
	assert_int_equal(lp_archive_write_event(w, 8, "kind=four", &err), 0);
	lp_archive_abandon(w);
	assert_int_equal(lp_archive_open(test_path("e"), NULL, NULL, &s, &err), 0);
	assert_int_equal(lp_archive_events(s, take_event, &e, &err), 42);
	assert_int_equal(e.n, 3);
	assert_string_equal(e.text[0], "kind=one");
	assert_string_equal(e.text[1], "");
	assert_int_equal(e.wall[1], -5);
	assert_string_equal(e.text[2], "kind=three");
}

static void test_no_file(void **state)
{
	struct lp_source *s;
	struct lp_err err = {0};

	(void)state;
	assert_int_equal(lp_archive_open(test_path("none"), NULL, NULL, &s, &err), -ENOENT);
	assert_non_null(strstr(err.text, "none"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_selection),
		cmocka_unit_test(test_description),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_no_file),
	};

	return cmocka_run_group_tests(tests, test_dir_make, test_dir_remove);
}
