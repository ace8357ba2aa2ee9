#include "explain/cause.h"

#include "base/cleanup.h"
#include "detect/group/verdict_tables.h"
#include "detect/traffic.h"
#include "explain/behaviour.h"
#include "explain/evidence.h"
#include "explain/excess_traffic.h"
#include "explain/rank.h"
#include "explain/semantic_join.h"
#include "model/metric_role.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The log2 of the ratio of round trips, nearly three times as long: lost packets are acknowledged
 * late, which alone may double the round trip. */
#define DELAY_LEAST 1.5

/* The size of the asymmetries of each kind; 0: none. */
struct signs {
	double absent, work, latency, trouble;
	double received, sent, congestion, loss, errors, unread, starved;
	double delay;	 /* of round trips, as measured by the observer itself */
	double messages; /* of whole requests and responses, whatever the reason for the delay */
	double excess;	 /* see excess_traffic.h: a share, not a size */
	double unasked;	 /* the part of it that no client asked for: traffic.h */
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

/* The direction of network traffic. A metric without one counts as both. */
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
	if (!strcmp(metric, "unread"))
		grow(&signs->unread, size);
	else if (!strcmp(metric, "psi_cpu"))
		grow(&signs->starved, size);
	else
		grow(contains_any(metric, bad) ? &signs->errors : &signs->loss, size);
}

/* A server that is slow to answer acknowledges late, so the round trips that other hosts measure
 * depend on its disks as much as on its link. Its own measurements do not. */
static bool is_far_view(const struct explain_context *ctx, uint32_t component)
{
	return pool_is_far_view(ctx->v->components[component]);
}

static void add_sign(const struct explain_context *ctx, struct signs *signs, uint32_t finding)
{
	const struct lp_finding *f = &ctx->v->findings[finding];
	const struct finding_facts *facts = &ctx->facts[finding];
	const char *metric = ctx->v->tables[f->metric]->metric;
	double size = fmax(facts->size, 1e-9);
	bool above = f->direction == LP_MARK_ABOVE;

	if (facts->fate == FATE_CLEARED || facts->fate == FATE_WORKLOAD)
		return;
	if (f->direction == LP_MARK_ABSENT)
		grow(&signs->absent, size);
	else if (facts->role == LP_ROLE_WORK && above) {
		add_direction(signs, metric, size);
		if (facts->resource == RESOURCE_NETWORK && facts->fate == FATE_CULPRIT)
			grow(&signs->excess, excess_traffic_share(ctx, finding));
	} else if (facts->fate != FATE_CULPRIT)
		return;
	else if (facts->role == LP_ROLE_WINDOW && !above)
		grow(&signs->congestion, size);
	else if (facts->role == LP_ROLE_SERVICE && facts->resource == RESOURCE_NETWORK && above)
		grow(&signs->messages, size);
	else if (facts->role == LP_ROLE_YIELD && !above)
		grow(&signs->latency, size);
	else if (role_is_slowness(facts->role) && above) {
		grow(&signs->latency, size);
		if (!is_far_view(ctx, f->component))
			grow(&signs->delay, size);
	} else if (facts->role == LP_ROLE_TROUBLE && above)
		add_trouble(signs, metric, size);
}

/* Is `a` present, and not much smaller than `b`? */
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

	if (s->absent > 0 && s->absent >= fmax(fmax(s->work, loss), fmax(s->errors, s->unread)))
		return &cause_lost_path;
	if (outranks(both, loss) || (s->work > 0 && loss <= 0))
		return &cause_network_hog;
	/* A full link causes retransmits, and also a small congestion window if that is by far the
	 * smaller asymmetry, or if no client asked for most of the traffic. */
	if (s->excess >= EXCESS_TRAFFIC_SHARE &&
		(s->congestion <= 0 || !outranks(s->congestion, s->work) ||
			s->unasked > EXCESS_TRAFFIC_MOST))
		return &cause_network_hog;
	/* Loss does not delay other packets. A queue in front of a slow link causes both.
	 */
	if (s->delay >= DELAY_LEAST && loss > 0)
		return &cause_slow_link;
	if (outranks(s->unread, loss))
		return &cause_server_hung;
	if (loss > 0)
		return &cause_packet_loss;
	if (s->errors > 0)
		return &cause_bad_link;
	if (s->latency > 0)
		return &cause_slow_link;
	return s->messages > 0 ? &cause_slow_network : &cause_unknown;
}

static const struct cause *host_cause(const struct signs *s)
{
	if (s->absent > 0 && s->absent >= s->starved)
		return &cause_lost_path;
	return s->starved > 0 ? &cause_cpu_hog : &cause_unknown;
}

static const struct cause *resource_cause(enum resource resource, const struct signs *s)
{
	switch (resource) {
	case RESOURCE_STORAGE:
		return storage_cause(s);
	case RESOURCE_HOST:
		return host_cause(s);
	case RESOURCE_NETWORK:
		return network_cause(s);
	default:
		return s->absent > 0 ? &cause_lost_path : &cause_unknown;
	}
}

/* Suspects and findings, grouped by observer. */
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
static int sort_by_observer(const struct explain_context *ctx, component_fn component, uint32_t n,
	uint32_t **ret_first, uint32_t **ret_items)
{
	uint32_t *first = calloc((size_t)ctx->n_observers + 2, sizeof(*first));
	uint32_t *items = calloc((size_t)n + 1, sizeof(*items));

	*ret_first = first;
	*ret_items = items;
	if (!first || !items)
		return -ENOMEM;
	/* Shifted by two, so that filling moves each start to its right value. */
	for (uint32_t i = 0; i < n; i++)
		first[ctx->observer[component(ctx->v, i)] + 2]++;
	for (uint32_t o = 2; o <= ctx->n_observers + 1; o++)
		first[o] += first[o - 1];
	for (uint32_t i = 0; i < n; i++)
		items[first[ctx->observer[component(ctx->v, i)] + 1]++] = i;
	return 0;
}

/* Was it found in system calls? */
static bool is_of_calls(const struct explain_context *ctx, const struct lp_suspect *s)
{
	return s->n_findings && ctx->facts[s->findings[0]].of_calls;
}

/* The resource of a suspect's component. Calls use several resources: the first in the enum counts,
 * unless the asymmetry of another one is much larger. */
static enum resource suspect_resource(const struct explain_context *ctx, const struct lp_suspect *s)
{
	double sizes[N_RESOURCES] = {0};

	for (uint32_t i = 0; i < s->n_findings; i++)
		grow(&sizes[ctx->facts[s->findings[i]].resource],
			fmax(ctx->facts[s->findings[i]].size, 1e-9));
	for (int r = RESOURCE_OTHER + 1; r < N_RESOURCES; r++) {
		double others = 0;

		for (int o = r + 1; o < N_RESOURCES; o++)
			grow(&others, sizes[o]);
		if (outranks(sizes[r], others))
			return (enum resource)r;
	}
	return RESOURCE_OTHER;
}

/* The same for trouble that may explain other trouble, or follow from it: for a host, only a lack
 * of CPU counts. */
static enum resource suspect_trouble(const struct explain_context *ctx, const struct lp_suspect *s)
{
	enum resource resource = suspect_resource(ctx, s);

	return resource == RESOURCE_HOST && strcmp(s->cause, cause_cpu_hog.name) != 0
		? RESOURCE_OTHER
		: resource;
}

/* The findings of a resource on the suspect's observer at the same time. */
static struct signs observer_signs(const struct explain_context *ctx, const struct by_observer *by,
	const struct lp_suspect *s, enum resource resource)
{
	uint32_t o = ctx->observer[s->component];
	struct signs signs = {0};

	for (uint32_t i = by->first_finding[o]; i < by->first_finding[o + 1]; i++) {
		const struct lp_finding *f = &ctx->v->findings[by->findings[i]];

		if (ctx->facts[by->findings[i]].resource == resource &&
			(f->component == s->component || f->direction != LP_MARK_ABSENT) &&
			times_overlap(s->first_us, s->last_us, f->first_us, f->last_us))
			add_sign(ctx, &signs, by->findings[i]);
	}
	return signs;
}

/* All evidence about the network of an observer is about one network, and calls use all resources.
 * A disk is judged by itself. */
static const struct cause *own_cause(
	const struct explain_context *ctx, const struct by_observer *by, const struct lp_suspect *s)
{
	const struct lp_finding *behaviour = behaviour_finding(ctx, s);
	enum resource resource = suspect_resource(ctx, s);
	bool together = resource == RESOURCE_NETWORK || is_of_calls(ctx, s);
	struct signs signs = {0};

	if (behaviour)
		return behaviour_cause(ctx, behaviour);
	if (together)
		signs = observer_signs(ctx, by, s, resource);
	/* Traffic that fills a link need not be a multiple of the peers' to explain lost packets.
	 */
	if (resource == RESOURCE_NETWORK) {
		signs.unasked = traffic_excess(ctx->v, s->component, s->first_us, s->last_us);
		grow(&signs.excess, signs.unasked);
	}
	for (uint32_t i = ctx->first_of[s->component];
		!together && i < ctx->first_of[s->component + 1]; i++)
		add_sign(ctx, &signs, ctx->by_component[i]);
	/* A component that limps and is sometimes absent gets the cause for its limping. */
	if (s->level != LP_LEVEL_ABSENT)
		signs.absent = 0;
	return resource_cause(resource, &signs);
}

/* The largest asymmetry against a suspect. */
static double suspect_size(const struct explain_context *ctx, const struct lp_suspect *s)
{
	double size = 0;

	for (uint32_t i = 0; i < s->n_findings; i++)
		size = fmax(size, ctx->facts[s->findings[i]].size);
	return size;
}

/* A server that reads nothing does nothing, so its disks and interfaces are idle. */
static bool is_idle_because(const struct explain_context *ctx, const struct lp_suspect *s,
	const struct lp_suspect *other)
{
	return !strcmp(other->cause, cause_server_hung.name) && cause_is_absence(s->cause) &&
		!ctx->facts[s->findings[0]].no_data;
}

/* A disk causes neither additional traffic nor a queue in front of the link. But both make requests
 * arrive in bursts, which can make a disk slightly slower. */
static bool is_beyond_disks(const struct explain_context *ctx, const struct lp_suspect *network,
	const struct lp_suspect *disk)
{
	bool slow_link = !strcmp(network->cause, cause_slow_link.name) &&
		!is_far_view(ctx, network->component);

	return (slow_link || !strcmp(network->cause, cause_network_hog.name)) &&
		!strcmp(disk->cause, cause_disk_busy.name) &&
		suspect_size(ctx, network) > suspect_size(ctx, disk);
}

/* Does resource `a` have precedence over `b`? The first in the enum has, unless the asymmetry of
 * the other is much larger. A slow disk or processor prevents a server from reading arriving data,
 * however large that asymmetry is; never the other way round. */
static bool comes_before(
	const struct explain_context *ctx, const struct lp_suspect *a, const struct lp_suspect *b)
{
	double size_a = suspect_size(ctx, a), size_b = suspect_size(ctx, b);

	if (!strcmp(b->cause, cause_server_hung.name))
		return true;
	if (!strcmp(a->cause, cause_server_hung.name) || is_beyond_disks(ctx, b, a))
		return false;
	if (is_beyond_disks(ctx, a, b))
		return true;
	return suspect_resource(ctx, a) < suspect_resource(ctx, b) ? outranks(size_a, size_b)
								   : !outranks(size_b, size_a);
}

/* Does the trouble of `s` follow from that of `other`, another resource of the same observer at the
 * same time? Calls are slow because something below them is slow. Evidence from a device, a link or
 * a host is more precise, and never follows from calls. */
static bool follows_from(const struct explain_context *ctx, const struct lp_suspect *s,
	const struct lp_suspect *other)
{
	enum resource a = suspect_trouble(ctx, s), b = suspect_trouble(ctx, other);

	if (context_semantic(ctx, s) || context_semantic(ctx, other))
		return semantic_explains(ctx, s, other);
	if (!times_overlap(s->first_us, s->last_us, other->first_us, other->last_us))
		return false;
	if (is_idle_because(ctx, s, other))
		return true;
	if (is_of_calls(ctx, s) != is_of_calls(ctx, other))
		return is_of_calls(ctx, s) && b != RESOURCE_OTHER &&
			!cause_is_absence(other->cause);
	if (a == b || a == RESOURCE_OTHER || b == RESOURCE_OTHER || cause_is_absence(s->cause) ||
		cause_is_absence(other->cause))
		return false;
	return comes_before(ctx, other, s);
}

/* Is `a` a better leader of a suspect than `b`? A leader of the same resource is better; then the
 * worse one. */
static bool is_better_leader(const struct explain_context *ctx, const struct lp_suspect *s,
	const struct lp_suspect *a, const struct lp_suspect *b)
{
	enum resource own = suspect_resource(ctx, s);
	bool same_a = suspect_resource(ctx, a) == own, same_b = suspect_resource(ctx, b) == own;

	return same_a != same_b ? same_a : a->severity > b->severity;
}

/* The suspect on the same observer that a suspect follows from. */
static uint32_t find_leader(
	const struct explain_context *ctx, const struct by_observer *by, uint32_t suspect)
{
	const struct lp_suspect *s = &ctx->v->suspects[suspect];
	uint32_t o = ctx->observer[s->component], best = UINT32_MAX;

	for (uint32_t i = by->first_suspect[o]; i < by->first_suspect[o + 1]; i++) {
		const struct lp_suspect *other = &ctx->v->suspects[by->suspects[i]];

		if (by->suspects[i] != suspect && follows_from(ctx, s, other) &&
			(best == UINT32_MAX ||
				is_better_leader(ctx, s, other, &ctx->v->suspects[best])))
			best = by->suspects[i];
	}
	return best;
}

/* The first suspect in a chain of consequences of any length. Three resources may form a cycle;
 * then the worst suspect of the cycle. */
static uint32_t find_root(const struct explain_context *ctx, uint32_t suspect)
{
	uint32_t at = suspect, root;

	for (uint32_t i = 0; i < ctx->v->n_suspects && ctx->follows[at] != UINT32_MAX; i++)
		at = ctx->follows[at];
	if (ctx->follows[at] == UINT32_MAX)
		return at;
	root = at;
	for (uint32_t i = ctx->follows[at]; i != at; i = ctx->follows[i])
		root = i < root ? i : root;
	return root;
}

/* A suspect that follows from another one gets its cause. */
static int take_leaders_causes(struct explain_context *ctx)
{
	_cleanup_free_ uint32_t *roots = calloc((size_t)ctx->v->n_suspects + 1, sizeof(*roots));

	if (!roots)
		return -ENOMEM;
	for (uint32_t i = 0; i < ctx->v->n_suspects; i++)
		roots[i] = find_root(ctx, i);
	for (uint32_t i = 0; i < ctx->v->n_suspects; i++) {
		ctx->follows[i] = roots[i] == i ? UINT32_MAX : roots[i];
		ctx->v->suspects[i].cause = ctx->v->suspects[roots[i]].cause;
	}
	return 0;
}

int cause_assign(struct explain_context *ctx, struct lp_err *err)
{
	struct lp_verdict *v = ctx->v;
	struct by_observer by = {0};
	int r;

	ctx->follows = calloc(v->n_suspects + 1, sizeof(*ctx->follows));
	r = ctx->follows ? 0 : -ENOMEM;
	if (r == 0)
		r = sort_by_observer(
			ctx, finding_component, v->n_findings, &by.first_finding, &by.findings);
	if (r == 0)
		r = sort_by_observer(
			ctx, suspect_component, v->n_suspects, &by.first_suspect, &by.suspects);
	for (uint32_t i = 0; r == 0 && i < v->n_suspects; i++) {
		const struct semantic_finding *f = context_semantic(ctx, &v->suspects[i]);

		v->suspects[i].cause = f ? f->cause : own_cause(ctx, &by, &v->suspects[i])->name;
	}
	for (uint32_t i = 0; r == 0 && i < v->n_suspects; i++)
		ctx->follows[i] = find_leader(ctx, &by, i);
	if (r == 0)
		r = take_leaders_causes(ctx);
	by_observer_release(&by);
	return r < 0 ? lp_err_sys(err, r, "cannot find causes") : 0;
}

const struct cause *cause_of_warning(const struct explain_context *ctx, const struct lp_suspect *s)
{
	switch (suspect_resource(ctx, s)) {
	case RESOURCE_STORAGE:
		return &cause_disk_busy;
	case RESOURCE_NETWORK:
		return &cause_slow_link;
	default:
		return &cause_unknown;
	}
}

const struct cause *cause_of_asymmetry(
	const struct explain_context *ctx, const struct lp_suspect *s)
{
	const struct lp_finding *f;
	const struct finding_facts *facts;
	bool above;

	for (uint32_t i = 0; i < s->n_findings; i++) {
		if (ctx->facts[s->findings[i]].fate == FATE_WORKLOAD)
			return &cause_server_workload;
	}
	if (!s->n_findings)
		return &cause_unknown;
	f = &ctx->v->findings[s->findings[0]];
	facts = &ctx->facts[s->findings[0]];
	above = f->direction == LP_MARK_ABOVE;
	if (facts->role == LP_ROLE_WORK && evidence_is_alike(f))
		return &cause_unknown;
	if (facts->role == LP_ROLE_WORK)
		return above ? &cause_imbalanced : &cause_less_loaded;
	if (f->explained_by_load)
		return &cause_imbalanced;
	if (f->explained_by_idle)
		return &cause_less_idle;
	if (facts->role == LP_ROLE_BUSY && !above)
		return &cause_less_loaded;
	return above != role_is_worse_below(facts->role) ? &cause_unknown : &cause_faster;
}

bool cause_matches(const struct explain_context *ctx, const char *cause, uint32_t finding)
{
	struct signs signs = {0};
	const struct cause *own;

	add_sign(ctx, &signs, finding);
	own = resource_cause(ctx->facts[finding].resource, &signs);
	return !strcmp(own->name, cause);
}
