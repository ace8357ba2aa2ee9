/* Both src/archive/data_encode.c and data_decode.c. */
#include "archive_util.h"

#include "archive/data.h"
#include "base/bytes.h"
#include "base/crc32c.h"

static int read_memory(void *ctx, uint64_t offset, void *buf, size_t size)
{
	memcpy(buf, (const uint8_t *)ctx + FRAME_HEADER_SIZE + offset, size);
	return 0;
}

/* Numbers stay as they are. */
static uint32_t same[64];

struct codec {
	struct data_encoder *e;
	struct data_decoder *d;
	struct lp_batch *batch;
	uint8_t *frame; /* the last one, to be damaged */
	size_t size;
	struct frame f;
};

static struct codec codec_new(void)
{
	for (uint32_t i = 0; i < ARRAY_SIZE(same); i++)
		same[i] = i;
	return (struct codec){.e = data_encoder_new(), .d = data_decoder_new()};
}

static void codec_release(struct codec *c)
{
	data_encoder_free(c->e);
	data_decoder_free(c->d);
	lp_batch_free(c->batch);
	free(c->frame);
}

static void encode(
	struct codec *c, const struct truth *t, const struct data_slice *sl, unsigned flags)
{
	const uint8_t *bytes;

	assert_int_equal(
		data_encode(c->e, sl, t->catalogue, same, same, flags, &bytes, &c->size, &c->f), 0);
	free(c->frame);
	c->frame = malloc(c->size);
	memcpy(c->frame, bytes, c->size);
	assert_int_equal(c->f.n_samples, sl->n);
	assert_int_equal(c->size, FRAME_HEADER_SIZE + c->f.payload_size);
}

static int decode(struct codec *c, const struct truth *t)
{
	struct data_want want = {.catalogue = t->catalogue};
	struct lp_err err = {0};

	return data_decode(c->d, &c->f, read_memory, c->frame, &want, &c->batch, &err);
}

/* A batch encoded in slices: the first is key, the others may continue it. */
static void test_slices(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 60; i++) {
		_cleanup_(codec_release) struct codec c = codec_new();
		_cleanup_(truth_freep) struct truth *t = truth_new(i % 20 + 1, 60, i, i);
		_cleanup_(lp_batch_freep) struct lp_batch *b = truth_batch(t, 0, 60, false);
		unsigned packed = i % 2 ? FRAME_PACKED : 0;
		struct data_slice sl = {.batch = b};
		uint8_t seen[60] = {0};

		for (; sl.first < 60; sl.first += sl.n) {
			unsigned key = !packed || !sl.first ? FRAME_KEY : 0;

			sl.n = sl.first + i % 9 + 1 < 60 ? i % 9 + 1 : 60 - sl.first;
			sl.carry = sl.first > 0;
			encode(&c, t, &sl, packed | key);
			assert_int_equal(decode(&c, t), 0);
			truth_check_batch(t, t->catalogue, c.batch, TRUTH_EXACT, seen);
		}
		for (unsigned s = 0; s < 60; s++)
			assert_int_equal(seen[s], 1);
	}
}

/* A frame is skipped: counters that continue it grow as they did, and say that they are relative.
 */
static void test_broken_chain(void **state)
{
	_cleanup_(codec_release) struct codec c = codec_new();
	_cleanup_(truth_freep) struct truth *t = truth_new(6, 40, 0, 1);
	_cleanup_(lp_batch_freep) struct lp_batch *b = truth_batch(t, 0, 40, false);
	uint8_t seen[40] = {0};

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		struct data_slice sl = {.batch = b, .first = i * 10, .n = 10, .carry = i > 0};

		encode(&c, t, &sl, FRAME_PACKED | (i == 0 || i == 3 ? FRAME_KEY : 0));
		if (i == 1)
			continue;
		assert_int_equal(decode(&c, t), 0);
		truth_check_batch(
			t, t->catalogue, c.batch, i == 2 ? TRUTH_INTACT : TRUTH_EXACT, seen);
	}
}

/* Any byte may change, checksums made right or not: an answer or a refusal, and no crash. */
static void test_nonsense(void **state)
{
	_cleanup_(truth_freep) struct truth *t = truth_new(4, 12, TRUTH_ALL, 2);
	_cleanup_(lp_batch_freep) struct lp_batch *b = truth_batch(t, 0, 12, false);
	struct data_slice sl = {.batch = b, .n = 12};

	(void)state;
	for (unsigned packed = 0; packed <= FRAME_PACKED; packed += FRAME_PACKED) {
		_cleanup_(codec_release) struct codec c = codec_new();

		encode(&c, t, &sl, FRAME_KEY | packed);
		for (size_t i = FRAME_HEADER_SIZE; i < c.size; i++) {
			for (unsigned bit = 0; bit < 8; bit++) {
				uint32_t crc = c.f.head_crc;

				c.frame[i] ^= (uint8_t)(1u << bit);
				assert_int_equal(decode(&c, t), -EBADMSG);
				c.f.head_crc =
					crc32c(0, c.frame + FRAME_HEADER_SIZE, c.f.head_size);
				decode(&c, t);
				c.f.head_crc = crc;
				c.frame[i] ^= (uint8_t)(1u << bit);
			}
		}
		assert_int_equal(decode(&c, t), 0);
	}
}

static void test_unknown(void **state)
{
	_cleanup_(codec_release) struct codec c = codec_new();
	_cleanup_(truth_freep) struct truth *t = truth_new(6, 12, 0, 3);
	_cleanup_(lp_batch_freep) struct lp_batch *b = truth_batch(t, 0, 12, false);
	struct data_slice sl = {.batch = b, .n = 12};
	uint8_t seen[12] = {0};

	(void)state;
	encode(&c, t, &sl, FRAME_KEY);
	t->catalogue->n_components = 4;
	assert_int_equal(decode(&c, t), 0);
	assert_int_equal(data_decoder_unknown_rows(c.d), 2);
	truth_check_batch(t, t->catalogue, c.batch, TRUTH_INTACT, seen);
	t->catalogue->n_components = 6;
	c.f.flags |= 0x80;
	assert_int_equal(decode(&c, t), -EBADMSG);
}

static void test_samples_max(void **state)
{
	_cleanup_(truth_freep) struct truth *t = truth_new(10, 4, 0, 4);
	_cleanup_(lp_batch_freep) struct lp_batch *b = truth_batch(t, 0, 4, false);
	struct lp_batch nothing = {0};
	uint64_t cells = 0;

	(void)state;
	for (uint32_t i = 0; i < b->n_kinds; i++)
		cells += data_cells(b->kinds[i].n_components, b->kinds[i].n_columns, 1);
	assert_int_equal(data_samples_max(b, cells - 1), 0);
	assert_int_equal(data_samples_max(b, cells), 1);
	assert_int_equal(data_samples_max(b, cells * 3 - 1), 2);
	assert_int_equal(data_samples_max(b, UINT64_MAX), FRAME_SAMPLES_MAX);
	assert_int_equal(data_samples_max(&nothing, 1), FRAME_SAMPLES_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slices),
		cmocka_unit_test(test_broken_chain),
		cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_samples_max),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
