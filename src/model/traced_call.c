#include "model/traced_call.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void call_release(struct lp_traced_call *c)
{
	free(c->observer);
	free(c->process);
	free(c->call);
	free(c->file);
	free(c->result);
}

void traced_calls_free(struct lp_traced_call *list, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		call_release(&list[i]);
	free(list);
}

static bool is_same(const struct lp_traced_call *a, const struct lp_traced_call *b)
{
	return a->at_us == b->at_us && a->pid == b->pid && !strcmp(a->observer, b->observer) &&
		!strcmp(a->call, b->call) && !strcmp(a->result, b->result);
}

static int call_copy(struct lp_traced_call *to, const struct lp_traced_call *from)
{
	*to = *from;
	to->observer = strdup(from->observer);
	to->process = strdup(from->process);
	to->call = strdup(from->call);
	to->file = from->file ? strdup(from->file) : NULL;
	to->result = strdup(from->result);
	if (to->observer && to->process && to->call && to->result && (to->file || !from->file))
		return 0;
	call_release(to);
	return -ENOMEM;
}

int traced_calls_add(struct lp_traced_call **list, uint32_t *n, const struct lp_traced_call *call)
{
	struct lp_traced_call *more;

	for (uint32_t i = 0; i < *n; i++) {
		if (is_same(&(*list)[i], call))
			return 0;
	}
	if (*n >= TRACED_CALLS_MAX)
		return 0;
	more = reallocarray(*list, (size_t)*n + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	*list = more;
	if (call_copy(&more[*n], call) < 0)
		return -ENOMEM;
	(*n)++;
	return 0;
}

int traced_calls_add_all(struct lp_traced_call **list, uint32_t *n,
	const struct lp_traced_call *from, uint32_t n_from)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < n_from; i++)
		r = traced_calls_add(list, n, &from[i]);
	return r;
}
