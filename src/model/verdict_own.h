/* The parts of a verdict that are also released one by one, while it is made. */
#ifndef MODEL_VERDICT_OWN_H
#define MODEL_VERDICT_OWN_H

#include <limpet/verdict.h>

/* Free what it points to. */
void peer_group_release(struct lp_peer_group *g);
void series_release(struct lp_series *s);

#endif
