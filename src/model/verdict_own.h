/* The parts of a verdict that are also released separately during its construction. */
#ifndef MODEL_VERDICT_OWN_H
#define MODEL_VERDICT_OWN_H

#include <limpet/verdict.h>

/* Free its contents. */
void peer_group_release(struct lp_peer_group *g);
void series_release(struct lp_series *s);

/* Allocate the windows of `n_members` members; n_windows must be set. Release it after -ENOMEM. */
int series_alloc(struct lp_series *s, uint32_t n_members);

/* Note what could not be judged, and why: half a sentence, "no data from oss3". */
int verdict_unknown(struct lp_verdict *v, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Add a note, and the options of the command line that say more: "--hourly lists them". Only
 * reports on a terminal show them; readers of a page have no command line. 0 or -ENOMEM. */
int verdict_note_hint(struct lp_verdict *v, const char *hint, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Note that the operator muted this suspect; it is listed once. 0 or -ENOMEM. */
int verdict_mute(struct lp_verdict *v, uint32_t component);

#endif
