/* Texts that map addresses to names: maps of run-time compilers and of processes, and the kernel's
 * symbols. The first byte chooses one of them. */
#include "base/cleanup.h"
#include "fuzz.h"
#include "trace/symbols/demangle.h"
#include "trace/symbols/kallsyms.h"
#include "trace/symbols/perf_map.h"
#include "trace/symbols/proc_maps.h"
#include <stdlib.h>
#include <string.h>

static void perf_map(char *text)
{
	struct symbol_table t;

	if (perf_map_parse(text, &t) < 0)
		return;
	for (size_t i = 0; i < t.n; i++) {
		char plain[100];

		if (i && t.items[i - 1].start >= t.items[i].start)
			abort();
		demangle(symbol_name(&t, &t.items[i]), plain, sizeof(plain));
		if (strlen(plain) >= sizeof(plain) ||
			symbol_table_find(&t, t.items[i].start) != &t.items[i])
			abort();
	}
	symbol_table_release(&t);
}

static void proc_maps(char *text)
{
	_cleanup_(proc_maps_release) struct proc_maps m = {0};

	if (proc_maps_parse(&m, text) < 0)
		return;
	for (size_t i = 0; i < m.n; i++) {
		if (m.items[i].start >= m.items[i].end ||
			(i && m.items[i - 1].end > m.items[i].start) ||
			proc_maps_find(&m, m.items[i].start) != &m.items[i])
			abort();
	}
}

static void kallsyms(char *text)
{
	_cleanup_(kallsyms_release) struct kallsyms k = {0};

	if (kallsyms_parse(&k, text) < 0)
		return;
	for (size_t i = 0; i < k.symbols.n; i++) {
		const char *image = NULL;

		if (!kallsyms_find(&k, k.symbols.items[i].start, &image) || !image)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = NULL;

	if (!size)
		return 0;
	text = strndup((const char *)data + 1, size - 1);
	if (!text)
		return 0;
	switch (data[0]) {
	case 'm':
		proc_maps(text);
		break;
	case 'k':
		kallsyms(text);
		break;
	default:
		perf_map(text);
	}
	return 0;
}
