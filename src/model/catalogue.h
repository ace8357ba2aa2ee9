/* Catalogues of the recorder, which runs forever. An id is reused when its component has been
 * missing for a long time. All other catalogues only grow (limpet/catalogue.h).
 */
#ifndef MODEL_CATALOGUE_H
#define MODEL_CATALOGUE_H

#include <limpet/catalogue.h>

/* The id of the component with this observer, kind and name. -ENOENT: none. */
int catalogue_find(const struct lp_catalogue *c, uint32_t schema, const char *observer,
	const char *name, uint32_t *ret_id);

/* Assign this component to `id`, which is at most c->n_components and may have had another one. On
 * failure nothing changes. */
int catalogue_place(struct lp_catalogue *c, uint32_t id, uint32_t schema, const char *observer,
	const char *name, const char *labels, struct lp_err *err);

/* Make `id` free until catalogue_place() assigns it again. Its name becomes NULL. -ENOMEM: nothing
 * changes. */
int catalogue_vacate(struct lp_catalogue *c, uint32_t id);

#endif
