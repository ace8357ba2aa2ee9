/* The statistics files of Lustre and LNet: the same text is given to each of their parsers. */
#include "base/cleanup.h"
#include "collect/lustre_stats.h"
#include "fuzz.h"
#include <string.h>

static void fuzz_stats(const char *text)
{
	static const struct lustre_line lines[] = {{"read_bytes", "bytes", 0, 1},
		{"read", "usec", -1, 2}, {"open", NULL, 0, -1}, {NULL, NULL, 0, 0}};
	int64_t values[3] = {0};

	lustre_parse_stats(text, lines, values);
	if (lustre_parse_brw_times(text, &values[0], &values[1]) &&
		(values[0] < 0 || values[1] < 0))
		abort();
	lustre_parse_recovery(text, &values[2]);
}

static void fuzz_jobs(const char *p)
{
	struct lustre_job job;

	for (const char *before = p; lustre_parse_job(&p, &job); before = p) {
		if (p <= before || !job.name[0])
			abort(); /* it would never end */
	}
}

static void fuzz_lnet(const char *p)
{
	struct lnet_heading h = {0};
	int64_t values[LNET_N];
	const char *name;
	size_t len;

	lnet_parse_stats(p, values);
	while (*p) {
		const char *start = p;

		if (lnet_parse_ni(&p, &h, &name, &len, values) == PARSE_OK &&
			(len == 0 || len > PARSE_NAME_MAX || name < start || name + len > p))
			abort();
		if (p <= start)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = strndup((const char *)data, size);
	struct lustre_import import;
	struct lustre_rpc rpc;

	if (!text)
		return 0;
	fuzz_stats(text);
	lustre_parse_rpc_stats(text, &rpc);
	lustre_parse_import(text, &import);
	fuzz_jobs(text);
	fuzz_lnet(text);
	return 0;
}
