/* The output of a function, as a string. */
#ifndef PRINTED_H
#define PRINTED_H

#include "unit.h"
#include <stdio.h>
#include <stdlib.h>

struct printed {
	FILE *out;
	char *text;
	size_t size;
};

static inline FILE *printed_begin(struct printed *p)
{
	p->text = NULL;
	p->out = open_memstream(&p->text, &p->size);
	assert_non_null(p->out);
	return p->out;
}

/* The text, which the caller frees. */
static inline char *printed_end(struct printed *p)
{
	assert_int_equal(fclose(p->out), 0);
	return p->text;
}

#endif
