#include "trace/stack/layer_rows.h"

#include "trace/stack/layer.h"

enum {
	LAYER_N,
	LAYER_NS,
	LAYER_BYTES,
	LAYER_ERRORS,
	LAYER_SERVED_N, /* the same of servers only, which are compared */
	LAYER_SERVED_NS,
	LAYER_COLUMNS
};

static const struct lp_column columns[LAYER_COLUMNS] = {
	[LAYER_N] = {"n", "calls", LP_COUNTER, 64},
	[LAYER_NS] = {"ns", "ns", LP_COUNTER, 64},
	[LAYER_BYTES] = {"bytes", "bytes", LP_COUNTER, 64},
	[LAYER_ERRORS] = {"errors", "calls", LP_COUNTER, 64},
	[LAYER_SERVED_N] = {"served_n", "calls", LP_COUNTER, 64},
	[LAYER_SERVED_NS] = {"served_ns", "ns", LP_COUNTER, 64},
};

_Static_assert(LAYER_COLUMNS <= NAMED_ROWS_COLUMNS_MAX, "");

static const struct lp_schema schema = {"layer", columns, LAYER_COLUMNS};

const struct lp_schema *layer_rows_schema(void)
{
	return &schema;
}

struct named_rows *layer_rows_new(const char *observer)
{
	return named_rows_new(observer, &schema, layers_n, UINT32_MAX);
}

int layer_rows_add(struct named_rows *rows, const struct span *s)
{
	int layer = layer_find(s->layer);
	bool served = layer >= 0 && layers[layer].side >= LAYER_SERVER;
	int64_t ns = s->end_ns - s->start_ns;
	const int64_t growth[LAYER_COLUMNS] = {
		[LAYER_N] = 1,
		[LAYER_NS] = ns,
		[LAYER_BYTES] = s->result > 0 ? s->result : 0,
		[LAYER_ERRORS] = s->result < 0,
		[LAYER_SERVED_N] = served,
		[LAYER_SERVED_NS] = served ? ns : 0,
	};

	return s->op == SPAN_MARK ? 0 : named_rows_add(rows, s->layer, growth);
}
