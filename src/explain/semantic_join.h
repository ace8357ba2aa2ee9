/* Joins the findings in the logs of system calls with those of the comparison with peers. */
#ifndef EXPLAIN_SEMANTIC_JOIN_H
#define EXPLAIN_SEMANTIC_JOIN_H

#include "explain/context.h"
#include "explain/semantic.h"

/* Call this before the explanation. It adds the accused components and the notes to the verdict.
 * `components` (globs; n 0: all) selects components. */
int semantic_join_components(struct lp_verdict *v, const struct semantic *s,
	const char *const *components, uint32_t n, struct lp_err *err);

/* Call this after suspects_gather(). It makes suspects of the findings, or adds them to existing
 * suspects (ctx->semantic). */
int semantic_join_suspects(
	struct explain_context *ctx, const struct semantic *s, struct lp_err *err);

/* Does the trouble of a suspect follow from a finding in the logs about another suspect on the same
 * server? A crash or a hang explains all trouble of the server from then on. Errors that it passes
 * on belong to the same problem as other trouble at that time. */
bool semantic_explains(const struct explain_context *ctx, const struct lp_suspect *s,
	const struct lp_suspect *other);

#endif
