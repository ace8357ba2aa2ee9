#include "model/meaning.h"

#include "model/metric_role.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int meanings_add(struct meanings *m, const char *side, const char *metric, struct lp_err *err)
{
	bool lower = !strcmp(side, "lower");
	char *copy;

	if (!lower && strcmp(side, "higher") != 0)
		return lp_err_set(err, -EINVAL,
			"'%.64s' says nothing of what is worse (want lower or higher)", side);
	if (!*metric)
		return lp_err_set(err, -EINVAL, "a metric has no name");
	if (m->n >= MEANINGS_MAX)
		return lp_err_set(err, -E2BIG, "more than %d metrics", MEANINGS_MAX);
	copy = strdup(metric);
	if (!copy)
		return lp_err_sys(err, -ENOMEM, "cannot note what '%.64s' means", metric);
	m->items[m->n].metric = copy;
	m->items[m->n++].lower = lower;
	return 0;
}

int meanings_parse(struct meanings *m, const char *const *texts, unsigned n, struct lp_err *err)
{
	int r = 0;

	for (unsigned i = 0; r == 0 && i + 1 < n; i += 2)
		r = meanings_add(m, texts[i], texts[i + 1], err);
	return r;
}

int meanings_copy(struct meanings *m, const struct meanings *from, struct lp_err *err)
{
	int r = 0;

	for (unsigned i = 0; r == 0 && i < from->n; i++)
		r = meanings_add(
			m, from->items[i].lower ? "lower" : "higher", from->items[i].metric, err);
	return r;
}

void meanings_release(struct meanings *m)
{
	for (unsigned i = 0; i < m->n; i++)
		free(m->items[i].metric);
	m->n = 0;
}

enum lp_role meanings_role(const struct meanings *m, const char *metric, enum lp_role own)
{
	for (unsigned i = m ? m->n : 0; i-- > 0;) {
		if (strcmp(m->items[i].metric, metric) != 0)
			continue;
		if (m->items[i].lower)
			return own == LP_ROLE_WINDOW ? own : LP_ROLE_YIELD;
		return role_is_time(own) || own == LP_ROLE_TROUBLE ? own : LP_ROLE_HARM;
	}
	return own;
}
