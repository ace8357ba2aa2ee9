#include "unit.h"

#include "base/array.h"
#include "import/sysstat_device.h"
#include <string.h>

static void well_known_numbers_have_names(void **unused)
{
	static const struct {
		uint32_t major, minor;
		const char *name;
	} cases[] = {
		{8, 0, "sda"},
		{8, 1, "sda1"},
		{8, 255, "sdp15"},
		{8, 256, "sdiw"},
		{65, 300, "sdjo12"},
		{135, 256, "sdsc"},
		{8, 1 << 20, "dev8-1048576"},
		{65, 0, "sdq"},
		{65, 160, "sdaa"},
		{71, 240, "sddx"},
		{128, 0, "sddy"},
		{135, 240, "sdiv"},
		{7, 12, "loop12"},
		{9, 127, "md127"},
		{11, 0, "sr0"},
		{1, 3, "ram3"},
		{3, 64, "hdb"},
		{22, 1, "hdc1"},
		{34, 64, "hdh"},
		{91, 0, "hds"},
		{3, 128, "dev3-128"},
		{2, 1, "fd1"},
		{2, 4, "dev2-4"},
		{94, 15, "dasdd3"},
		{94, 300, "dasdbx"},
		{202, 17, "xvdb1"},
		{147, 5, "drbd5"},
		{253, 3, "dev253-3"},
		{259, 0, "dev259-0"},
		{4294967295u, 4294967295u, "dev4294967295-4294967295"},
	};
	char name[SYSSTAT_NAME_MAX];

	(void)unused;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		sysstat_disk_name(cases[i].major, cases[i].minor, name);
		assert_string_equal(name, cases[i].name);
	}
}

static void world_wide_names(void **unused)
{
	char text[SYSSTAT_NAME_MAX];

	(void)unused;
	sysstat_wwn_text((uint64_t[]){0x5000c500aabbccdd, 0}, 0, text);
	assert_string_equal(text, "0x5000c500aabbccdd");
	sysstat_wwn_text((uint64_t[]){0x6000c500aabbccdd, 0x1234}, 12, text);
	assert_string_equal(text, "0x6000c500aabbccdd0000000000001234-12");
}

static void names_become_printable(void **unused)
{
	char name[SYSSTAT_NAME_MAX];

	(void)unused;
	sysstat_clean_name("eth0\0garbage", 12, name);
	assert_string_equal(name, "eth0");
	sysstat_clean_name("a b/c\nd\x7f", 8, name);
	assert_string_equal(name, "a_b_c_d_");
	sysstat_clean_name("0123456789abcdefX", 16, name);
	assert_string_equal(name, "0123456789abcdef");
	sysstat_clean_name("", 16, name);
	assert_string_equal(name, "unnamed");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(well_known_numbers_have_names),
		cmocka_unit_test(world_wide_names),
		cmocka_unit_test(names_become_printable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
