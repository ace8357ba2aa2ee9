/* Slices of a batch, one after the other, hold what the batch holds. */
#include "archive_util.h"

#include "model/batch_slice.h"

static void test_slices(void **state)
{
	_cleanup_(truth_freep) struct truth *t = truth_new(6, 40, TRUTH_MISSING | TRUTH_HOTPLUG, 9);
	struct batch_slice slice = {0};

	(void)state;
	for (uint32_t carry = 0; carry < 2; carry++) {
		_cleanup_(lp_batch_freep) struct lp_batch *b = truth_batch(t, 5, 30, carry);

		for (uint32_t step = 1; step <= 31; step += 5) {
			uint8_t seen[40] = {0};

			for (uint32_t at = carry; at < b->n_samples; at += step) {
				uint32_t end = at + step < b->n_samples ? at + step : b->n_samples;
				const struct lp_batch *part = NULL;

				assert_int_equal(batch_slice_make(&slice, b, at, end, &part), 0);
				assert_int_equal(part->n_samples - part->carry, end - at);
				assert_int_equal(part->carry, at > 0);
				truth_check_batch(t, t->catalogue, part, TRUTH_EXACT, seen);
			}
			for (uint32_t s = 0; s < 40; s++)
				assert_int_equal(seen[s], s >= 5 && s < 35);
		}
	}
	batch_slice_release(&slice);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_slices)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
