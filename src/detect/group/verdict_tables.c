#include "detect/group/verdict_tables.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/idmap.h"
#include "model/vector_view.h"
#include <errno.h>
#include <limpet/metric.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The numbers of components, by identity: tables that were made together share identities, so their
 * texts need not be compared. */
struct component_numbers {
	struct strmap by_text;
	struct idmap by_identity;
	size_t cap;
};

static void numbers_release(struct component_numbers *n)
{
	strmap_release(&n->by_text);
	idmap_release(&n->by_identity);
}

static uint64_t identity_key(const struct lp_identity *component)
{
	return (uint64_t)(uintptr_t)component;
}

/* Add a component that has no number yet. */
static int component_add(struct lp_verdict *v, const struct lp_identity *component,
	struct component_numbers *numbers)
{
	if (array_reserve(&v->components, &numbers->cap, (size_t)v->n_components + 1,
		    sizeof(struct lp_identity *)) < 0 ||
		strmap_put(&numbers->by_text, component->text, v->n_components) < 0)
		return -ENOMEM;
	v->components[v->n_components++] = lp_identity_ref(component);
	return 0;
}

/* Give every component of a table a number. */
static int components_number(
	struct lp_verdict *v, const struct lp_table *t, struct component_numbers *numbers)
{
	for (uint32_t i = 0; i < t->n_components; i++) {
		const struct lp_identity *component = t->components[i];
		uint32_t number = v->n_components;

		if (idmap_get(&numbers->by_identity, identity_key(component), &number))
			continue;
		if (!strmap_get(&numbers->by_text, component->text, &number) &&
			component_add(v, component, numbers) < 0)
			return -ENOMEM;
		if (idmap_put(&numbers->by_identity, identity_key(component), number) < 0)
			return -ENOMEM;
	}
	return 0;
}

static uint32_t *rows_find(const struct lp_verdict *v, const struct lp_table *t,
	const struct component_numbers *numbers)
{
	uint32_t *rows = calloc((size_t)v->n_components + 1, sizeof(*rows)), number;

	if (!rows)
		return NULL;
	for (uint32_t i = 0; i < v->n_components; i++)
		rows[i] = UINT32_MAX;
	for (uint32_t i = 0; i < t->n_components; i++) {
		if (idmap_get(&numbers->by_identity, identity_key(t->components[i]), &number))
			rows[number] = i;
	}
	return rows;
}

int verdict_own_tables(
	struct lp_verdict *v, struct lp_table **tables, uint32_t n_tables, struct lp_err *err)
{
	_cleanup_(numbers_release) struct component_numbers numbers = {0};
	int r = 0;

	v->tables = tables;
	v->n_tables = n_tables;
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): this is an array of pointers */
	v->row_of = calloc((size_t)n_tables + 1, sizeof(*v->row_of));
	if (!v->row_of)
		r = -ENOMEM;
	for (uint32_t t = 0; r == 0 && t < n_tables; t++)
		r = components_number(v, tables[t], &numbers);
	for (uint32_t t = 0; r == 0 && t < n_tables; t++) {
		v->row_of[t] = rows_find(v, tables[t], &numbers);
		r = v->row_of[t] ? 0 : -ENOMEM;
	}
	return r < 0 ? lp_err_sys(err, r, "cannot take over the tables") : 0;
}

/* The number of requests that a traced server reads. An observer that reads any is not only a
 * client. */
#define REQUESTS "nsreads"

enum { SERVES, ASKS };

/* Note the observers that send requests to recorded observers. */
static int askers_note(
	struct strmap *observers, const struct lp_table *t, const struct hosts *hosts)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < t->n_components; i++) {
		struct connection c;
		const char *remote = peer_parse(t->components[i], &c) && c.end == CONNECTION_REMOTE
			? hosts_find(hosts, c.address)
			: NULL;

		if (remote && strcmp(remote, c.observer) != 0)
			r = strmap_put(observers, c.observer, ASKS);
	}
	return r;
}

static int servers_note(struct strmap *observers, const struct lp_table *t)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < t->n_components; i++) {
		bool any = false;

		for (uint32_t s = 0; s < t->n_slots; s++)
			any |= t->values[(size_t)i * t->n_slots + s] > 0;
		if (any)
			r = strmap_put(observers, t->components[i]->observer, SERVES);
	}
	return r;
}

static bool is_asker(const struct strmap *observers, const struct lp_identity *component)
{
	uint32_t what;

	return strmap_get(observers, component->observer, &what) && what == ASKS;
}

static bool is_storage_time(const struct lp_table *t)
{
	const struct lp_metric *m = lp_metric_find("sys", t->metric);

	return m && m->role == LP_ROLE_SERVICE && !strcmp(m->resource, "storage");
}

static void rows_drop(struct lp_table *t, const struct strmap *observers)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n_components; i++) {
		if (is_asker(observers, t->components[i])) {
			lp_identity_unref(t->components[i]);
			continue;
		}
		t->components[n] = t->components[i];
		memmove(t->values + (size_t)n * t->n_slots, t->values + (size_t)i * t->n_slots,
			t->n_slots * sizeof(*t->values));
		n++;
	}
	t->n_components = n;
}

int clients_drop(
	struct lp_table **tables, uint32_t n, const struct hosts *hosts, struct lp_err *err)
{
	struct strmap observers = {0};
	bool known = false;
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < n; i++)
		r = askers_note(&observers, tables[i], hosts);
	for (uint32_t i = 0; r == 0 && i < n; i++) {
		if (strcmp(tables[i]->metric, REQUESTS) != 0)
			continue;
		known = true;
		r = servers_note(&observers, tables[i]);
	}
	for (uint32_t i = 0; r == 0 && known && i < n; i++) {
		if (is_storage_time(tables[i]))
			rows_drop(tables[i], &observers);
	}
	strmap_release(&observers);
	return r < 0 ? lp_err_sys(err, r, "cannot tell clients from servers") : 0;
}

bool pool_is_far_view(const struct lp_identity *component)
{
	struct connection c;

	return connection_parse(component, &c) && c.end == CONNECTION_PEERS;
}

/* How the values of a metric are combined, and what they say about the far end of a connection. */
struct manner {
	bool sum;    /* else they are averaged */
	bool joined; /* the view of the far end is added to its own row, too */
	bool apart;  /* the view of the far end's peers becomes a row */
};

/* The observers that accept connections of recorded observers, and whether any observer only opens
 * connections. */
struct ends {
	const struct hosts *hosts;
	struct strmap accepts;
	bool clients;
};

/* A table in the making. */
struct pool {
	const struct lp_table *from;
	const struct lp_table *weights; /* of its values; NULL: all weigh the same */
	struct strmap weight_rows;
	struct manner manner;
	struct strmap rows;
	struct lp_identity **components;
	uint32_t n;
	size_t cap_components, cap_values, cap_counts;
	double *values;
	double *counts; /* [the same] the number of values, or the sum of their weights */
};

static void pool_release(struct pool *p)
{
	lp_identities_free(p->components, p->n);
	free(p->values);
	free(p->counts);
	strmap_release(&p->rows);
	strmap_release(&p->weight_rows);
}

/* Retransmits count on both ends, because either may be the sender of the lost packets. They also
 * count separately, because a few in one direction do not stand out among many in the other.
 * Windows and times belong to one direction. Unread bytes and work belong to the near end. */
static struct manner manner_of(const char *metric)
{
	const struct lp_metric *m = lp_metric_find("tcp", metric);
	const struct lp_metric *peer = lp_metric_find("peer", metric);

	if (!m && peer)
		return (struct manner){.sum = peer->role == LP_ROLE_WORK};
	if (m && m->role == LP_ROLE_TROUBLE && !strcmp(m->unit, "1/s"))
		return (struct manner){.sum = true, .joined = true, .apart = true};
	if (m && (m->role == LP_ROLE_WINDOW || m->role == LP_ROLE_LATENCY))
		return (struct manner){.apart = true};
	return (struct manner){.sum = !m || strcmp(m->unit, "%") != 0};
}

/* The row of a component, created if it is new. */
static int row_get(struct pool *p, const struct lp_identity *component, uint32_t *ret)
{
	size_t n_slots = p->from->n_slots, n = ((size_t)p->n + 1) * n_slots;

	if (strmap_get(&p->rows, component->text, ret))
		return 0;
	if (array_reserve(&p->components, &p->cap_components, (size_t)p->n + 1,
		    sizeof(struct lp_identity *)) < 0 ||
		array_reserve(&p->values, &p->cap_values, n, sizeof(*p->values)) < 0 ||
		array_reserve(&p->counts, &p->cap_counts, n, sizeof(*p->counts)) < 0)
		return -ENOMEM;
	memset(p->values + n - n_slots, 0, n_slots * sizeof(*p->values));
	memset(p->counts + n - n_slots, 0, n_slots * sizeof(*p->counts));
	p->components[p->n] = lp_identity_ref(component);
	*ret = p->n++;
	return strmap_put(&p->rows, component->text, *ret);
}

/* The weight of each value of a row; NULL: all the same. */
static const double *row_weights(const struct pool *p, uint32_t from)
{
	uint32_t row;

	if (!p->weights || !strmap_get(&p->weight_rows, p->from->components[from]->text, &row))
		return NULL;
	return p->weights->values + (size_t)row * p->weights->n_slots;
}

static int row_add(struct pool *p, const struct lp_identity *component, uint32_t from)
{
	const double *values = p->from->values + (size_t)from * p->from->n_slots;
	const double *weights = row_weights(p, from);
	uint32_t row;
	int r = row_get(p, component, &row);

	for (uint32_t s = 0; r == 0 && s < p->from->n_slots; s++) {
		size_t at = (size_t)row * p->from->n_slots + s;
		double weight = weights ? weights[s] : 1;

		if (isnan(values[s]) || !(weight > 0))
			continue;
		/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): every row has values */
		p->values[at] += weight * values[s];
		p->counts[at] += weight;
	}
	return r;
}

/* The same for a row that combines several. */
static int row_add_pooled(
	struct pool *p, const char *observer, const char *kind, const char *name, uint32_t from)
{
	struct lp_identity *component = lp_identity_new(observer, kind, name, NULL);
	int r = component ? row_add(p, component, from) : -ENOMEM;

	lp_identity_unref(component);
	return r;
}

/* Add a client's view of a server to that server's row, or keep it as it is. */
static int row_pool_peer(
	struct pool *p, uint32_t from, const struct connection *c, const struct hosts *hosts)
{
	const char *remote = hosts_find(hosts, c->address);

	if (c->end != CONNECTION_REMOTE || (remote && !strcmp(remote, c->observer)))
		return row_add(p, p->from->components[from], from);
	return row_add_pooled(p, remote ? remote : c->address, "peer", PEER_CLIENTS, from);
}

/* The observer at the far end of a connection, if it is another one that is recorded. */
static const char *remote_of(
	const struct lp_identity *component, const struct hosts *hosts, struct connection *ret)
{
	const char *remote = NULL;

	if (connection_parse(component, ret) && ret->end == CONNECTION_REMOTE)
		remote = hosts_find(hosts, ret->address);
	return remote && strcmp(remote, ret->observer) != 0 ? remote : NULL;
}

/* Servers also communicate with each other: rarely in some file systems, all the time in others.
 * These connections are not peers of connections with clients. */
static bool between_servers(const struct ends *e, const struct connection *c, const char *remote)
{
	uint32_t yes;

	return e->clients && strmap_get(&e->accepts, c->observer, &yes) &&
		strmap_get(&e->accepts, remote, &yes);
}

static int row_add_end(
	struct pool *p, const char *observer, const char *name, bool out, uint32_t from)
{
	char text[32];

	snprintf(text, sizeof(text), "%s:%s", name, out ? "out" : "in");
	return row_add_pooled(p, observer, "tcp", text, from);
}

/* Add a row of the table to those of both ends, or keep it as it is. */
static int row_pool(struct pool *p, uint32_t from, const struct ends *e)
{
	const struct lp_identity *component = p->from->components[from];
	const char *remote;
	struct connection c;
	bool servers;
	int r;

	if (peer_parse(component, &c))
		return row_pool_peer(p, from, &c, e->hosts);
	remote = remote_of(component, e->hosts, &c);
	if (!remote)
		return row_add(p, component, from);
	servers = between_servers(e, &c, remote);
	/* The times and windows of connections that are nearly idle prove nothing. */
	if (servers && p->manner.apart && !p->manner.joined)
		return 0;
	r = row_add_end(p, c.observer, servers ? POOLED_SERVERS : POOLED_ALL, c.out, from);
	/* Connections that this end opened, and the far end accepted. */
	if (r == 0 && p->manner.joined)
		r = row_add_end(p, remote, servers ? POOLED_SERVERS : POOLED_ALL, !c.out, from);
	if (r == 0 && p->manner.apart)
		r = row_add_end(
			p, remote, servers ? POOLED_SERVER_PEERS : POOLED_PEERS, c.out, from);
	return r;
}

static void pool_finish(struct pool *p)
{
	for (size_t i = 0; i < (size_t)p->n * p->from->n_slots; i++) {
		if (!(p->counts[i] > 0))
			p->values[i] = NAN;
		else if (!p->manner.sum)
			p->values[i] /= p->counts[i];
	}
}

/* Is there anything to pool? Most tables are not about connections. */
static bool has_pairs(const struct lp_table *t, const struct hosts *hosts)
{
	struct connection c;

	for (uint32_t i = 0; i < t->n_components; i++) {
		if (peer_parse(t->components[i], &c) ||
			(connection_parse(t->components[i], &c) && hosts_find(hosts, c.address)))
			return true;
	}
	return false;
}

static int weights_index(struct pool *p)
{
	int r = 0;

	for (uint32_t i = 0; p->weights && r == 0 && i < p->weights->n_components; i++)
		r = strmap_put(&p->weight_rows, p->weights->components[i]->text, i);
	return r;
}

static int table_pool(struct lp_table *t, const struct lp_table *weights, const struct ends *e)
{
	_cleanup_(pool_release) struct pool p = {
		.from = t, .weights = weights, .manner = manner_of(t->metric)};
	struct lp_table old = *t;
	int r = weights_index(&p);

	for (uint32_t i = 0; r == 0 && i < t->n_components; i++)
		r = row_pool(&p, i, e);
	if (r < 0)
		return r;
	pool_finish(&p);
	/* Releasing the pool frees the old contents of the table. */
	t->components = p.components;
	t->values = p.values;
	t->n_components = p.n;
	p.components = old.components;
	p.values = old.values;
	p.n = old.n_components;
	return 0;
}

/* The weight of a metric of peers; NULL: none. */
static const char *weight_of(const char *metric)
{
	const struct lp_metric *m = lp_metric_find("peer", metric);

	return m ? m->weight : NULL;
}

static const struct lp_table *table_find(
	struct lp_table *const *tables, uint32_t n, const char *metric)
{
	for (uint32_t i = 0; metric && i < n; i++) {
		if (!strcmp(tables[i]->metric, metric))
			return tables[i];
	}
	return NULL;
}

static int ends_note(struct ends *e, const struct lp_table *t)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < t->n_components; i++) {
		struct connection c;
		const char *remote = remote_of(t->components[i], e->hosts, &c);

		if (remote)
			r = strmap_put(&e->accepts, c.out ? remote : c.observer, 1);
	}
	return r;
}

/* Call this when it is known which observers accept connections. */
static void clients_note(struct ends *e, const struct lp_table *t)
{
	for (uint32_t i = 0; !e->clients && i < t->n_components; i++) {
		struct connection c;
		const char *remote = remote_of(t->components[i], e->hosts, &c);
		uint32_t yes;

		e->clients |= remote && !strmap_get(&e->accepts, c.out ? c.observer : remote, &yes);
	}
}

static int tables_pool(struct lp_table **tables, uint32_t n, struct ends *e)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < n; i++)
		r = ends_note(e, tables[i]);
	for (uint32_t i = 0; i < n; i++)
		clients_note(e, tables[i]);
	/* Tables that serve as weights come last, because the others need their original values. */
	for (int weighed = 1; r == 0 && weighed >= 0; weighed--) {
		for (uint32_t i = 0; r == 0 && i < n; i++) {
			const char *weight = weight_of(tables[i]->metric);

			if ((weight != NULL) == weighed && has_pairs(tables[i], e->hosts))
				r = table_pool(tables[i], table_find(tables, n, weight), e);
		}
	}
	return r;
}

int pool_connections(
	struct lp_table **tables, uint32_t n, const struct hosts *hosts, struct lp_err *err)
{
	struct ends e = {.hosts = hosts};
	int r = tables_pool(tables, n, &e);

	strmap_release(&e.accepts);
	return r < 0 ? lp_err_sys(err, r, "cannot pool connections") : 0;
}

#define JOINED_KIND "functions"
#define JOINED_NAME "all"

bool functions_joined(const struct lp_identity *component)
{
	return !strcmp(component->kind, JOINED_KIND) && !strcmp(component->name, JOINED_NAME);
}

/* Make room for more rows; on failure the old contents stay valid. */
static int table_grow(struct lp_table *t, uint32_t n)
{
	size_t n_rows = (size_t)t->n_components + n;
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): this is an array of pointers */
	struct lp_identity **components = reallocarray(t->components, n_rows, sizeof(*components));
	double *values;

	if (!components)
		return -ENOMEM;
	t->components = components;
	values = reallocarray(t->values, n_rows * t->n_slots + 1, sizeof(*values));
	if (!values)
		return -ENOMEM;
	t->values = values;
	return 0;
}

static int table_join(struct lp_table *t)
{
	_cleanup_(vector_view_release) struct vector_view view = {0};
	_cleanup_free_ double *totals = NULL;
	int r = vector_view_of_table(t, FUNCTION_KIND, &view);

	if (r < 0 || !view.n_members)
		return r;
	totals = calloc((size_t)view.n_members * t->n_slots + 1, sizeof(*totals));
	if (!totals)
		return -ENOMEM;
	for (uint32_t i = 0; r == 0 && i < view.n_members; i++)
		r = vector_view_totals(&view, i, totals + (size_t)i * t->n_slots);
	if (r == 0)
		r = table_grow(t, view.n_members);
	for (uint32_t i = 0; r == 0 && i < view.n_members; i++) {
		struct lp_identity *component =
			lp_identity_new(view.members[i], JOINED_KIND, JOINED_NAME, NULL);

		if (!component)
			return -ENOMEM;
		memcpy(t->values + (size_t)t->n_components * t->n_slots,
			totals + (size_t)i * t->n_slots, t->n_slots * sizeof(*totals));
		t->components[t->n_components++] = component;
	}
	return r;
}

int functions_join(struct lp_table **tables, uint32_t n, struct lp_err *err)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < n; i++)
		r = table_join(tables[i]);
	return r < 0 ? lp_err_sys(err, r, "cannot combine functions") : 0;
}
