/* Answers of a Prometheus server, and data that it pushes: parsed, and made into batches. The first
 * byte chooses how the rest is read. */
#include "fuzz.h"
#include "import/remote/gather.h"
#include "import/remote/write_request.h"
#include <stdlib.h>

static int series_take(void *ctx, const struct answer_series *s, struct lp_err *err)
{
	return gather_series(ctx, s, err);
}

static int word_take(void *ctx, const char *word, struct lp_err *err)
{
	(void)ctx;
	(void)word;
	(void)err;
	return 0;
}

/* Two answers, one after the other. */
static void gather_all(const struct mapping *mapping, const char *text, size_t size)
{
	struct lp_catalogue *catalogue = lp_catalogue_new();
	struct gather g = {0};
	struct lp_batch *batch;
	struct lp_err err = {0};
	int r = gather_init(&g, mapping, catalogue, NULL, NULL, "fuzz", &err);

	for (int i = 0; r == 0 && i < 2; i++) {
		gather_begin(&g, i ? 1000 : INT64_MIN);
		if (answer_parse(text, size, series_take, &g, &err) < 0)
			gather_drop(&g);
		gather_interval_us(&g);
		while (gather_next(&g, &batch, &err) == 1)
			continue;
	}
	gather_release(&g);
	lp_catalogue_free(catalogue);
}

static int pushed_take(void *ctx, const struct gather_input *in, struct lp_err *err)
{
	return gather_take(ctx, in, err);
}

/* Pushed data, first with holding back samples, then without. */
static void pushed_all(const struct mapping *mapping, const uint8_t *data, size_t size)
{
	struct lp_catalogue *catalogue = lp_catalogue_new();
	struct gather g = {0};
	struct lp_batch *batch;
	struct lp_err err = {0};
	int r = gather_init(&g, mapping, catalogue, NULL, NULL, "fuzz", &err);

	for (int i = 0; r == 0 && i < 2; i++) {
		gather_begin(&g, INT64_MIN);
		g.hold_ms = i ? 0 : 1000;
		write_request_parse(data, size, pushed_take, &g, &err);
		while (gather_next(&g, &batch, &err) == 1)
			continue;
	}
	gather_release(&g);
	lp_catalogue_free(catalogue);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct mapping mapping;
	struct lp_err err = {0};
	char said[100];

	if (!size)
		return 0;
	if (!mapping.n_groups && mapping_load_builtin(&mapping, "prometheus", &err) < 0)
		abort();
	if (data[0] == 'p')
		pushed_all(&mapping, data + 1, size - 1);
	else if (data[0] == 'w')
		answer_parse_words((const char *)data + 1, size - 1, word_take, NULL, &err);
	else if (data[0] == 'e')
		answer_error((const char *)data + 1, size - 1, said, sizeof(said));
	else
		gather_all(&mapping, (const char *)data + 1, size - 1);
	return 0;
}
