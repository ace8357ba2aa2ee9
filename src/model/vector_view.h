/* Combines many components of an observer to one vector: converts rows, each one function of one
 * observer, to one vector per observer and window.
 *
 * A function without a value was not called, and counts as 0; it need not exist from the beginning.
 * If none of an observer's functions has a value, the observer was not measured. It has no vector
 * in a window if less than half of the window was measured. If a smaller part is missing, the
 * vector is scaled up.
 *
 * The value VECTOR_OFF means that it is unknown whether the function was called, because it is
 * switched off. In that case no vector has this dimension, from the first such window to the last:
 * if only some servers counted a function, they would seem to differ.
 */
#ifndef MODEL_VECTOR_VIEW_H
#define MODEL_VECTOR_VIEW_H

#include "model/vector.h"
#include <limpet/table.h>
#include <math.h>

#define VECTOR_OFF (-INFINITY)

/* One dimension of one member over time. */
struct vector_row {
	const char *member;    /* the member that the row belongs to: "oss3" */
	const char *dimension; /* "glusterfsd:posix_readv" */
	const double *values;  /* one per slot, NaN: missing; they must outlive the view */
};

struct vector_cell {
	uint32_t dimension;
	const double *values;
};

/* Zero-initialise it. */
struct vector_view {
	struct dimensions dimensions;
	char **members; /* sorted */
	uint32_t n_members;
	struct vector_cell *cells; /* cells of a member are consecutive */
	uint32_t *first;	   /* [member] its first cell; one more for the end */
	/* [dimension] the slots between which it is switched off on some server; none: from > to */
	struct vector_off {
		uint32_t from, to;
	} * off;
	uint32_t n_slots;
	double factor; /* multiplied by this, a value is the count in a slot */
};

void vector_view_release(struct vector_view *v);

/* Rows of the same member and dimension add up. 0 or -ENOMEM. */
int vector_view_make(const struct vector_row *rows, uint32_t n, uint32_t n_slots, double factor,
	struct vector_view *ret);

/* Make a view of all components of this kind in a table: their observers are the members, and their
 * names are the dimensions. Values per second become amounts. The table must outlive the view. */
int vector_view_of_table(const struct lp_table *t, const char *kind, struct vector_view *ret);

/* The vector of a member over `n` slots from `first` on. 1; 0: it has no data there; -ENOMEM.
 * Replaces the contents of `ret`, which must be zero-initialised or finished. */
int vector_view_window(const struct vector_view *v, uint32_t member, uint32_t first, uint32_t n,
	struct vector *ret);

/* The total of a member in each slot, in the unit of its rows, NaN if it was not measured. 0 or
 * -ENOMEM. */
int vector_view_totals(const struct vector_view *v, uint32_t member, double *ret);

#endif
