/* Seals finished archives in a separate thread at the lowest priority: rewriting a busy day takes
 * seconds, and samples of the new day must be written in that time.
 */
#ifndef COLLECT_SEALER_H
#define COLLECT_SEALER_H

#include <limpet/err.h>

struct sealer;

/* `warn` is called from the sealer's thread. */
int sealer_open(struct lp_warn *warn, struct sealer **ret, struct lp_err *err);

/* Seal this file when there is time. */
void sealer_add(struct sealer *s, const char *path);

/* Finish the files that were added, and free the sealer. Accepts NULL. */
void sealer_close(struct sealer *s);

#endif
