#include "explain/cause.h"

#include "explain/rank.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How large the asymmetries of each sort are, 0 where there is none. */
struct signs {
	double absent, work, latency, trouble;
	double received, sent, congestion, loss, errors;
};

static void grow(double *sign, double size)
{
	*sign = fmax(*sign, size);
}

static bool contains_any(const char *text, const char *const *words)
{
	for (; *words; words++) {
		if (strcasestr(text, *words))
			return true;
	}
	return false;
}

/* Work of a network: which way? What does not say is taken for either. */
static void add_direction(struct signs *signs, const char *metric, double size)
{
	static const char *const in[] = {"rx", "rcv", "recv", "receive", "input", NULL};
	static const char *const out[] = {"tx", "snd", "sent", "send", "transmit", "output", NULL};

	if (contains_any(metric, in))
		grow(&signs->received, size);
	else if (contains_any(metric, out))
		grow(&signs->sent, size);
	grow(&signs->work, size);
}

static void add_trouble(struct signs *signs, const char *metric, double size)
{
	static const char *const bad[] = {"err", "fram", "carr", "fifo", "crc", "coll", NULL};

	grow(&signs->trouble, size);
	grow(contains_any(metric, bad) ? &signs->errors : &signs->loss, size);
}

static void add_sign(const struct inquiry *q, struct signs *signs, uint32_t finding)
{
	const struct lp_finding *f = &q->v->findings[finding];
	const struct finding_facts *facts = &q->facts[finding];
	const char *metric = q->v->tables[f->metric]->metric;
	double size = fmax(facts->size, 1e-9);
	bool above = f->direction == LP_MARK_ABOVE;

	if (facts->fate == FATE_CLEARED || facts->fate == FATE_WORKLOAD)
		return;
	if (f->direction == LP_MARK_ABSENT)
		grow(&signs->absent, size);
	else if (facts->role == LP_ROLE_WORK && above)
		add_direction(signs, metric, size);
	else if (facts->fate != FATE_CULPRIT)
		return;
	else if (facts->role == LP_ROLE_WINDOW && !above)
		grow(&signs->congestion, size);
	else if ((facts->role == LP_ROLE_LATENCY || facts->role == LP_ROLE_BUSY) && above)
		grow(&signs->latency, size);
	else if (facts->role == LP_ROLE_TROUBLE && above)
		add_trouble(signs, metric, size);
}

/* Is `a` there, and not dwarfed by `b`? */
static bool outranks(double a, double b)
{
	return a > 0 && b < a + RANK_MUCH_LARGER;
}

static const struct cause *storage_cause(const struct signs *s)
{
	double other = fmax(fmax(s->work, s->latency), s->trouble);

	if (s->absent > 0 && s->absent >= other)
		return &cause_lost_path;
	if (outranks(s->work, s->latency))
		return &cause_disk_hog;
	if (s->latency > 0)
		return &cause_disk_busy;
	return s->trouble > 0 ? &cause_disk_errors : &cause_unknown;
}

static const struct cause *network_cause(const struct signs *s)
{
	double loss = fmax(s->congestion, s->loss);
	double both = fmin(s->received, s->sent);

	if (s->absent > 0 && s->absent >= fmax(fmax(s->work, loss), s->errors))
		return &cause_lost_path;
	if (outranks(both, loss) || (s->work > 0 && loss <= 0))
		return &cause_network_hog;
	if (loss > 0)
		return &cause_packet_loss;
	if (s->errors > 0)
		return &cause_bad_link;
	return s->latency > 0 ? &cause_slow_link : &cause_unknown;
}

/* Suspects and findings of each observer, side by side. */
struct by_observer {
	uint32_t *first_finding, *findings; /* findings[first[o] .. first[o + 1] - 1] */
	uint32_t *first_suspect, *suspects;
};

static void by_observer_release(struct by_observer *b)
{
	free(b->first_finding);
	free(b->findings);
	free(b->first_suspect);
	free(b->suspects);
}

typedef uint32_t (*component_fn)(const struct lp_verdict *v, uint32_t i);

static uint32_t finding_component(const struct lp_verdict *v, uint32_t i)
{
	return v->findings[i].component;
}

static uint32_t suspect_component(const struct lp_verdict *v, uint32_t i)
{
	return v->suspects[i].component;
}

/* A counting sort by observer. */
static int sort_by_observer(const struct inquiry *q, component_fn component, uint32_t n,
	uint32_t **ret_first, uint32_t **ret_items)
{
	uint32_t *first = calloc((size_t)q->n_observers + 2, sizeof(*first));
	uint32_t *items = calloc((size_t)n + 1, sizeof(*items));

	*ret_first = first;
	*ret_items = items;
	if (!first || !items)
		return -ENOMEM;
	/* Two places ahead, so that filling moves each start to where it belongs. */
	for (uint32_t i = 0; i < n; i++)
		first[q->observer[component(q->v, i)] + 2]++;
	for (uint32_t o = 2; o <= q->n_observers + 1; o++)
		first[o] += first[o - 1];
	for (uint32_t i = 0; i < n; i++)
		items[first[q->observer[component(q->v, i)] + 1]++] = i;
	return 0;
}

/* The resource that a suspect's component is part of. */
static enum resource suspect_resource(const struct inquiry *q, const struct lp_suspect *s)
{
	return s->n_findings ? q->facts[s->findings[0]].resource : RESOURCE_OTHER;
}

/* The findings of the same resource on the same observer at the same time. */
static struct signs network_signs(
	const struct inquiry *q, const struct by_observer *by, const struct lp_suspect *s)
{
	uint32_t o = q->observer[s->component];
	struct signs signs = {0};

	for (uint32_t i = by->first_finding[o]; i < by->first_finding[o + 1]; i++) {
		const struct lp_finding *f = &q->v->findings[by->findings[i]];

		if (q->facts[by->findings[i]].resource == RESOURCE_NETWORK &&
			(f->component == s->component || f->direction != LP_MARK_ABSENT) &&
			times_overlap(s->first_us, s->last_us, f->first_us, f->last_us))
			add_sign(q, &signs, by->findings[i]);
	}
	return signs;
}

static const struct cause *own_cause(
	const struct inquiry *q, const struct by_observer *by, const struct lp_suspect *s)
{
	enum resource resource = suspect_resource(q, s);
	struct signs signs = {0};

	if (resource == RESOURCE_NETWORK) {
		signs = network_signs(q, by, s);
		return network_cause(&signs);
	}
	for (uint32_t i = q->first_of[s->component]; i < q->first_of[s->component + 1]; i++)
		add_sign(q, &signs, q->by_component[i]);
	if (resource == RESOURCE_STORAGE)
		return storage_cause(&signs);
	return signs.absent > 0 ? &cause_lost_path : &cause_unknown;
}

/* The largest asymmetry that speaks against a suspect. */
static double suspect_size(const struct inquiry *q, const struct lp_suspect *s)
{
	double size = 0;

	for (uint32_t i = 0; i < s->n_findings; i++)
		size = fmax(size, q->facts[s->findings[i]].size);
	return size;
}

/* Does the trouble of `s` follow from that of `other`, another resource of the same observer at the
 * same time? Storage comes before the network, unless the network's asymmetry is much larger. */
static bool follows_from(
	const struct inquiry *q, const struct lp_suspect *s, const struct lp_suspect *other)
{
	enum resource a = suspect_resource(q, s), b = suspect_resource(q, other);
	double size = suspect_size(q, s), size_other = suspect_size(q, other);

	if (a == b || a == RESOURCE_OTHER || b == RESOURCE_OTHER || cause_is_absence(s->cause) ||
		cause_is_absence(other->cause) ||
		!times_overlap(s->first_us, s->last_us, other->first_us, other->last_us))
		return false;
	return b == RESOURCE_STORAGE ? outranks(size_other, size) : !outranks(size, size_other);
}

/* The worst of the suspects of its observer that a suspect follows from. */
static uint32_t find_leader(const struct inquiry *q, const struct by_observer *by, uint32_t suspect)
{
	const struct lp_suspect *s = &q->v->suspects[suspect];
	uint32_t o = q->observer[s->component], best = UINT32_MAX;

	for (uint32_t i = by->first_suspect[o]; i < by->first_suspect[o + 1]; i++) {
		const struct lp_suspect *other = &q->v->suspects[by->suspects[i]];

		if (by->suspects[i] != suspect && follows_from(q, s, other) &&
			(best == UINT32_MAX || other->severity > q->v->suspects[best].severity))
			best = by->suspects[i];
	}
	return best;
}

/* What follows from another's trouble has that one's cause. A leader may itself follow (three
 * suspects, two resources): then the network's small asymmetry, the storage's and the network's
 * large one stand in a row, and only the first step is taken. */
static void take_leaders_causes(struct inquiry *q)
{
	for (uint32_t i = 0; i < q->v->n_suspects; i++) {
		uint32_t leader = q->follows[i];

		if (leader != UINT32_MAX && q->follows[leader] != UINT32_MAX)
			q->follows[i] = q->follows[leader] == i ? UINT32_MAX : q->follows[leader];
	}
	for (uint32_t i = 0; i < q->v->n_suspects; i++) {
		if (q->follows[i] != UINT32_MAX)
			q->v->suspects[i].cause = q->v->suspects[q->follows[i]].cause;
	}
}

int cause_assign(struct inquiry *q, struct lp_err *err)
{
	struct lp_verdict *v = q->v;
	struct by_observer by = {0};
	int r;

	q->follows = calloc(v->n_suspects + 1, sizeof(*q->follows));
	r = q->follows ? 0 : -ENOMEM;
	if (r == 0)
		r = sort_by_observer(
			q, finding_component, v->n_findings, &by.first_finding, &by.findings);
	if (r == 0)
		r = sort_by_observer(
			q, suspect_component, v->n_suspects, &by.first_suspect, &by.suspects);
	for (uint32_t i = 0; r == 0 && i < v->n_suspects; i++)
		v->suspects[i].cause = own_cause(q, &by, &v->suspects[i])->name;
	for (uint32_t i = 0; r == 0 && i < v->n_suspects; i++)
		q->follows[i] = find_leader(q, &by, i);
	if (r == 0)
		take_leaders_causes(q);
	by_observer_release(&by);
	return r < 0 ? lp_err_sys(err, r, "cannot find causes") : 0;
}

const struct cause *cause_of_asymmetry(const struct inquiry *q, const struct lp_suspect *s)
{
	const struct lp_finding *f;
	const struct finding_facts *facts;
	bool above;

	for (uint32_t i = 0; i < s->n_findings; i++) {
		if (q->facts[s->findings[i]].fate == FATE_WORKLOAD)
			return &cause_server_workload;
	}
	if (!s->n_findings)
		return &cause_unknown;
	f = &q->v->findings[s->findings[0]];
	facts = &q->facts[s->findings[0]];
	above = f->direction == LP_MARK_ABOVE;
	if (facts->role == LP_ROLE_WORK)
		return above ? &cause_imbalanced : &cause_less_loaded;
	if (f->explained_by_load)
		return &cause_imbalanced;
	if (facts->role == LP_ROLE_BUSY && !above)
		return &cause_less_loaded;
	return above != (facts->role == LP_ROLE_WINDOW) ? &cause_unknown : &cause_faster;
}

bool cause_matches(const struct inquiry *q, const char *cause, uint32_t finding)
{
	struct signs signs = {0};
	const struct cause *own;

	add_sign(q, &signs, finding);
	own = q->facts[finding].resource == RESOURCE_NETWORK ? network_cause(&signs)
							     : storage_cause(&signs);
	return !strcmp(own->name, cause);
}
