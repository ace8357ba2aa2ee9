#include <limpet/metric.h>

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

/* The tables' rows in one list. */
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

/* Parts of names and their roles; the first part that occurs counts. */
static const struct {
	const char *part;
	enum lp_role role;
} hints[] = {
	{"latency", LP_ROLE_LATENCY},
	{"await", LP_ROLE_LATENCY},
	{"svctm", LP_ROLE_BUSY},
	{"rtt", LP_ROLE_LATENCY},
	{"error", LP_ROLE_TROUBLE},
	{"retrans", LP_ROLE_TROUBLE},
	{"drop", LP_ROLE_TROUBLE},
	{"fail", LP_ROLE_TROUBLE},
	{"cwnd", LP_ROLE_WINDOW},
	{"util", LP_ROLE_BUSY},
	{"busy", LP_ROLE_BUSY},
	{"queue", LP_ROLE_BUSY},
	{"through", LP_ROLE_WORK},
	{"thrpt", LP_ROLE_WORK},
	{"iops", LP_ROLE_WORK},
	{"byt", LP_ROLE_WORK},
	{"bandwidth", LP_ROLE_WORK},
	{"ops", LP_ROLE_WORK},
	{"duration", LP_ROLE_LATENCY},
	{"_ms", LP_ROLE_LATENCY},
	{"_us", LP_ROLE_LATENCY},
	{"wait", LP_ROLE_LATENCY},
	{"time", LP_ROLE_LATENCY},
};

enum lp_role lp_metric_role(const char *kind, const char *name)
{
	for (const struct lp_metric *const *m = lp_metric_all(); *m; m++) {
		if ((!kind || !strcmp((*m)->kind, kind)) && !strcmp((*m)->name, name))
			return (*m)->role;
	}
	for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++) {
		if (strcasestr(name, hints[i].part))
			return hints[i].role;
	}
	return LP_ROLE_OTHER;
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
