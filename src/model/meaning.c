#include "model/meaning.h"

#include "base/cleanup.h"
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
			"'%.64s' does not say what is worse (want lower or higher)", side);
	if (!*metric)
		return lp_err_set(err, -EINVAL, "a metric has no name");
	if (strpbrk(metric, "\t\n"))
		return lp_err_set(
			err, -EINVAL, "the name of a metric must not contain tabs or line ends");
	if (m->n >= MEANINGS_MAX)
		return lp_err_set(err, -E2BIG, "more than %d metrics", MEANINGS_MAX);
	copy = strdup(metric);
	if (!copy)
		return lp_err_sys(err, -ENOMEM, "cannot store the meaning of '%.64s'", metric);
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

void meanings_format(const struct meanings *m, struct strbuf *to)
{
	for (unsigned i = 0; i < m->n; i++)
		strbuf_printf(to, "%s%s\t%s", i ? "\t" : "", m->items[i].lower ? "lower" : "higher",
			m->items[i].metric);
}

static bool meanings_have(const struct meanings *m, const char *side, const char *metric)
{
	for (unsigned i = 0; i < m->n; i++) {
		if (!strcmp(m->items[i].metric, metric) &&
			m->items[i].lower == !strcmp(side, "lower"))
			return true;
	}
	return false;
}

int meanings_read(struct meanings *m, const char *line)
{
	_cleanup_free_ char *copy = strdup(line);
	char *rest = copy, *side;
	struct lp_err err = {0};
	int r = copy ? 0 : -ENOMEM;

	while (r != -ENOMEM && (side = strsep(&rest, "\t")) && rest) {
		const char *metric = strsep(&rest, "\t");

		if (!meanings_have(m, side, metric))
			r = meanings_add(m, side, metric, &err);
	}
	return r == -ENOMEM ? r : 0;
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
