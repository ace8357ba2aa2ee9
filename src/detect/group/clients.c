#include "detect/group/clients.h"

#include <errno.h>
#include <limpet/metric.h>
#include <stdlib.h>
#include <string.h>

/* How many requests a traced server reads: who reads some is no client only. */
#define REQUESTS "nsreads"

enum { SERVES, ASKS };

/* Note who asks recorded observers. */
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
