#include "archive/span_log.h"

#include "archive/log.h"
#include "archive/trace_log.h"
#include "base/cleanup.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	SPAN_ID,
	SPAN_PARENT,
	SPAN_START,
	SPAN_DURATION,
	SPAN_PID,
	SPAN_TID,
	SPAN_RANK,
	SPAN_OPERATION,
	SPAN_FLAGS,
	SPAN_DEVICE,
	SPAN_INODE,
	SPAN_KEY,
	SPAN_OFFSET,
	SPAN_SIZE,
	SPAN_RESULT,
	SPAN_UNIQUE,
	SPAN_CONNECTION,
	SPAN_POSITION,
	SPAN_LENGTH,
	SPAN_ASKER,
	SPAN_LAYER,
	SPAN_FUNCTION,
	SPAN_OBJECT,
	SPAN_FIELDS,
	SPAN_TEXTS = SPAN_FIELDS - SPAN_LAYER,
};

static const struct lp_log_field fields[SPAN_FIELDS] = {
	[SPAN_ID] = {"id", "", LP_LOG_INT},
	[SPAN_PARENT] = {"parent", "", LP_LOG_INT},
	[SPAN_START] = {"start", "ns since 1970", LP_LOG_INT},
	[SPAN_DURATION] = {"duration", "ns", LP_LOG_INT},
	[SPAN_PID] = {"pid", "", LP_LOG_INT},
	[SPAN_TID] = {"tid", "", LP_LOG_INT},
	[SPAN_RANK] = {"rank", "", LP_LOG_INT},
	[SPAN_OPERATION] = {"operation", "", LP_LOG_INT},
	[SPAN_FLAGS] = {"flags", "", LP_LOG_INT},
	[SPAN_DEVICE] = {"device", "", LP_LOG_INT},
	[SPAN_INODE] = {"inode", "", LP_LOG_INT},
	[SPAN_KEY] = {"key", "", LP_LOG_INT},
	[SPAN_OFFSET] = {"offset", "bytes", LP_LOG_INT},
	[SPAN_SIZE] = {"size", "bytes", LP_LOG_INT},
	[SPAN_RESULT] = {"result", "", LP_LOG_INT},
	[SPAN_UNIQUE] = {"unique", "", LP_LOG_INT},
	[SPAN_CONNECTION] = {"connection", "", LP_LOG_INT},
	[SPAN_POSITION] = {"position", "bytes", LP_LOG_INT},
	[SPAN_LENGTH] = {"length", "bytes", LP_LOG_INT},
	[SPAN_ASKER] = {"asker", "", LP_LOG_INT},
	[SPAN_LAYER] = {"layer", "", LP_LOG_TEXT},
	[SPAN_FUNCTION] = {"function", "", LP_LOG_TEXT},
	[SPAN_OBJECT] = {"object", "", LP_LOG_TEXT},
};

struct log_gather span_log_gather(void)
{
	return (struct log_gather){.name = TRACE_LOG_SPANS,
		.fields = fields,
		.n_fields = SPAN_FIELDS,
		.time_field = SPAN_START,
		.duration_field = SPAN_DURATION,
		.slice = (uint32_t)(LOG_TEXT_MAX / SPAN_TEXT_MAX / SPAN_TEXTS)};
}

static void put_ints(struct log_gather *g, const struct span *s)
{
	size_t n = g->n;

	g->ints[SPAN_ID][n] = (int64_t)s->id;
	g->ints[SPAN_PARENT][n] = (int64_t)s->parent;
	g->ints[SPAN_START][n] = s->start_ns;
	g->ints[SPAN_DURATION][n] = s->end_ns - s->start_ns;
	g->ints[SPAN_PID][n] = s->pid;
	g->ints[SPAN_TID][n] = s->tid;
	g->ints[SPAN_RANK][n] = s->rank;
	g->ints[SPAN_OPERATION][n] = s->op;
	g->ints[SPAN_FLAGS][n] = s->flags;
	g->ints[SPAN_DEVICE][n] = (int64_t)s->device;
	g->ints[SPAN_INODE][n] = (int64_t)s->inode;
	g->ints[SPAN_KEY][n] = (int64_t)s->key;
	g->ints[SPAN_OFFSET][n] = s->offset;
	g->ints[SPAN_SIZE][n] = s->size;
	g->ints[SPAN_RESULT][n] = s->result;
	g->ints[SPAN_UNIQUE][n] = (int64_t)s->unique;
	g->ints[SPAN_CONNECTION][n] = (int64_t)s->connection;
	g->ints[SPAN_POSITION][n] = s->position;
	g->ints[SPAN_LENGTH][n] = s->length;
	g->ints[SPAN_ASKER][n] = s->asker;
}

int span_log_add(struct log_gather *g, const struct span *s)
{
	const char *const texts[SPAN_TEXTS] = {s->layer, s->function, s->object};
	size_t len[SPAN_TEXTS], all = 0;

	for (uint32_t i = 0; i < SPAN_TEXTS; i++) {
		len[i] = strnlen(texts[i], SPAN_TEXT_MAX);
		all += len[i];
	}
	if (log_gather_reserve(g, all) < 0)
		return -ENOMEM;
	put_ints(g, s);
	for (uint32_t i = 0; i < SPAN_TEXTS; i++)
		log_gather_put_text(g, SPAN_LAYER + i, texts[i], len[i]);
	g->n++;
	return 0;
}

/* Room for the texts of a span, with a NUL after each. */
struct texts {
	char text[SPAN_TEXTS][SPAN_TEXT_MAX + 1];
};

static const char *text_at(const struct log_fields *f, uint32_t field, uint32_t i, struct texts *t)
{
	struct lp_log_text from = log_fields_text(f, field, i);
	char *to = t->text[field - SPAN_LAYER];
	size_t len = from.len < SPAN_TEXT_MAX ? from.len : SPAN_TEXT_MAX;

	memcpy(to, from.bytes, len);
	to[len] = '\0';
	return to;
}

static int64_t at_least(int64_t least, int64_t value)
{
	return value < least ? least : value;
}

static struct span span_at(const struct log_fields *f, uint32_t i, struct texts *t)
{
	int64_t start = log_fields_ns(f, SPAN_START, i, TRACE_LOG_TIME_MAX);
	int64_t op = log_fields_int(f, SPAN_OPERATION, i);

	return (struct span){
		.id = (uint64_t)log_fields_int(f, SPAN_ID, i),
		.parent = (uint64_t)log_fields_int(f, SPAN_PARENT, i),
		.start_ns = start,
		.end_ns = start + log_fields_ns(f, SPAN_DURATION, i, TRACE_LOG_DURATION_MAX),
		.pid = (int32_t)log_fields_int(f, SPAN_PID, i),
		.tid = (int32_t)log_fields_int(f, SPAN_TID, i),
		.rank = (int32_t)log_fields_int(f, SPAN_RANK, i),
		.op = op > 0 && op < SPAN_OPS ? (uint8_t)op : SPAN_OTHER,
		.flags = (uint8_t)log_fields_int(f, SPAN_FLAGS, i),
		.device = (uint64_t)log_fields_int(f, SPAN_DEVICE, i),
		.inode = (uint64_t)log_fields_int(f, SPAN_INODE, i),
		.key = (uint64_t)log_fields_int(f, SPAN_KEY, i),
		.offset = at_least(SPAN_NO_OFFSET, log_fields_int(f, SPAN_OFFSET, i)),
		.size = at_least(0, log_fields_int(f, SPAN_SIZE, i)),
		.result = log_fields_int(f, SPAN_RESULT, i),
		.unique = (uint64_t)log_fields_int(f, SPAN_UNIQUE, i),
		.connection = (uint64_t)log_fields_int(f, SPAN_CONNECTION, i),
		.position = (uint32_t)log_fields_int(f, SPAN_POSITION, i),
		.length = (uint32_t)log_fields_int(f, SPAN_LENGTH, i),
		.asker = (int32_t)log_fields_int(f, SPAN_ASKER, i),
		.layer = text_at(f, SPAN_LAYER, i, t),
		.function = text_at(f, SPAN_FUNCTION, i, t),
		.object = text_at(f, SPAN_OBJECT, i, t),
	};
}

int span_log_take(const struct lp_log *log,
	int (*fn)(void *ctx, uint64_t record, const struct span *s), void *ctx, struct lp_err *err)
{
	_cleanup_free_ struct texts *t = malloc(sizeof(*t));
	struct log_fields f;
	int r;

	if (!t)
		return lp_err_sys(err, -ENOMEM, "cannot read the log %s", log->name);
	r = log_fields_find(&f, log, fields, SPAN_FIELDS, err);
	for (uint32_t i = 0; i < log->n_records && r == 0; i++) {
		struct span s = span_at(&f, i, t);

		r = fn(ctx, log->first_record + i, &s);
	}
	return r;
}
