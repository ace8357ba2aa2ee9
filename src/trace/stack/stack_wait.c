/* One sentence about a call: what it waited for. */
#include "base/strbuf.h"
#include "trace/stack/stack_report.h"
#include <inttypes.h>

/* "11.2 of 12.0 s" */
static void add_part(struct strbuf *sb, int64_t part, int64_t whole)
{
	static const struct {
		double ns;
		const char *unit;
	} units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
	size_t i = 0;

	while (i < 3 && (double)whole < units[i].ns)
		i++;
	strbuf_printf(sb, "%.*f of %.*f %s", i == 3 ? 0 : 1, (double)part / units[i].ns,
		i == 3 ? 0 : 1, (double)whole / units[i].ns, units[i].unit);
}

/* The server that a call waited for longest; NULL: none. */
const struct stack_share *stack_call_slowest(
	const struct stack_metrics *m, const struct stack_call *call)
{
	const struct stack_share *slowest = NULL;

	for (uint32_t i = call->shares; i < call->shares + call->n_shares; i++) {
		if (!slowest || m->shares[i].ns > slowest->ns)
			slowest = &m->shares[i];
	}
	return slowest;
}

/* How long a call waited for a server and the network to it: both are parts of its latency. */
static int64_t waited_ns(const struct stack_share *share)
{
	return share->ns + share->network_ns;
}

/* The server that a call waited for longest, with the network to it; NULL: none. */
static const struct stack_share *share_most(
	const struct stack_metrics *m, const struct stack_call *call)
{
	const struct stack_share *most = NULL;

	for (uint32_t i = call->shares; i < call->shares + call->n_shares; i++) {
		if (!most || waited_ns(&m->shares[i]) > waited_ns(most))
			most = &m->shares[i];
	}
	return most;
}

/* The layer in which a call spent most. */
static unsigned layer_most(const struct stack_call *call)
{
	unsigned most = 0;

	for (unsigned i = 1; i < layers_n; i++) {
		if (call->exclusive_ns[i] > call->exclusive_ns[most])
			most = i;
	}
	return most;
}

static void add_name(
	struct strbuf *sb, const struct stack_metrics *m, const struct stack_call *call)
{
	strbuf_printf(sb, "call %" PRIu32 " of %s %" PRId32, call->number,
		call->rank < (int64_t)m->n_ranks ? "rank" : "process", call->rank);
}

void stack_add_wait_for(struct strbuf *sb, const struct stack_metrics *m,
	const struct stack_share *share, bool network)
{
	const struct stack_call *call = &m->calls[share->call];
	bool disk = !network && share->disk_ns > share->ns / 2;
	int64_t ns = network ? share->network_ns : disk ? share->disk_ns : share->ns;

	add_name(sb, m, call);
	strbuf_puts(sb, " waited ");
	add_part(sb, ns, stack_call_latency(m, call));
	strbuf_printf(sb, " for %s%s%s", network ? "the network to " : "",
		stack_server_name(m, share->server), disk ? "'s disk" : "");
}

void stack_add_wait(struct strbuf *sb, const struct stack_metrics *m, const struct stack_call *call)
{
	const struct stack_share *share = share_most(m, call);
	int64_t ns = stack_call_latency(m, call);
	unsigned layer = layer_most(call);

	if (share && waited_ns(share) > call->exclusive_ns[layer] / 2) {
		stack_add_wait_for(sb, m, share, share->network_ns > share->ns);
		return;
	}
	add_name(sb, m, call);
	strbuf_puts(sb, " spent ");
	add_part(sb, call->exclusive_ns[layer], ns);
	strbuf_printf(sb, " in %s", layers[layer].name);
}

void stack_add_headline(struct strbuf *sb, const struct stack_metrics *m)
{
	const struct stack_call *slowest = NULL;

	for (size_t i = 0; i < m->n_calls; i++) {
		if (!slowest ||
			stack_call_latency(m, &m->calls[i]) > stack_call_latency(m, slowest))
			slowest = &m->calls[i];
	}
	if (!slowest) {
		strbuf_puts(sb, "no call was recorded");
		return;
	}
	strbuf_puts(sb, "the slowest call: ");
	stack_add_wait(sb, m, slowest);
}
