#include "trace/stack/gaps.h"

#include "trace/stack/layer.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define KIND "kind=stack-gaps"

static bool was_entered(const struct spans_totals *t)
{
	bool entered = t->visits > 0;

	for (unsigned i = 0; i < layers_n && !entered; i++)
		entered = t->sums.items[i][SPAN_MARK].calls > 0;
	return entered;
}

struct stack_gaps stack_gaps_of(const struct spans_totals *t, uint32_t recorded, bool in_regions)
{
	bool unentered = in_regions && !was_entered(t);

	/* Outside of the regions, calls of layers are not noticed. */
	if (unentered)
		recorded = 0;
	return (struct stack_gaps){.lost = t->lost,
		.killed = t->killed,
		.open = t->open,
		.damaged = t->damaged,
		.refused = t->refused,
		.confined = t->confined,
		.rings = t->rings,
		.n_ranks = t->n_ranks,
		.ranks_seen = t->ranks_seen,
		.unentered = unentered,
		.uncalled = recorded & ~t->called,
		.unserved = recorded & ~t->called & t->unserved};
}

bool stack_gaps_any(const struct stack_gaps *g)
{
	return g->lost || g->killed || g->open || g->damaged || g->refused || g->confined ||
		g->rings || g->n_ranks > g->ranks_seen || g->unentered || g->uncalled || g->gone ||
		g->late;
}

void stack_gaps_format(const struct stack_gaps *g, char buf[STACK_GAPS_TEXT])
{
	snprintf(buf, STACK_GAPS_TEXT,
		KIND " lost=%" PRIu64 " killed=%" PRIu64 " open=%" PRIu64 " damaged=%" PRIu64
		     " ranks=%" PRId64 " seen=%" PRId64 " unentered=%d uncalled=%" PRIu32
		     " unserved=%" PRIu32 " gone=%" PRIu64 " late=%" PRIu64 " refused=%" PRIu64
		     " confined=%" PRIu64 " rings=%" PRIu64,
		g->lost, g->killed, g->open, g->damaged, g->n_ranks, g->ranks_seen, g->unentered,
		g->uncalled, g->unserved, g->gone, g->late, g->refused, g->confined, g->rings);
}

/* The number behind " key=", 0: there is none. */
static uint64_t number_of(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

void stack_gaps_add(struct stack_gaps *g, const char *remark)
{
	if (strncmp(remark, KIND " ", strlen(KIND) + 1) != 0)
		return;
	g->lost += number_of(remark, " lost=");
	g->killed += number_of(remark, " killed=");
	g->open += number_of(remark, " open=");
	g->damaged += number_of(remark, " damaged=");
	g->n_ranks += (int64_t)(number_of(remark, " ranks=") & INT32_MAX);
	g->ranks_seen += (int64_t)(number_of(remark, " seen=") & INT32_MAX);
	g->unentered |= number_of(remark, " unentered=") != 0;
	g->uncalled |= (uint32_t)number_of(remark, " uncalled=");
	g->unserved |= (uint32_t)number_of(remark, " unserved=");
	g->gone += number_of(remark, " gone=");
	g->late += number_of(remark, " late=");
	g->refused += number_of(remark, " refused=");
	g->confined += number_of(remark, " confined=");
	g->rings += number_of(remark, " rings=");
}

static void uncalled_print(FILE *out, uint32_t mask, uint32_t unserved)
{
	for (unsigned i = 0; i < layers_n; i++) {
		if (mask & unserved & 1u << i)
			fprintf(out,
				"the layer %s was not recorded: limpet was built without the "
				"headers of the "
				"library that the program uses\n",
				layers[i].name);
		else if (mask >> i & 1)
			fprintf(out,
				"the layer %s was never called: the program does not use it, is "
				"linked statically, or is not the one that was run\n",
				layers[i].name);
	}
}

void stack_gaps_print_daemons(FILE *out, uint64_t gone, uint64_t late)
{
	if (gone)
		fprintf(out,
			"%" PRIu64 " %s while watched; requests that %s had not answered never "
			"ended\n",
			gone, gone == 1 ? "daemon ended" : "daemons ended",
			gone == 1 ? "it" : "they");
	if (late)
		fprintf(out,
			"%" PRIu64 " %s while recording, and %s found up to 2 s later; what %s did "
			"until then is missing\n",
			late, late == 1 ? "daemon started" : "daemons started",
			late == 1 ? "was" : "were", late == 1 ? "it" : "they");
}

/* Processes that were recorded in part, or not at all. */
static void processes_print(FILE *out, const struct stack_gaps *g)
{
	if (g->refused)
		fprintf(out,
			"%" PRIu64 " %s not recorded: the limits of file size or address space "
			"(ulimit -f, -v), or a full --scratch, leave no room for records\n",
			g->refused, g->refused == 1 ? "process was" : "processes were");
	if (g->confined)
		fprintf(out,
			"%" PRIu64 " %s recorded only until %s restricted %s system calls "
			"(seccomp)\n",
			g->confined, g->confined == 1 ? "process was" : "processes were",
			g->confined == 1 ? "it" : "they", g->confined == 1 ? "its" : "their");
	if (g->rings)
		fprintf(out, "%" PRIu64 " %s io_uring, whose reads and writes are not recorded\n",
			g->rings, g->rings == 1 ? "process used" : "processes used");
}

void stack_gaps_print(FILE *out, const struct stack_gaps *g)
{
	if (g->unentered)
		fputs("the program never entered a region of the configuration, so that none of "
		      "its calls was recorded\n",
			out);
	uncalled_print(out, g->uncalled, g->unserved);
	if (g->lost)
		fprintf(out, "%" PRIu64 " %s missing: there was no memory for %s\n", g->lost,
			g->lost == 1 ? "call is" : "calls are", g->lost == 1 ? "it" : "them");
	if (g->killed)
		fprintf(out,
			"%" PRIu64
			" %s without a normal exit (killed, _exit or exec); what %s did until then "
			"is recorded\n",
			g->killed, g->killed == 1 ? "process ended" : "processes ended",
			g->killed == 1 ? "it" : "they");
	if (g->open)
		fprintf(out, "%" PRIu64 " %s never ended\n", g->open,
			g->open == 1 ? "call" : "calls");
	if (g->damaged)
		fprintf(out, "%" PRIu64 " %s invalid and left out\n", g->damaged,
			g->damaged == 1 ? "record is" : "records are");
	processes_print(out, g);
	stack_gaps_print_daemons(out, g->gone, g->late);
	if (g->n_ranks > g->ranks_seen)
		fprintf(out,
			"%" PRId64 " of %" PRId64
			" ranks of the job were seen: others run on other hosts, to which the "
			"variables LD_PRELOAD and LIMPET_STACK_* must be passed (mpirun -x)\n",
			g->ranks_seen, g->n_ranks);
}

static json_t *layers_json(uint32_t mask)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < layers_n; i++) {
		if (mask >> i & 1)
			json_array_append_new(list, json_string(layers[i].name));
	}
	return list;
}

json_t *stack_gaps_json(const struct stack_gaps *g)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:o, s:o, s:I, s:I, s:I, s:I, s:I}",
		"lost", (json_int_t)g->lost, "killed", (json_int_t)g->killed, "open",
		(json_int_t)g->open, "damaged", (json_int_t)g->damaged, "ranks",
		(json_int_t)g->n_ranks, "ranks_seen", (json_int_t)g->ranks_seen, "unentered",
		g->unentered, "uncalled", layers_json(g->uncalled), "unserved",
		layers_json(g->unserved), "daemons_ended", (json_int_t)g->gone, "daemons_late",
		(json_int_t)g->late, "unable", (json_int_t)g->refused, "confined",
		(json_int_t)g->confined, "io_uring", (json_int_t)g->rings);
}
