#include "trace/stack/job_sums.h"

#include "model/quantity.h"
#include "trace/stack/layer.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define KIND "kind=stack-sum"

void job_sums_add(struct job_sums *to, unsigned layer, unsigned op, const struct spans_sum *s)
{
	struct spans_sum *t;

	if (layer >= JOB_SUMS_LAYERS || op >= SPAN_OPS || !s->calls)
		return;
	t = &to->items[layer][op];
	t->calls += s->calls;
	t->errors += s->errors;
	t->bytes += s->bytes;
	t->ns += s->ns;
	t->own_ns += s->own_ns;
	t->together_ns += s->together_ns;
	t->longest_ns = s->longest_ns > t->longest_ns ? s->longest_ns : t->longest_ns;
	to->any = true;
}

void job_sum_format(
	const struct job_sums *sums, unsigned layer, unsigned op, char buf[JOB_SUM_TEXT])
{
	const struct spans_sum *s = &sums->items[layer][op];

	snprintf(buf, JOB_SUM_TEXT,
		KIND " layer=%s operation=%s ranks=%" PRIu32 " calls=%" PRIu64 " errors=%" PRIu64
		     " bytes=%" PRIu64 " ns=%" PRIu64 " own=%" PRIu64 " together=%" PRIu64
		     " longest=%" PRIu64,
		layers[layer].name, span_op_names[op], sums->n_ranks, s->calls, s->errors, s->bytes,
		s->ns, s->own_ns, s->together_ns, s->longest_ns);
}

/* The word behind " key=". */
static bool word_of(const char *text, const char *key, char word[32])
{
	const char *at = strstr(text, key);

	if (!at)
		return false;
	at += strlen(key);
	snprintf(word, 32, "%.*s", (int)strcspn(at, " "), at);
	return true;
}

static uint64_t number_of(const char *text, const char *key)
{
	char word[32];

	return word_of(text, key, word) ? strtoull(word, NULL, 10) : 0;
}

void job_sums_take(struct job_sums *to, const char *remark)
{
	const struct spans_sum s = {.calls = number_of(remark, " calls="),
		.errors = number_of(remark, " errors="),
		.bytes = number_of(remark, " bytes="),
		.ns = number_of(remark, " ns="),
		.own_ns = number_of(remark, " own="),
		.together_ns = number_of(remark, " together="),
		.longest_ns = number_of(remark, " longest=")};
	uint32_t ranks = (uint32_t)number_of(remark, " ranks=");
	char layer[32], op[32];
	int at, what;

	if (strncmp(remark, KIND " ", strlen(KIND) + 1) != 0 ||
		!word_of(remark, " layer=", layer) || !word_of(remark, " operation=", op))
		return;
	at = layer_find(layer);
	what = span_op_find(op);
	if (at < 0 || what < 0)
		return;
	job_sums_add(to, (unsigned)at, (unsigned)what, &s);
	to->n_ranks = ranks > to->n_ranks ? ranks : to->n_ranks;
}

static void row_print(FILE *out, const char *layer, const char *op, const struct spans_sum *s)
{
	char bytes[QUANTITY_TEXT_MAX], mean[QUANTITY_TEXT_MAX], longest[QUANTITY_TEXT_MAX];
	char own[QUANTITY_TEXT_MAX], together[QUANTITY_TEXT_MAX];

	fprintf(out, "%-9s %-9s %9" PRIu64 " %10s %10s %10s %10s %13s %7" PRIu64 "\n", layer, op,
		s->calls, quantity_format((double)s->bytes, "bytes", bytes),
		quantity_format((double)s->ns / (double)s->calls / 1e9, "s", mean),
		quantity_format((double)s->longest_ns / 1e9, "s", longest),
		quantity_format((double)s->own_ns / 1e9, "s", own),
		s->together_ns ? quantity_format((double)s->together_ns / 1e9, "s", together) : "-",
		s->errors);
}

void job_sums_print(FILE *out, const struct job_sums *sums)
{
	if (sums->n_ranks)
		fprintf(out, "sums of a job of %" PRIu32 " ranks, without its single calls\n\n",
			sums->n_ranks);
	else
		fputs("sums of a program, without its single calls\n\n", out);
	fprintf(out, "%-9s %-9s %9s %10s %10s %10s %10s %13s %7s\n", "layer", "operation", "calls",
		"bytes", "mean time", "longest", "in it", "communicating", "errors");
	for (unsigned i = 0; i < layers_n && i < JOB_SUMS_LAYERS; i++) {
		for (unsigned op = 0; op < SPAN_OPS; op++) {
			if (sums->items[i][op].calls && op != SPAN_MARK)
				row_print(out, layers[i].name, span_op_names[op],
					&sums->items[i][op]);
		}
	}
}

json_t *job_sums_json(const struct job_sums *sums)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < layers_n && i < JOB_SUMS_LAYERS; i++) {
		for (unsigned op = 0; op < SPAN_OPS; op++) {
			const struct spans_sum *s = &sums->items[i][op];

			if (!s->calls)
				continue;
			json_array_append_new(list,
				json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "layer",
					layers[i].name, "operation", span_op_names[op], "calls",
					(json_int_t)s->calls, "errors", (json_int_t)s->errors,
					"bytes", (json_int_t)s->bytes, "inclusive_ns",
					(json_int_t)s->ns, "exclusive_ns", (json_int_t)s->own_ns,
					"communicating_ns", (json_int_t)s->together_ns,
					"longest_ns", (json_int_t)s->longest_ns));
		}
	}
	return json_pack("{s:I, s:o}", "ranks", (json_int_t)sums->n_ranks, "sums", list);
}
