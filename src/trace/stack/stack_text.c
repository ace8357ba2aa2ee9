#include "trace/stack/stack_report.h"

#include "base/safe_text.h"
#include "base/time.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BAR 32
#define NAME_TEXT 64

/* "12.5 ms" */
static const char *time_text(int64_t ns, char buf[32])
{
	static const struct {
		double ns;
		const char *unit;
	} units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
	size_t i = 0;

	while (i < 3 && (double)ns < units[i].ns)
		i++;
	snprintf(buf, 32, "%.*f %s", i == 3 ? 0 : 1, (double)ns / units[i].ns, units[i].unit);
	return buf;
}

/* "12.5 MB", in powers of 1000 as disks are sold. */
static const char *bytes_text(double bytes, char buf[32])
{
	static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
	size_t i = 0;

	for (; bytes >= 1000 && i < 6; i++)
		bytes /= 1000;
	snprintf(buf, 32, "%.*f %s", i ? 1 : 0, bytes, units[i]);
	return buf;
}

/* The end of a name, which says more than its beginning. */
static const char *name_text(const char *name, char buf[NAME_TEXT + 4])
{
	size_t len = strlen(name);

	snprintf(buf, NAME_TEXT + 4, "%s%s", len > NAME_TEXT ? "..." : "",
		len > NAME_TEXT ? name + len - NAME_TEXT : name);
	safe_text_make(buf);
	return buf;
}

static double percent(int64_t part, int64_t whole)
{
	return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

static void layers_print(FILE *out, const struct stack_metrics *m)
{
	char bytes[32], mean[32], longest[32], own[32], waiting[32], rate[32];

	fputs("layer        calls      bytes  mean time   longest      in it    waiting      "
	      "throughput  errors\n",
		out);
	for (unsigned i = 0; i < layers_n; i++) {
		const struct stack_layer_sum *l = &m->layers[i];

		if (!l->calls)
			continue;
		fprintf(out, "%-9s %8" PRIu64 " %10s %10s %9s %10s %10s %13s/s %7" PRIu64 "\n",
			layers[i].name, l->calls, bytes_text((double)l->bytes, bytes),
			time_text(l->inclusive_ns / (int64_t)l->calls, mean),
			time_text(l->longest_ns, longest), time_text(l->exclusive_ns, own),
			l->waiting_ns ? time_text(l->waiting_ns, waiting) : "-",
			bytes_text(stack_layer_throughput(l), rate), l->errors);
	}
	for (unsigned i = 0; i < layers_n; i++) {
		const struct stack_layer_sum *l = &m->layers[i];

		if (l->communicating_ns)
			fprintf(out,
				"collective calls of %s spent %s (%.0f%%) outside of the I/O below "
				"them: "
				"communicating, and waiting for each other\n",
				layers[i].name, time_text(l->communicating_ns, own),
				percent(l->communicating_ns, l->inclusive_ns));
	}
}

static const char *call_word(uint64_t n)
{
	return n == 1 ? "call" : "calls";
}

/* What calls cost each server. */
static void servers_print(FILE *out, const struct stack_metrics *m)
{
	char name[NAME_TEXT + 4], ns[32], disk[32], longest[32], bytes[32], rate[32], call[24];

	if (!m->n_servers)
		return;
	fprintf(out, "\n%-12s %8s %10s %10s %10s %9s %10s %13s%s  slowest call\n", "server",
		"calls", "mean time", "on disk", "longest", "accesses", "bytes", "throughput",
		m->drive ? "    energy" : "");
	for (uint32_t i = 0; i < m->n_servers; i++) {
		const struct stack_server *s = &m->servers[i];
		int64_t calls = s->calls ? (int64_t)s->calls : 1;

		snprintf(call, sizeof(call), "-");
		if (s->slowest != STACK_NONE)
			snprintf(call, sizeof(call), "%" PRId32 ":%" PRIu32,
				m->calls[s->slowest].rank, m->calls[s->slowest].number);
		fprintf(out, "%-12s %8" PRIu64 " %10s %10s %10s %9" PRIu64 " %10s %11s/s",
			name_text(stack_server_name(m, i), name), s->calls,
			time_text(s->ns / calls, ns), time_text(s->disk_ns / calls, disk),
			time_text(s->longest_ns, longest), s->disk_accesses,
			bytes_text((double)s->disk_bytes, bytes),
			bytes_text(stack_rate(s->disk_bytes, s->disk_busy_ns), rate));
		if (m->drive)
			fprintf(out, " %7.3g J", s->joules);
		fprintf(out, "  %s\n", call);
	}
	if (m->drive)
		fprintf(out, "energy is that of %s above idle, computed from its data sheet\n",
			m->drive->title ? m->drive->title : m->drive->name);
}

static void collectives_print(FILE *out, const struct stack_metrics *m)
{
	uint64_t ranks = 0, servers = 0;
	int64_t late = 0;
	char ns[32];

	if (!m->n_collectives)
		return;
	for (size_t i = 0; i < m->n_collectives; i++) {
		ranks += m->collectives[i].n_calls;
		servers += m->collectives[i].n_servers;
	}
	for (size_t i = 0; i < m->n_calls; i++)
		stack_add(&late, m->calls[i].late_ns);
	fprintf(out, "%zu collective operations, of %.1f ranks on average", m->n_collectives,
		(double)ranks / (double)m->n_collectives);
	if (m->n_servers)
		fprintf(out, " on %.1f servers", (double)servers / (double)m->n_collectives);
	fprintf(out, "; ranks waited %s for others that began later\n", time_text(late, ns));
}

static void regions_print(FILE *out, const struct stack_metrics *m)
{
	char name[NAME_TEXT + 4], ns[32], mean[32], bytes[32];

	for (size_t i = 0; i < m->n_regions; i++) {
		const struct stack_region *r = &m->regions[i];

		fprintf(out,
			"region %s: %" PRIu64 " %s, %s in all; %" PRIu64
			" calls, %s each on average, %s\n",
			name_text(r->name, name), r->times, r->times == 1 ? "time" : "times",
			time_text(r->ns, ns), r->calls,
			time_text(r->calls ? r->calls_ns / (int64_t)r->calls : 0, mean),
			bytes_text((double)r->bytes, bytes));
	}
}

/* Print what is missing. */
static void unjoined_print(FILE *out, const struct stack_metrics *m)
{
	char bytes[32];

	for (unsigned i = 0; i < layers_n; i++) {
		const struct graph_unjoined *u = &m->graph->unjoined[i];

		if (u->spans)
			fprintf(out,
				"%" PRIu64
				" %s of %s (%s) could not be joined with calls above %s\n",
				u->spans, call_word(u->spans), layers[i].name,
				bytes_text((double)u->bytes, bytes), u->spans == 1 ? "it" : "them");
		if (m->outside[i])
			fprintf(out, "%" PRIu64 " %s of %s %s made outside of calls of %s\n",
				m->outside[i], call_word(m->outside[i]), layers[i].name,
				m->outside[i] == 1 ? "was" : "were", layers[m->layer].name);
		if (m->layers[i].open)
			fprintf(out, "%" PRIu64 " %s of %s never ended\n", m->layers[i].open,
				call_word(m->layers[i].open), layers[i].name);
	}
}

/* Requests of which only the client's end was recorded. */
static void unseen_print(FILE *out, const struct graph *g)
{
	if (g->unseen)
		fprintf(out,
			"%" PRIu64
			" %s of network %s not seen by a server: it was not recorded, or not at "
			"that time\n",
			g->unseen, g->unseen == 1 ? "call" : "calls",
			g->unseen == 1 ? "was" : "were");
}

/* Gaps that the recording notes; and collective operations that not all ranks made, because one of
 * them ended early or was not recorded. */
static void missing_print(FILE *out, const struct stack_metrics *m)
{
	struct stack_gaps gaps = m->graph->spans->gaps;
	uint32_t most = 0, fewer = 0;

	gaps.open = 0; /* counted by layer already */
	stack_gaps_print(out, &gaps);
	unseen_print(out, m->graph);
	for (size_t i = 0; i < m->n_collectives; i++)
		most = m->collectives[i].n_calls > most ? m->collectives[i].n_calls : most;
	for (size_t i = 0; i < m->n_collectives; i++)
		fewer += m->collectives[i].n_calls < most && m->collectives[i].n_calls > 1;
	if (fewer)
		fprintf(out,
			"%" PRIu32 " collective operations were not seen on all %" PRIu32
			" ranks\n",
			fewer, most);
}

static const struct stack_metrics *sorted_metrics; /* qsort() hands nothing through */

static int64_t latency(const struct stack_metrics *m, uint32_t call)
{
	return stack_call_latency(m, &m->calls[call]);
}

static int slower_first(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int64_t lx = latency(sorted_metrics, x), ly = latency(sorted_metrics, y);

	return lx != ly ? (lx > ly ? -1 : 1) : (x > y) - (x < y);
}

uint32_t *stack_slowest(const struct stack_metrics *m)
{
	uint32_t *order = malloc((m->n_calls + 1) * sizeof(*order));

	for (size_t i = 0; order && i < m->n_calls; i++)
		order[i] = (uint32_t)i;
	sorted_metrics = m;
	if (order && m->n_calls)
		qsort(order, m->n_calls, sizeof(*order), slower_first);
	return order;
}

/* "; 3 servers, the slowest s3 with 11.2 ms, 11.0 ms of them its disk; 12 disk accesses" */
static void call_servers_print(
	FILE *out, const struct stack_metrics *m, const struct stack_call *call)
{
	const struct stack_share *slowest = stack_call_slowest(m, call);
	char name[NAME_TEXT + 4], ns[32], disk[32];

	if (!slowest)
		return;
	fprintf(out, "; %" PRIu32 " %s %s with %s", call->n_shares,
		call->n_shares == 1 ? "server," : "servers, the slowest",
		name_text(stack_server_name(m, slowest->server), name), time_text(slowest->ns, ns));
	if (slowest->disk_ns)
		fprintf(out, ", its disk %s", time_text(slowest->disk_ns, disk));
	if (call->disk_accesses)
		fprintf(out, "; %" PRIu32 " disk %s", call->disk_accesses,
			call->disk_accesses == 1 ? "access" : "accesses");
	if (m->drive && call->n_disks)
		fprintf(out, ", %.3g J", stack_call_energy(m, call));
}

/* "mpi-io 1.2 ms, posix 10.8 ms" */
static void split_print(FILE *out, const struct stack_metrics *m, const struct stack_call *call)
{
	const char *comma = "";
	char ns[32];

	for (unsigned i = 0; i < layers_n; i++) {
		if (!call->exclusive_ns[i])
			continue;
		fprintf(out, "%s%s %s", comma, layers[i].name,
			time_text(call->exclusive_ns[i], ns));
		comma = ", ";
	}
	if (call->waiting_ns)
		fprintf(out, " (between layers %s)", time_text(call->waiting_ns, ns));
	call_servers_print(out, m, call);
}

/* The size of a call. In the C library the result counts, because a program may request much more
 * than there is. In other layers, results are not always bytes. */
static int64_t what_size(const struct span *s)
{
	if (!s->size)
		return s->result > 0 ? s->result : 0;
	return s->result > 0 && s->result < s->size && !strcmp(s->layer, layers[STACK_POSIX].name)
		? s->result
		: s->size;
}

static void what_print(FILE *out, const struct span *s)
{
	char function[NAME_TEXT + 4], object[NAME_TEXT + 4], bytes[32];
	int64_t size = what_size(s);

	fputs(name_text(s->function, function), out);
	if (size)
		fprintf(out, " %s", bytes_text((double)size, bytes));
	if (s->offset != SPAN_NO_OFFSET)
		fprintf(out, " at %" PRId64, s->offset);
	if (*s->object)
		fprintf(out, " of %s", name_text(s->object, object));
	if (s->flags & SPAN_OPEN_END)
		fputs(", never ended", out);
	if (s->result < 0)
		fprintf(out, ": %s", strerror(s->result < INT32_MIN ? 0 : (int)-s->result));
}

static void calls_print(FILE *out, const struct stack_metrics *m, size_t slowest)
{
	uint32_t *order = stack_slowest(m);
	char ns[32];

	for (size_t i = 0; order && i < m->n_calls && i < slowest; i++) {
		const struct stack_call *call = &m->calls[order[i]];
		char name[24];

		snprintf(name, sizeof(name), "%" PRId32 ":%" PRIu32, call->rank, call->number);
		fprintf(out, "%10s %9s  ", name, time_text(latency(m, order[i]), ns));
		what_print(out, &m->graph->spans->items[call->span]);
		fputs("\n                      ", out);
		split_print(out, m, call);
		fputc('\n', out);
	}
	free(order);
}

void stack_text_print(FILE *out, const struct stack_metrics *m, size_t slowest)
{
	char span[32];

	fprintf(out, "%zu %s of %s by %" PRIu32 " %s, in %s\n\n", m->n_calls, call_word(m->n_calls),
		layers[m->layer].name, m->n_processes,
		m->n_processes == 1 ? "process" : "processes",
		time_text(m->last_ns - m->first_ns, span));
	layers_print(out, m);
	collectives_print(out, m);
	regions_print(out, m);
	unjoined_print(out, m);
	missing_print(out, m);
	stack_clocks_print(out, m->graph->spans);
	servers_print(out, m);
	if (m->n_calls && slowest) {
		struct strbuf sb = {0};

		stack_add_headline(&sb, m);
		fprintf(out, "\n%s\n", sb.text ? sb.text : "");
		strbuf_release(&sb);
		fputs("\nthe slowest calls, and in which layers they spent their time:\n", out);
		calls_print(out, m, slowest);
	}
}

/* A bar from `from` to `to` of `whole`; what takes any time has at least one character. */
static void bar_print(FILE *out, int64_t from, int64_t to, int64_t whole)
{
	int first = whole > 0 ? (int)((double)from / (double)whole * BAR) : 0;
	int last = whole > 0 ? (int)((double)to / (double)whole * BAR) : 0;

	first = first < 0 ? 0 : first >= BAR ? BAR - 1 : first;
	last = last <= first ? first + 1 : last > BAR ? BAR : last;
	fputc('|', out);
	for (int i = 0; i < BAR; i++)
		fputc(i >= first && i < last ? '#' : ' ', out);
	fputc('|', out);
}

static void part_print(
	FILE *out, const struct stack_metrics *m, const struct span *call, uint32_t i, int depth)
{
	const struct graph *g = m->graph;
	const struct span *s = &g->spans->items[i];
	char at[32], ns[32], at_host[NAME_TEXT + 4];

	bar_print(out, s->start_ns - call->start_ns, s->end_ns - call->start_ns,
		call->end_ns - call->start_ns);
	fprintf(out, " %9s %9s  %*s", time_text(s->start_ns - call->start_ns, at),
		time_text(s->end_ns - s->start_ns, ns), 2 * depth, "");
	if (g->spans->n_observers > 1)
		fprintf(out, "%s ",
			name_text(g->spans->observer_names[g->spans->observers[i]], at_host));
	fprintf(out, "%s ", s->layer);
	what_print(out, s);
	fputc('\n', out);
	for (uint32_t e = g->first[i]; depth < 64 && e < g->first[i + 1]; e++)
		part_print(out, m, call, g->edges[e].child, depth + 1);
}

void stack_text_waterfall(FILE *out, const struct stack_metrics *m, const struct stack_call *call)
{
	const struct spans *spans = m->graph->spans;
	char text[TIME_TEXT_MAX];

	fprintf(out, "call %" PRId32 ":%" PRIu32 " of %s, process %" PRId32 ", at %s\n", call->rank,
		call->number, spans->observer_names[spans->observers[call->span]],
		spans->items[call->span].pid,
		time_format(spans->items[call->span].start_ns / 1000, text));
	split_print(out, m, call);
	fprintf(out, "\n%-*s %9s %9s\n", BAR + 2, "", "begins", "takes");
	part_print(out, m, &spans->items[call->span], call->span, 0);
}
