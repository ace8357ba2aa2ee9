/* Findings about vectors: the functions in which a server differs from its peers. */
#ifndef EXPLAIN_BEHAVIOUR_H
#define EXPLAIN_BEHAVIOUR_H

#include "base/strbuf.h"
#include "explain/context.h"

struct cause;

/* The finding about functions that weighs most against a suspect, or NULL. */
const struct lp_finding *behaviour_finding(
	const struct explain_context *ctx, const struct lp_suspect *s);

/* The cause of a different behaviour, as far as functions show it: a program that its peers do not
 * run, or unknown. */
const struct cause *behaviour_cause(const struct explain_context *ctx, const struct lp_finding *f);

/* "samples differ most in glusterfsd:posix.so:posix_readv (50.7 1/s against 16.9), ...". */
void behaviour_add_functions(
	struct strbuf *sb, const struct explain_context *ctx, const struct lp_finding *f);

/* The process that a suspect is accused of running; NULL: it is accused of something else, or the
 * process is unknown. */
const struct lp_process *behaviour_process(const struct lp_verdict *v, const struct lp_suspect *s);

/* "dd runs here and not on the median peer: process 812 of user 0, dd if=/dev/sdb", or "62% of the
 * difference in ftime is in functions of storage", or nothing. */
void behaviour_add_hint(
	struct strbuf *sb, const struct explain_context *ctx, const struct lp_finding *f);

#endif
