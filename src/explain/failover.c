#include "explain/failover.h"

#include "base/cleanup.h"
#include "base/hash.h"
#include "explain/cause.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* So much more than peers that do nothing that counts. */
#define IDLE_RATIO 4.0

#define KEY_BYTES 512

/* Lost paths by LUN: the first of a LUN, and for each the next. */
struct lost {
	struct strmap first;
	uint32_t *next; /* [suspect] */
};

static void lost_release(struct lost *l)
{
	strmap_release(&l->first);
	free(l->next);
}

/* What names the LUN of a component; false if nothing does. */
static bool lun_key(const struct inquiry *q, uint32_t component, char key[KEY_BYTES])
{
	const char *name = q->v->components[component], *slash = strchr(name, '/');
	char lun[256];

	if (q->topology && topology_attribute(q->topology, name, "lun", lun, sizeof(lun))) {
		snprintf(key, KEY_BYTES, "lun:%s", lun);
		return true;
	}
	if (!slash || !q->topology || !topology_issuer(q->topology))
		return false;
	snprintf(key, KEY_BYTES, "%s", slash);
	return true;
}

static int list_lost(struct lost *l, const struct inquiry *q)
{
	const struct lp_verdict *v = q->v;

	l->next = calloc((size_t)v->n_suspects + 1, sizeof(*l->next));
	if (!l->next)
		return -ENOMEM;
	for (uint32_t i = v->n_suspects; i-- > 0;) {
		char key[KEY_BYTES];

		l->next[i] = UINT32_MAX;
		if (!cause_is_absence(v->suspects[i].cause) ||
			!lun_key(q, v->suspects[i].component, key))
			continue;
		strmap_get(&l->first, key, &l->next[i]);
		if (strmap_put(&l->first, key, i) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Is it above peers that idle, in work alone or in whatever work brings about? */
static bool is_above_idle(const struct inquiry *q, const struct lp_suspect *s, bool in_work)
{
	for (uint32_t i = q->first_of[s->component]; i < q->first_of[s->component + 1]; i++) {
		uint32_t finding = q->by_component[i];
		const struct lp_finding *f = &q->v->findings[finding];
		enum lp_role role = q->facts[finding].role;
		bool meant = role == LP_ROLE_WORK ||
			(!in_work && (role == LP_ROLE_LATENCY || role == LP_ROLE_BUSY));

		if (meant && f->direction == LP_MARK_ABOVE &&
			q->facts[finding].fate != FATE_CLEARED && f->ratio >= IDLE_RATIO &&
			f->peers <= fmax(q->facts[finding].floor, 0))
			return true;
	}
	return false;
}

/* The lost path whose load this suspect carries. */
static uint32_t find_lost(const struct inquiry *q, const struct lost *l, const struct lp_suspect *s)
{
	uint32_t other = UINT32_MAX;
	char key[KEY_BYTES];

	if (!lun_key(q, s->component, key) || !strmap_get(&l->first, key, &other))
		return UINT32_MAX;
	for (; other != UINT32_MAX; other = l->next[other]) {
		const struct lp_suspect *o = &q->v->suspects[other];

		if (o->group != s->group && o->component != s->component &&
			times_overlap(o->first_us, o->last_us, s->first_us, s->last_us))
			return other;
	}
	return UINT32_MAX;
}

int failover_find(struct inquiry *q, struct lp_err *err)
{
	_cleanup_(lost_release) struct lost l = {0};
	struct lp_verdict *v = q->v;

	if (!q->topology)
		return 0;
	if (list_lost(&l, q) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot list lost paths");
	for (uint32_t i = 0; i < v->n_suspects; i++) {
		struct lp_suspect *s = &v->suspects[i];
		uint32_t other;

		if (cause_is_absence(s->cause) || !is_above_idle(q, s, false))
			continue;
		other = find_lost(q, &l, s);
		/* Slowness alone is no sign of load that moved. */
		if (other == UINT32_MAX &&
			(!topology_issuer(q->topology) || !is_above_idle(q, s, true)))
			continue;
		q->follows[i] = other;
		s->cause = cause_lost_path.name;
	}
	return 0;
}
