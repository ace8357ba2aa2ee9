/* Joins the findings in the logs of system calls with those of the comparison with peers. */
#ifndef EXPLAIN_SEMANTIC_JOIN_H
#define EXPLAIN_SEMANTIC_JOIN_H

#include "explain/context.h"
#include "explain/semantic.h"

/* Before the explanation begins: add the accused components and the notes to the verdict.
 * `components` (globs; n 0: all) selects those that are wanted. */
int semantic_join_components(struct lp_verdict *v, const struct semantic *s,
	const char *const *components, uint32_t n, struct lp_err *err);

/* When the suspects were gathered: make suspects of the findings, or add them to existing suspects
 * (ctx->semantic). */
int semantic_join_suspects(
	struct explain_context *ctx, const struct semantic *s, struct lp_err *err);

/* Does the trouble of a suspect follow from the finding in the logs about another one of the same
 * server? That a server crashed or hangs explains everything that is odd about it from then on, and
 * errors that it passes on are one problem with what is odd at that time. */
bool semantic_explains(const struct explain_context *ctx, const struct lp_suspect *s,
	const struct lp_suspect *other);

#endif
