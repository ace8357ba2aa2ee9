/* The files of the host and cgroup collectors, and sockstat: the same text is given to each of
 * their parsers.
 */
#include "base/cleanup.h"
#include "collect/parse.h"
#include "collect/tcp_watch.h"
#include "fuzz.h"
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = strndup((const char *)data, size);
	int64_t values[HOST_N_COLUMNS];
	struct cgroup_stat stat;
	uint64_t in_use;

	if (!text)
		return 0;
	for (size_t i = 0; i < HOST_N_COLUMNS; i++)
		values[i] = LP_MISSING;
	parse_stat(text, values);
	parse_meminfo(text, values);
	parse_loadavg(text, values);
	parse_pressure(text, &values[HOST_PSI_CPU_SOME_US], NULL);
	parse_pressure(text, &values[HOST_PSI_IO_SOME_US], &values[HOST_PSI_IO_FULL_US]);
	parse_cgroup_stat(text, &stat);
	tcp_watch_parse(text, &in_use);
	if (values[HOST_N_CPUS] != LP_MISSING && values[HOST_N_CPUS] <= 0)
		abort();
	return 0;
}
