#include "unit.h"

#include "import/sysstat_format.h"

static void fields_follow_each_other(void **unused)
{
	struct sysstat_types t = {{3, 3, 8}};

	(void)unused;
	assert_int_equal(sysstat_types_size(&t), 80);
	assert_int_equal(sysstat_field_offset(&t, SYSSTAT_ULL, 2), 16);
	assert_int_equal(sysstat_field_offset(&t, SYSSTAT_UL, 0), 24);
	assert_int_equal(sysstat_field_offset(&t, SYSSTAT_U, 7), 76);
	assert_int_equal(sysstat_field_offset(&t, SYSSTAT_U, 8), -1);
	t = (struct sysstat_types){{UINT32_MAX, UINT32_MAX, UINT32_MAX}};
	assert_true(sysstat_types_size(&t) == UINT64_C(20) * UINT32_MAX);
}

static void numbers_of_every_machine(void **unused)
{
	static const uint8_t p[] = {0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 9, 9, 9, 9, 0, 0, 0, 4};
	struct sysstat_types t = {{1, 1, 1}};
	bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
	struct sysstat_arch big = {.swap = little}, big_64 = {.swap = little, .long_is_64 = true};

	(void)unused;
	assert_int_equal(sysstat_field(p, &t, big, SYSSTAT_ULL, 0), 0x100000002);
	assert_int_equal(sysstat_field(p, &t, big, SYSSTAT_UL, 0), 3);
	assert_int_equal(sysstat_field(p, &t, big_64, SYSSTAT_UL, 0), 0x309090909);
	assert_int_equal(sysstat_field(p, &t, big, SYSSTAT_U, 0), 4);
	assert_int_equal(sysstat_field(p, &t, big, SYSSTAT_U, 1), 0);
	assert_int_equal(sysstat_field(p, &t, (struct sysstat_arch){.swap = !little}, SYSSTAT_U, 0),
		0x4000000);
}

static void only_growing_structures_are_plausible(void **unused)
{
	(void)unused;
	assert_true(sysstat_types_plausible(11, 0x8c, &(struct sysstat_types){{3, 3, 8}}));
	assert_true(sysstat_types_plausible(11, 0x8c, &(struct sysstat_types){{1, 2, 6}}));
	assert_true(sysstat_types_plausible(11, 0x8c, &(struct sysstat_types){{4, 3, 9}}));
	assert_false(sysstat_types_plausible(11, 0x8c, &(struct sysstat_types){{4, 2, 8}}));
	assert_true(sysstat_types_plausible(11, 0x8d, &(struct sysstat_types){{4, 2, 8}}));
	assert_false(sysstat_types_plausible(2, 0x8b, &(struct sysstat_types){{0, 2, 0}}));
	assert_true(sysstat_types_plausible(0, 0x8a, &(struct sysstat_types){{9, 9, 9}}));
	assert_true(sysstat_types_plausible(4000, 0x8a, &(struct sysstat_types){{9, 9, 9}}));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_follow_each_other),
		cmocka_unit_test(numbers_of_every_machine),
		cmocka_unit_test(only_growing_structures_are_plausible),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
