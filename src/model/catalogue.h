/* Catalogues of the recorder, which runs forever: an id is given to another component when its
 * owner has not been seen for long. All other catalogues only grow (limpet/catalogue.h).
 */
#ifndef MODEL_CATALOGUE_H
#define MODEL_CATALOGUE_H

#include <limpet/catalogue.h>

/* The id of the component of that observer, kind and name. -ENOENT: there is none. */
int catalogue_find(const struct lp_catalogue *c, uint32_t schema, const char *observer,
	const char *name, uint32_t *ret_id);

/* Make `id`, at most c->n_components, that component, whatever it was before. On failure nothing
 * changes. */
int catalogue_place(struct lp_catalogue *c, uint32_t id, uint32_t schema, const char *observer,
	const char *name, const char *labels, struct lp_err *err);

/* Make `id` free until catalogue_place() gives it away: its name is NULL. -ENOMEM: it stays. */
int catalogue_vacate(struct lp_catalogue *c, uint32_t id);

#endif
