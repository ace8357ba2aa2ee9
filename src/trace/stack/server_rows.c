#include "trace/stack/server_rows.h"

#include "trace/stack/join_calls.h"
#include "trace/stack/layer.h"

enum { SERVER_ANSWER_N, SERVER_ANSWER_NS, SERVER_COLUMNS };

static const struct lp_column columns[SERVER_COLUMNS] = {
	[SERVER_ANSWER_N] = {"answer_n", "requests", LP_COUNTER, 64},
	[SERVER_ANSWER_NS] = {"answer_ns", "ns", LP_COUNTER, 64},
};

_Static_assert(SERVER_COLUMNS <= NAMED_ROWS_COLUMNS_MAX, "");

static const struct lp_schema schema = {"peer", columns, SERVER_COLUMNS};

const struct lp_schema *server_rows_schema(void)
{
	return &schema;
}

struct named_rows *server_rows_new(const char *observer)
{
	return named_rows_new(observer, &schema, SERVER_ROWS_MAX, UINT32_MAX);
}

int server_rows_add(struct named_rows *rows, const struct span *s)
{
	const int64_t growth[SERVER_COLUMNS] = {
		[SERVER_ANSWER_N] = 1,
		[SERVER_ANSWER_NS] = s->end_ns - s->start_ns,
	};

	/* Requests for names and attributes are short, and one server may have all of them. */
	if (layer_find(s->layer) != STACK_NETWORK || !join_is_data(s) || !*s->object)
		return 0;
	return named_rows_add(rows, s->object, growth);
}
