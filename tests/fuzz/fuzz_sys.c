/* Small files under /sys, and kstats. */
#include "base/cleanup.h"
#include "collect/parse_sys.h"
#include "fuzz.h"
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"reads", "nread"};
	_cleanup_free_ char *text = strndup((const char *)data, size);
	char name[PARSE_NAME_MAX + 1] = "";
	int64_t v[KSTAT_IO_N] = {0};

	if (!text)
		return 0;
	parse_number(text, v);
	if (parse_hex(text, v) && v[0] < 0)
		abort();
	parse_ib_rate(text, &v[0], &v[1]);
	parse_ib_state(text, v);
	parse_pcie_speed(text, v);
	parse_sata_speed(text, v);
	if (parse_md_action(text, v) && (v[0] < 0 || v[0] > MD_FROZEN))
		abort();
	if (parse_md_completed(text, v) && (v[0] < 0 || v[0] > 1000))
		abort();
	parse_md_state(text, v);
	parse_kstat_io(text, v);
	parse_kstat(text, names, 2, v);
	if (parse_kstat_dataset(text, name) && !name[0])
		abort();
	return 0;
}
