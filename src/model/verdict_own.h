/* The parts of a verdict that are also released separately while it is being made. */
#ifndef MODEL_VERDICT_OWN_H
#define MODEL_VERDICT_OWN_H

#include <limpet/verdict.h>

/* Free what it points to. */
void peer_group_release(struct lp_peer_group *g);
void series_release(struct lp_series *s);

/* Allocate the windows of that many members; n_windows is set. On -ENOMEM release it. */
int series_alloc(struct lp_series *s, uint32_t n_members);

/* Add something that could not be judged, with the reason: half a sentence, "no data from oss3". */
int verdict_unknown(struct lp_verdict *v, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Note that the component is a suspect that the operator muted; it is listed once. 0 or -ENOMEM. */
int verdict_mute(struct lp_verdict *v, uint32_t component);

#endif
