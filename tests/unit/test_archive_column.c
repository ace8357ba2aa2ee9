#include "archive_util.h"

#include "archive/column.h"

#define ROWS_MAX 20
#define SAMPLES_MAX 700

/* A column of rows with a carried sample before each, and its decoded twin. */
static struct fixture {
	int64_t in[ROWS_MAX * (SAMPLES_MAX + 1)], out[ROWS_MAX * (SAMPLES_MAX + 1)];
	uint8_t state[ROWS_MAX * (SAMPLES_MAX + 1)];
	uint64_t scratch[ROWS_MAX * (SAMPLES_MAX + 2)];
	uint32_t rows[ROWS_MAX];
	uint8_t carried[ROWS_MAX], whole[ROWS_MAX];
	int64_t last[ROWS_MAX];
} fx;

static struct column_shape shape_make(
	enum lp_column_type type, uint32_t n_rows, uint32_t n, bool key, uint64_t *seed)
{
	size_t stride = n + 1;

	for (uint32_t row = 0; row < n_rows; row++) {
		fx.rows[row] = row;
		fx.carried[row] = random_chance(seed, 2);
		fx.whole[row] = random_chance(seed, 2);
		fx.last[row] = fx.in[row * stride];
		for (uint32_t s = 0; s <= n; s++)
			fx.state[row * stride + s] =
				fx.whole[row] || random_chance(seed, 2) ? LP_PRESENT : LP_ABSENT;
	}
	return (struct column_shape){.type = type,
		.n_rows = n_rows,
		.n_samples = n,
		.stride = stride,
		.rows = fx.rows,
		.carried = fx.carried,
		.key = key,
		.state = fx.state + 1,
		.whole = fx.whole,
		.last = fx.last};
}

static void expect_round_trip(const struct column_shape *sh)
{
	_cleanup_(strbuf_release) struct strbuf bytes = {0};
	struct cursor in;

	column_encode(&bytes, sh, fx.in + 1, fx.scratch);
	assert_true(bytes.len <= column_size_max(sh->n_rows, sh->n_samples));
	in = (struct cursor){.p = (uint8_t *)bytes.text, .end = (uint8_t *)bytes.text + bytes.len};
	memset(fx.out, 0x55, sizeof(fx.out));
	assert_int_equal(column_decode(&in, sh, fx.out + 1), 0);
	assert_ptr_equal(in.p, in.end);
	for (uint32_t row = 0; row < sh->n_rows; row++) {
		const int64_t *want = fx.in + row * sh->stride, *got = fx.out + row * sh->stride;

		if (sh->carried[row] && sh->type == LP_COUNTER)
			truth_check_cell(sh->type, got[0], want[0], TRUTH_INTACT);
		for (uint32_t s = 1; s <= sh->n_samples; s++) {
			if (fx.state[row * sh->stride + s])
				truth_check_cell(sh->type, got[s], want[s], TRUTH_EXACT);
		}
	}
}

static void fill(enum lp_column_type type, unsigned features, uint64_t *seed)
{
	for (size_t i = 0; i < ARRAY_SIZE(fx.in); i++)
		fx.in[i] = type == LP_REAL
			? random_real(seed, features)
			: random_integer(seed, features, type == LP_COUNTER, i ? fx.in[i - 1] : 0);
}

static void test_random(void **state)
{
	static const uint32_t sizes[] = {1, 2, 7, 8, 9, 64, 333, 700};
	uint64_t seed = 1;

	(void)state;
	for (unsigned i = 0; i < 600; i++) {
		enum lp_column_type type = i % 3;
		struct column_shape sh;

		fill(type, (unsigned)random_next(&seed) & TRUTH_ALL, &seed);
		sh = shape_make(type, (uint32_t)random_next(&seed) % ROWS_MAX + 1,
			sizes[random_next(&seed) % ARRAY_SIZE(sizes)], i & 1, &seed);
		expect_round_trip(&sh);
	}
}

static void test_constant(void **state)
{
	static const int64_t values[] = {0, 1, -1, INT64_MAX, INT64_MIN + 1, LP_MISSING};
	uint64_t seed = 2;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(values) * 2; i++) {
		enum lp_column_type type = i % 2 ? LP_GAUGE : LP_COUNTER;
		struct column_shape sh;

		for (size_t k = 0; k < ARRAY_SIZE(fx.in); k++)
			fx.in[k] = values[i / 2];
		sh = shape_make(type, 5, 60, true, &seed);
		expect_round_trip(&sh);
	}
}

static void test_reals(void **state)
{
	static const double values[] = {0.0, -0.0, 0.1, 0.1 + 0.2, 1e-9, 1e-10, 1e15, 1e300,
		INFINITY, -INFINITY, 123456.789, 0x1p52, 0x1p53 + 2, 0x1p-1074};
	uint64_t seed = 3;

	(void)state;
	for (size_t a = 0; a < ARRAY_SIZE(values); a++) {
		for (size_t b = 0; b < ARRAY_SIZE(values); b++) {
			struct column_shape sh;

			for (size_t k = 0; k < ARRAY_SIZE(fx.in); k++)
				fx.in[k] = lp_cell_from_real(k % 5 == 4 ? (double)NAN
						: k % 2			? values[a]
									: values[b]);
			sh = shape_make(LP_REAL, 3, 11, true, &seed);
			expect_round_trip(&sh);
		}
	}
}

/* Decimals are stored as such: few bytes, not eight a value. */
static void test_decimals_are_small(void **state)
{
	_cleanup_(strbuf_release) struct strbuf bytes = {0};
	uint64_t seed = 4;
	struct column_shape sh;

	(void)state;
	for (size_t k = 0; k < ARRAY_SIZE(fx.in); k++)
		fx.in[k] = lp_cell_from_real((double)(k % 100) / 100);
	sh = shape_make(LP_REAL, 2, 100, true, &seed);
	column_encode(&bytes, &sh, fx.in + 1, fx.scratch);
	assert_int_equal(bytes.text[0], 1);
	assert_int_equal(bytes.text[1], 2);
	assert_true(bytes.len < 2 * 100 + 20);
}

/* Unselected rows are skipped; rows without a known past start from 0. */
static void test_skipped_and_unknown(void **state)
{
	_cleanup_(strbuf_release) struct strbuf bytes = {0};
	uint64_t seed = 5;
	struct column_shape sh;
	struct cursor in;

	(void)state;
	fill(LP_COUNTER, 0, &seed);
	sh = shape_make(LP_COUNTER, 4, 10, false, &seed);
	memset(fx.carried, 1, sizeof(fx.carried));
	memset(fx.whole, 1, sizeof(fx.whole));
	column_encode(&bytes, &sh, fx.in + 1, fx.scratch);
	in = (struct cursor){.p = (uint8_t *)bytes.text, .end = (uint8_t *)bytes.text + bytes.len};
	fx.rows[1] = COLUMN_SKIP;
	fx.last[2] = 0;
	memset(fx.out, 0x55, sizeof(fx.out));
	assert_int_equal(column_decode(&in, &sh, fx.out + 1), 0);
	assert_memory_equal(fx.out, fx.in, 11 * 8);
	assert_memory_equal(fx.out + 33, fx.in + 33, 11 * 8);
	for (unsigned s = 0; s < 11; s++) {
		assert_int_equal(fx.out[11 + s], 0x5555555555555555);
		assert_int_equal(fx.out[22 + s], fx.in[22 + s] - fx.in[22]);
	}
}

/* Any bytes are either decoded or refused, never read past. */
static void test_nonsense(void **state)
{
	uint64_t seed = 6;

	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		uint8_t bytes[64];
		size_t len = random_next(&seed) % sizeof(bytes);
		struct column_shape sh = shape_make(i % 3, 3, 5, i & 1, &seed);
		struct cursor in = {.p = bytes, .end = bytes + len};
		int r;

		for (size_t k = 0; k < sizeof(bytes); k++)
			bytes[k] = (uint8_t)(random_next(&seed) >> (k < 3 ? 61 : 56));
		r = column_decode(&in, &sh, fx.out + 1);
		assert_true(r == 0 || r == -EBADMSG);
		assert_true(in.p <= in.end);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_constant),
		cmocka_unit_test(test_reals),
		cmocka_unit_test(test_decimals_are_small),
		cmocka_unit_test(test_skipped_and_unknown),
		cmocka_unit_test(test_nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
