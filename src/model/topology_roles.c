#include "model/topology_roles.h"

#include "model/hosts.h"
#include "model/kind.h"
#include <errno.h>
#include <string.h>

/* A group of one or two is not compared, and one odd observer is to be told, not set apart. */
#define OBSERVERS_MIN 2

enum { HAS_IN = 1, HAS_OUT = 2, HAS_POOLED_IN = 4, HAS_POOLED_OUT = 8, HAS_DISK = 16 };

void roles_release(struct roles *r)
{
	strmap_release(&r->observers);
}

/* What a component tells of its observer. */
static uint32_t component_bits(const struct lp_identity *component)
{
	struct connection c;

	if (connection_parse(component, &c)) {
		if (c.end == CONNECTION_ALL)
			return c.out && !c.servers ? HAS_POOLED_OUT : HAS_POOLED_IN;
		return c.end == CONNECTION_PEERS ? 0 : c.out ? HAS_OUT : HAS_IN;
	}
	return !strcmp(component->kind, "disk") ? HAS_DISK : 0;
}

/* A client only opens connections. Where nobody knows who is at their other ends (a standby server
 * may only talk to the monitoring), it has no disks either. */
static bool is_client(const struct roles *r, uint32_t bits)
{
	if (r->pooled)
		return bits & HAS_POOLED_OUT && !(bits & HAS_POOLED_IN);
	if (r->connected && !(bits & HAS_OUT))
		return false;
	return !(bits & (HAS_IN | HAS_DISK));
}

static int component_note(struct roles *r, const struct lp_identity *component)
{
	uint32_t bits = 0, more = component_bits(component);

	strmap_get(&r->observers, component->observer, &bits);
	r->pooled |= more & (HAS_POOLED_IN | HAS_POOLED_OUT);
	r->connected |= more & (HAS_IN | HAS_OUT);
	return strmap_put(&r->observers, component->observer, bits | more);
}

/* Count the observers of each role, each once. */
static int count_roles(struct roles *r, struct lp_identity *const *components, uint32_t n)
{
	struct strmap counted = {0};
	uint32_t n_clients = 0, n_servers = 0, bits = 0, ignored;
	int got = 0;

	for (uint32_t i = 0; got == 0 && i < n; i++) {
		const char *observer = components[i]->observer;

		if (strmap_get(&counted, observer, &ignored) ||
			!strmap_get(&r->observers, observer, &bits))
			continue;
		n_clients += is_client(r, bits);
		n_servers += !is_client(r, bits);
		got = strmap_put(&counted, observer, 1);
	}
	strmap_release(&counted);
	r->split = n_clients >= OBSERVERS_MIN && n_servers >= OBSERVERS_MIN;
	return got;
}

int roles_find(struct roles *r, struct lp_identity *const *components, uint32_t n)
{
	int got = 0;

	for (uint32_t i = 0; got == 0 && i < n; i++)
		got = component_note(r, components[i]);
	return got < 0 ? got : count_roles(r, components, n);
}

const char *roles_name(const struct roles *r, const struct lp_identity *component)
{
	uint32_t bits;

	if (!r->split || !kind_find(component->kind)->by_role ||
		!strmap_get(&r->observers, component->observer, &bits))
		return NULL;
	return is_client(r, bits) ? "clients" : "servers";
}
