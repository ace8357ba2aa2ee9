#include "detect/steady.h"

#include "base/median.h"
#include "base/slices.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A member is steadily off if this share of its samples is beyond the middle. A normal member is
 * beyond the middle in half of its samples. */
#define STEADY_SHARE 0.875

void steady_init(struct steady *s, const struct comparison *c)
{
	*s = (struct steady){.c = c};
}

void steady_release(struct steady *s)
{
	free(s->rows);
	free(s->chosen);
	free(s->middle);
	free(s->values);
	free(s->known);
	*s = (struct steady){0};
}

static int steady_begin(struct steady *s)
{
	const struct lp_series *series = s->c->series;
	const struct lp_verdict *v = s->c->v;
	uint32_t n = v->groups[series->group].n_members;
	size_t n_slots = v->tables[series->metric]->n_slots;

	/* NOLINTBEGIN(bugprone-sizeof-expression): these are arrays of pointers */
	s->rows = calloc((size_t)n + 1, sizeof(*s->rows));
	s->chosen = calloc((size_t)n + 1, sizeof(*s->chosen));
	/* NOLINTEND(bugprone-sizeof-expression) */
	s->values = calloc((size_t)n + 1, sizeof(*s->values));
	s->middle = calloc(n_slots + 1, sizeof(*s->middle));
	s->known = calloc(n_slots + 1, sizeof(*s->known));
	if (!s->rows || !s->chosen || !s->values || !s->middle || !s->known)
		return -ENOMEM;
	group_rows(v, series->group, series->metric, s->rows);
	group_rows(v, series->group, series->metric, s->chosen);
	sample_rows(s->chosen, n);
	s->n_slots = (uint32_t)n_slots;
	s->n_members = n;
	return 0;
}

static double middle_at(struct steady *s, uint32_t slot)
{
	uint32_t n = 0;

	if (s->known[slot])
		return s->middle[slot];
	slices_rest();
	for (uint32_t i = 0; i < s->n_members; i++) {
		if (s->chosen[i] && isfinite(s->chosen[i][slot]))
			s->values[n++] = s->chosen[i][slot];
	}
	s->known[slot] = true;
	s->middle[slot] = median_of(s->values, n);
	return s->middle[slot];
}

int steady_look(struct steady *s, uint32_t member, enum lp_mark direction, uint32_t end,
	struct steady_count *count, enum steadiness *ret)
{
	const double *row;

	*ret = STEADY_UNKNOWN;
	if (direction == LP_MARK_ABSENT || s->c->timeseries ||
		group_has_vectors(s->c->v, s->c->series->group))
		return 0;
	if (!s->rows && steady_begin(s) < 0)
		return -ENOMEM;
	row = s->rows[member];
	for (; row && count->end < end && count->end < s->n_slots; count->end++) {
		double own = row[count->end], middle;

		if (!isfinite(own))
			continue;
		middle = middle_at(s, count->end);
		count->n++;
		count->n_beyond += direction == LP_MARK_BELOW ? own < middle : own > middle;
	}
	if (count->n)
		*ret = count->n_beyond >= STEADY_SHARE * count->n ? STEADY : STEADY_NOT;
	return 0;
}
