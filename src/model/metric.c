#include <limpet/metric.h>

#include "model/metric_name.h"
#include <pthread.h>
#include <string.h>

#define X(kind) extern const struct lp_metric metrics_##kind[];
#include "model/metrics.inc"
#undef X

static const struct lp_metric *const tables[] = {
#define X(kind) metrics_##kind,
#include "model/metrics.inc"
#undef X
};

#define METRICS_MAX 256

static const struct lp_metric *all[METRICS_MAX + 1];
static pthread_once_t all_once = PTHREAD_ONCE_INIT;

/* Combine the rows of all tables in one list. */
static void all_build(void)
{
	size_t n = 0;

	for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++) {
		for (const struct lp_metric *m = tables[t]; m->name && n < METRICS_MAX; m++)
			all[n++] = m;
	}
}

const struct lp_metric *const *lp_metric_all(void)
{
	pthread_once(&all_once, all_build);
	return all;
}

const struct lp_metric *lp_metric_find(const char *kind, const char *name)
{
	for (const struct lp_metric *const *m = lp_metric_all(); *m; m++) {
		if (!strcmp((*m)->kind, kind) && !strcmp((*m)->name, name))
			return *m;
	}
	return NULL;
}

bool lp_metric_is_weight(const struct lp_metric *m)
{
	for (const struct lp_metric *const *o = lp_metric_all(); *o; o++) {
		if ((*o)->weight && !strcmp((*o)->kind, m->kind) && !strcmp((*o)->weight, m->name))
			return true;
	}
	return false;
}

enum lp_role lp_metric_role(const char *kind, const char *name)
{
	for (const struct lp_metric *const *m = lp_metric_all(); *m; m++) {
		if ((!kind || !strcmp((*m)->kind, kind)) && !strcmp((*m)->name, name))
			return (*m)->role;
	}
	return metric_name_role(name);
}

bool lp_counter_growth(int64_t before, int64_t now, unsigned bits, int64_t *ret)
{
	int64_t growth;

	if (before == LP_MISSING || now == LP_MISSING ||
		__builtin_sub_overflow(now, before, &growth))
		return false;
	if (growth < 0 && bits == 32 && growth < -(INT64_C(1) << 31))
		growth += INT64_C(1) << 32;
	if (growth < 0)
		return false;
	*ret = growth;
	return true;
}
