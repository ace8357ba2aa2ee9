/* Records that the kernel delivers to a tracer: those of limpet's programs in the kernel, with
 * texts and arguments that traced processes choose, and those of perf. The first byte chooses
 * between them.
 */
#include "base/cleanup.h"
#include "fuzz.h"
#include "model/endpoints.h"
#include "trace/backend_bpf.h"
#include "trace/profile/perf_records.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* A path as the kernel's parts of it, and both ends of a connection. */
static void look_at_event(const struct trace_event *e)
{
	struct trace_endpoints ends;
	char path[PATH_MAX], name[ENDPOINTS_TEXT_MAX];

	if (bpf_path_join(e->text, e->text_len, path, sizeof(path)) > sizeof(path))
		abort();
	if (endpoints_of_event(e, &ends) && strlen(endpoints_name(&ends, name)) >= sizeof(name))
		abort();
}

static void look_at_record(const struct perf_record *r)
{
	if (r->sample.n_stack > SAMPLER_STACK_MAX || r->sample.n_kernel_stack > r->sample.n_stack)
		abort();
	if ((r->what == PERF_SAW_COMM || r->what == PERF_SAW_MAPPING) &&
		strlen(r->path) > PERF_RECORD_BYTES_MAX)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ uint8_t *copy = NULL;
	struct perf_record record;
	struct trace_event event;

	if (size < 2)
		return 0;
	size--;
	copy = malloc(size); /* of exactly that size, for the sanitizers */
	if (!copy)
		return 0;
	memcpy(copy, data + 1, size);
	if (data[0] % 3 == 2) {
		if (bpf_record_decode(copy, size, &event))
			look_at_event(&event);
		return 0;
	}
	perf_record_decode(copy, size, data[0] % 3, &record);
	look_at_record(&record);
	return 0;
}
