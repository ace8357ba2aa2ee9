/* server -> storage, of OrangeFS: a server keeps its part of a file in a file that is named like
 * the handle in requests. It reads and writes that one by whole blocks, so a call may be a little
 * longer than the request, and a write may read its first and its last block. If two requests
 * fit, neither is joined.
 */
#include "trace/stack/join_calls.h"
#include "trace/stack/layer.h"
#include <errno.h>

#define BLOCK INT64_C(4096)

/* Does a call lie in the blocks of a request? */
static bool is_inside(const struct span *request, const struct span *call)
{
	int64_t from, to;

	if (request->offset < 0 || request->offset > INT64_MAX / 4 || request->size < 0 ||
		request->size > INT64_MAX / 4 || call->offset < 0 || call->size < 0)
		return false;
	from = request->offset / BLOCK * BLOCK;
	to = (request->offset + request->size + BLOCK - 1) / BLOCK * BLOCK;
	return call->offset >= from && call->offset <= to && call->size <= to - call->offset;
}

/* Does a call read a block that the request writes a part of? */
static bool is_edge(const struct span *request, const struct span *call)
{
	int64_t end = request->offset + request->size;

	if (call->op != SPAN_READ || request->op != SPAN_WRITE || call->size > BLOCK)
		return false;
	return (request->offset % BLOCK && call->offset / BLOCK == request->offset / BLOCK) ||
		(end % BLOCK && call->offset / BLOCK == end / BLOCK);
}

/* Does the request ask for what the call does, and was it answered only after it? */
static bool asks_for(const struct span *request, const struct span *call)
{
	if (request->end_ns < call->end_ns && !(request->flags & SPAN_OPEN_END))
		return false;
	if (!join_is_data(call))
		return request->op == call->op;
	return is_inside(request, call) && (request->op == call->op || is_edge(request, call));
}

int join_bstream(struct graph *g)
{
	return join_files(g, true, asks_for);
}
