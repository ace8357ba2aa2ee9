#include "archive_util.h"

#include "archive/catalogue_codec.h"
#include "base/bytes.h"

static void expect_same(const struct lp_catalogue *a, const struct lp_catalogue *b)
{
	assert_int_equal(a->n_schemas, b->n_schemas);
	assert_int_equal(a->n_components, b->n_components);
	for (uint32_t i = 0; i < a->n_schemas; i++) {
		assert_string_equal(a->schemas[i].kind, b->schemas[i].kind);
		assert_int_equal(a->schemas[i].n_columns, b->schemas[i].n_columns);
		for (uint32_t c = 0; c < a->schemas[i].n_columns; c++) {
			const struct lp_column *x = &a->schemas[i].columns[c];
			const struct lp_column *y = &b->schemas[i].columns[c];

			assert_string_equal(x->name, y->name);
			assert_string_equal(x->unit, y->unit);
			assert_int_equal(x->type, y->type);
			assert_int_equal(x->bits, y->bits);
		}
	}
	for (uint32_t i = 0; i < a->n_components; i++) {
		assert_string_equal(a->components[i].observer, b->components[i].observer);
		assert_string_equal(a->components[i].name, b->components[i].name);
		assert_string_equal(a->components[i].labels, b->components[i].labels);
		assert_int_equal(a->components[i].schema, b->components[i].schema);
	}
}

static int decode(const struct strbuf *sb, struct lp_catalogue *c, char **meta, uint32_t *deferred)
{
	struct lp_err err = {0};

	return catalogue_decode((const uint8_t *)sb->text, sb->len, c, meta, deferred, &err);
}

static void test_round_trip(void **state)
{
	_cleanup_(truth_freep) struct truth *t = truth_new(30, 1, 0, 1);
	_cleanup_(strbuf_release) struct strbuf whole = {0}, tail = {0};
	_cleanup_free_ char *meta = NULL;
	struct lp_catalogue *c = lp_catalogue_new();
	uint32_t deferred;

	(void)state;
	assert_int_equal(catalogue_encode(&whole, "a=b\n", t->catalogue, 0, 0), 0);
	assert_int_equal(catalogue_encode(&tail, "a=c\n", t->catalogue, 3, 20), 0);
	/* A part without its beginning must wait for it. */
	assert_int_equal(decode(&tail, c, &meta, &deferred), 0);
	assert_int_equal(deferred, 10);
	assert_int_equal(c->n_components, 0);
	assert_string_equal(meta, "a=c\n");
	assert_int_equal(decode(&whole, c, &meta, &deferred), 0);
	assert_int_equal(deferred, 0);
	assert_string_equal(meta, "a=b\n");
	expect_same(c, t->catalogue);
	assert_int_equal(decode(&tail, c, &meta, &deferred), 0);
	assert_int_equal(deferred, 0);
	expect_same(c, t->catalogue);
	lp_catalogue_free(c);
}

/* Names alike without end shrink too well to be believed: they are stored plain. */
static void test_extreme_repetition(void **state)
{
	struct lp_catalogue *c = lp_catalogue_new(), *got = lp_catalogue_new();
	_cleanup_(strbuf_release) struct strbuf bytes = {0};
	_cleanup_free_ char *meta = NULL, *labels = calloc(1, 1000001);
	struct lp_err err = {0};
	uint32_t schema, id, deferred;

	(void)state;
	memset(labels, 'x', 1000000);
	lp_catalogue_add_schema(c, &truth_schemas[0], &schema, &err);
	lp_catalogue_add_component(c, schema, "host", "c0", labels, &id, &err);
	assert_int_equal(catalogue_encode(&bytes, "", c, 0, 0), 0);
	assert_int_equal(bytes.text[0], 0);
	assert_int_equal(decode(&bytes, got, &meta, &deferred), 0);
	expect_same(c, got);
	lp_catalogue_free(c);
	lp_catalogue_free(got);
}

static void test_cut_short(void **state)
{
	_cleanup_(truth_freep) struct truth *t = truth_new(5, 1, 0, 2);
	_cleanup_(strbuf_release) struct strbuf whole = {0};
	size_t size;

	(void)state;
	assert_int_equal(catalogue_encode(&whole, "a=b\n", t->catalogue, 0, 0), 0);
	size = whole.len;
	for (whole.len = 0; whole.len < size; whole.len++) {
		_cleanup_free_ char *meta = NULL;
		struct lp_catalogue *c = lp_catalogue_new();
		uint32_t deferred;

		assert_int_equal(decode(&whole, c, &meta, &deferred), -EBADMSG);
		lp_catalogue_free(c);
	}
}

static void test_nonsense(void **state)
{
	uint64_t seed = 3;

	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		_cleanup_free_ char *meta = NULL;
		struct lp_catalogue *c = lp_catalogue_new();
		uint8_t bytes[64] = {0, 62};
		struct lp_err err = {0};
		uint32_t deferred;
		int r;

		for (size_t k = 2; k < sizeof(bytes); k++)
			bytes[k] = (uint8_t)(random_next(&seed) % 4);
		r = catalogue_decode(bytes, sizeof(bytes), c, &meta, &deferred, &err);
		assert_true(r == 0 || r == -EBADMSG);
		lp_catalogue_free(c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_extreme_repetition),
		cmocka_unit_test(test_cut_short),
		cmocka_unit_test(test_nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
