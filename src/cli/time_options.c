#include "cli/time_options.h"

#include "base/time.h"
#include <errno.h>

/* Find the last sample of files that do not state it before they are read. */
static int note_end(
	void *ctx, struct lp_source *source, const struct lp_batch *batch, struct lp_err *err)
{
	int64_t *end_us = ctx;

	(void)source;
	(void)err;
	for (uint32_t i = 0; batch && i < batch->n_samples; i++)
		*end_us = batch->wall_us[i] > *end_us ? batch->wall_us[i] : *end_us;
	return 0;
}

static int data_end(struct lp_dataset *ds, int64_t *ret_us, struct lp_err *err)
{
	int64_t first_us;
	int r = lp_dataset_span(ds, &first_us, ret_us, err);

	if (r < 0 || *ret_us)
		return r;
	r = lp_dataset_read(ds, NULL, note_end, ret_us, err);
	/* Damage is reported when the data is read for analysis. */
	if (r == -EBADMSG && *ret_us)
		*err = (struct lp_err){0};
	return r == -EBADMSG && *ret_us ? 0 : r;
}

int time_options_check(const struct time_options *t, struct lp_err *err)
{
	if (t->last_us && t->since_us)
		return lp_err_set(err, -EINVAL, "--last and --since exclude each other");
	if (t->until_us && t->until_us <= t->since_us)
		return lp_err_set(err, -EINVAL, "--until must be later than --since");
	return 0;
}

void time_options_limit(const struct time_options *t, struct lp_dataset *ds)
{
	int64_t end_us = t->until_us ? t->until_us : clock_us(CLOCK_REALTIME);

	lp_dataset_limit(ds, t->last_us ? end_us - t->last_us : t->since_us, t->until_us);
}

int time_options_end(
	const struct time_options *t, struct lp_dataset *ds, int64_t *ret_us, struct lp_err *err)
{
	*ret_us = t->until_us;
	return *ret_us ? 0 : data_end(ds, ret_us, err);
}

int time_options_settle(struct time_options *t, struct lp_dataset *ds, struct lp_err *err)
{
	int64_t end_us = 0;
	int r = time_options_check(t, err);

	if (r < 0)
		return r;
	time_options_limit(t, ds);
	if (!t->last_us)
		return 0;
	r = time_options_end(t, ds, &end_us, err);
	if (r == 0)
		t->since_us = end_us - t->last_us;
	return r;
}
