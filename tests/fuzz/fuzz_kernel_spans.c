/* Events of the kernel about I/O, with the heads of messages that other programs wrote. A record is
 * two bytes of length and then an event. */
#include "fuzz.h"
#include "trace/stack/kernel_spans.h"
#include "trace/stack/layer.h"
#include <stdlib.h>
#include <string.h>

static int take(void *ctx, const struct span *s)
{
	(void)ctx;
	if (s->end_ns < s->start_ns || s->op >= SPAN_OPS || s->offset < SPAN_NO_OFFSET ||
		s->size < 0 || !s->layer[0] || !s->function || !s->object || !s->id)
		abort();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct kernel_spans_config config = {.layers = LAYERS_IN_KERNEL, .span = take};
	struct kernel_spans *k = kernel_spans_new(&config);

	while (k && size >= 2) {
		size_t len = (size_t)(data[0] | data[1] << 8), n;
		void *copy;

		data += 2;
		size -= 2;
		n = len < size ? len : size;
		copy = malloc(n ? n : 1); /* so that reading beyond the end is detected */
		if (!copy)
			break;
		memcpy(copy, data, n);
		if (kernel_spans_take(k, copy, n) < 0)
			abort();
		free(copy);
		data += n;
		size -= n;
	}
	if (k && kernel_spans_end(k, 1) < 0)
		abort();
	kernel_spans_free(k);
	return 0;
}
