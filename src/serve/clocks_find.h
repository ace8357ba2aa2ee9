/* Finds servers with wrong clocks, by their load and by the arrival of their data. */
#ifndef SERVE_CLOCKS_FIND_H
#define SERVE_CLOCKS_FIND_H

#include "serve/clocks.h"
#include "serve/observers.h"
#include <limpet/engine.h>
#include <limpet/verdict.h>

/* Servers that are busy like the others, but always earlier or later, as `limpet diagnose` finds
 * them (model/table_clocks.h), in what the engine has gathered. Live, the arrival of data must not
 * contradict it. 1: there is news, and data must be read again with it; 0: none; or -ENOMEM. */
int clocks_find_by_load(struct clocks *c, struct lp_engine *e, const struct observers *o);

/* Take over what observers_rate() has found. The result is the same as above. */
int clocks_find_by_arrival(struct clocks *c, const struct observers *o);

/* Notes in a verdict about clocks that were corrected. 0 or -ENOMEM. */
int clocks_note(const struct clocks *c, struct lp_verdict *v);

#endif
