/* What the logs of system calls say, put beside what the comparison with peers says. */
#ifndef EXPLAIN_SEMANTIC_JOIN_H
#define EXPLAIN_SEMANTIC_JOIN_H

#include "explain/context.h"
#include "explain/semantic.h"

/* Before the inquiry begins: the accused are components of the verdict, too; notes are its notes.
 * `components` (globs; n 0: all) says whom somebody wants to hear of. */
int semantic_join_components(struct lp_verdict *v, const struct semantic *s,
	const char *const *components, uint32_t n, struct lp_err *err);

/* When the suspects were gathered: make suspects of the findings, or add them to suspects that are
 * there (ctx->semantic). */
int semantic_join_suspects(
	struct explain_context *ctx, const struct semantic *s, struct lp_err *err);

/* Does the trouble of a suspect follow from what the log says of another one of the same server?
 * That a server died or hangs explains all that is odd about it from then on, and what it hands on
 * is one problem with what is odd at that time. */
bool semantic_explains(const struct explain_context *ctx, const struct lp_suspect *s,
	const struct lp_suspect *other);

#endif
