#include "explain/behaviour.h"

#include "explain/cause.h"
#include "explain/function_hints.h"
#include "explain/processes.h"
#include "model/quantity.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* A function group with at least this share of a difference is named as its subject. */
#define MOST 0.5
/* A sentence does not mention differences below this share of the greatest one. */
#define TOLD 0.1

static const struct lp_finding *find_functions(
	const struct lp_verdict *v, const struct lp_suspect *s)
{
	for (uint32_t i = 0; i < s->n_findings; i++) {
		const struct lp_finding *f = &v->findings[s->findings[i]];

		if (f->n_dimensions)
			return f;
	}
	return NULL;
}

const struct lp_finding *behaviour_finding(
	const struct explain_context *ctx, const struct lp_suspect *s)
{
	return find_functions(ctx->v, s);
}

static const struct lp_dimension *dimensions(const struct lp_verdict *v, const struct lp_finding *f)
{
	return v->dimensions ? &v->dimensions[f->first_dimension] : NULL;
}

/* The length of a name's first part: "dd" of "dd:libc.so.6:read". */
static size_t program_length(const char *name)
{
	return strcspn(name, ":");
}

static bool is_same_program(const char *a, const char *b)
{
	size_t n = program_length(a);

	return n == program_length(b) && !strncmp(a, b, n);
}

/* Does the median peer not run this program? */
static bool runs_here_only(const struct lp_verdict *v, const struct lp_finding *f, const char *name)
{
	const struct lp_dimension *d = dimensions(v, f);

	for (uint32_t i = 0; i < f->n_dimensions; i++) {
		if (is_same_program(d[i].name, name) && d[i].peers > 0)
			return false;
	}
	return true;
}

/* The share of a program in the total difference. */
static double program_share(
	const struct lp_verdict *v, const struct lp_finding *f, const char *name)
{
	const struct lp_dimension *d = dimensions(v, f);
	double own = 0, all = 0;

	for (uint32_t i = 0; i < f->n_dimensions; i++) {
		all += d[i].distance;
		if (is_same_program(d[i].name, name))
			own += d[i].distance;
	}
	return all > 0 ? own / all : 0;
}

/* A function of a program that runs only here and has most of the difference, or NULL. */
static const char *rogue(const struct lp_verdict *v, const struct lp_finding *f)
{
	const struct lp_dimension *d = dimensions(v, f);

	for (uint32_t i = 0; i < f->n_dimensions; i++) {
		if (runs_here_only(v, f, d[i].name) && program_share(v, f, d[i].name) >= MOST)
			return d[i].name;
	}
	return NULL;
}

const struct cause *behaviour_cause(const struct explain_context *ctx, const struct lp_finding *f)
{
	return rogue(ctx->v, f) ? &cause_rogue_process : &cause_behaviour;
}

void behaviour_add_functions(
	struct strbuf *sb, const struct explain_context *ctx, const struct lp_finding *f)
{
	const struct lp_dimension *d = dimensions(ctx->v, f);
	const char *unit = ctx->v->tables[f->metric]->unit;

	strbuf_printf(sb, "%s differ most in ", ctx->v->tables[f->metric]->metric);
	for (uint32_t i = 0; i < f->n_dimensions && d[i].distance >= TOLD * d[0].distance; i++) {
		strbuf_printf(sb, "%s%s (", i ? ", " : "", d[i].name);
		quantity_add(sb, d[i].own, i ? NULL : unit);
		strbuf_puts(sb, " against ");
		quantity_add(sb, d[i].peers, NULL);
		strbuf_puts(sb, ")");
	}
}

/* The sort of function that has most of the difference, and its share; NULL: none. */
static const char *common_hint(
	const struct explain_context *ctx, const struct lp_finding *f, double *ret_share)
{
	const struct lp_dimension *d = dimensions(ctx->v, f);

	for (uint32_t i = 0; i < f->n_dimensions; i++) {
		const char *hint = function_hint(d[i].name);
		double own = 0, all = 0;

		for (uint32_t j = 0; j < f->n_dimensions; j++) {
			all += d[j].distance;
			own += function_hint(d[j].name) == hint ? d[j].distance : 0;
		}
		*ret_share = all > 0 ? own / all : 0;
		if (hint && *ret_share >= MOST)
			return hint;
	}
	return NULL;
}

static const struct lp_process *finding_process(
	const struct lp_verdict *v, const struct lp_finding *f, const char *program)
{
	return noted_process_find(v, v->components[f->component]->observer, program,
		program_length(program), f->last_us);
}

const struct lp_process *behaviour_process(const struct lp_verdict *v, const struct lp_suspect *s)
{
	const struct lp_finding *f = v->n_processes ? find_functions(v, s) : NULL;
	const char *program = f ? rogue(v, f) : NULL;

	return program ? finding_process(v, f, program) : NULL;
}

/* Add the process, as far as it is known. */
static void add_process(struct strbuf *sb, const struct lp_process *p)
{
	if (!p)
		return;
	strbuf_printf(sb, ": process %" PRId32, p->pid);
	if (p->uid >= 0)
		strbuf_printf(sb, " of user %" PRId64, p->uid);
	if (p->command[0])
		strbuf_printf(sb, ", %s", p->command);
}

void behaviour_add_hint(
	struct strbuf *sb, const struct explain_context *ctx, const struct lp_finding *f)
{
	const char *program = rogue(ctx->v, f);
	double share = 0;
	const char *hint = program ? NULL : common_hint(ctx, f, &share);

	if (program) {
		strbuf_printf(sb, "%.*s runs here and not on its peers",
			(int)program_length(program), program);
		add_process(sb, finding_process(ctx->v, f, program));
	} else if (hint)
		strbuf_printf(sb, "%.0f%% of the difference in %s is in functions of %s",
			100 * share, ctx->v->tables[f->metric]->metric, hint);
}
