/* The output of mmpmon, mmdiag and beegfs-ctl; names of statistics and log pages of adapters and
 * drives. */
#include "base/cleanup.h"
#include "collect/beegfs_parse.h"
#include "collect/ethtool_names.h"
#include "collect/gpfs_parse.h"
#include "collect/nvme_smart.h"
#include "fuzz.h"
#include <stdlib.h>
#include <string.h>

static void fuzz_gpfs(const char *text)
{
	const char *p = text, *q = text;
	int64_t a = 0, b = 0;
	struct gpfs_nsd nsd;
	struct gpfs_fs fs;

	while (gpfs_parse_nsd(&p, &nsd)) {
		if (!nsd.name[0])
			abort();
	}
	while (gpfs_parse_fs(&q, &fs)) {
		if (!fs.name[0])
			abort();
	}
	if (gpfs_parse_rhist(text, &a, &b) && (a < 0 || b < 0))
		abort();
	if (gpfs_parse_waiters(text, &a, &b) && (a < 0 || b < 0))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = strndup((const char *)data, size);
	struct beegfs_heading h = {0};
	struct beegfs_server server;
	int64_t smart[SMART_N];
	const char *p = text;

	if (!text)
		return 0;
	fuzz_gpfs(text);
	while (beegfs_parse_server(&p, &h, &server)) {
		if (!server.name[0])
			abort();
	}
	if (ethtool_parse_name(text) >= LINK_N)
		abort();
	if (size >= NVME_SMART_BYTES)
		nvme_smart_decode(data, smart);
	return 0;
}
