#include "explain/semantic.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "explain/cause.h"
#include "explain/semantic_tell.h"
#include "model/traced_call.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void finding_release(struct semantic_finding *f)
{
	for (uint32_t i = 0; i < f->n_evidence; i++)
		free(f->evidence[i]);
	free(f->evidence);
	traced_calls_free(f->calls, f->n_calls);
	lp_identity_unref(f->component);
	free(f->advice);
	*f = (struct semantic_finding){0};
}

void semantic_release(struct semantic *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		finding_release(&s->findings[i]);
	for (uint32_t i = 0; i < s->n_notes; i++)
		free(s->notes[i]);
	free(s->findings);
	free(s->notes);
	*s = (struct semantic){0};
}

/* A dead server neither answers nor has errors. A hanging server may have errors as well. */
int semantic_gravity(const struct semantic_finding *f)
{
	return !strcmp(f->cause, cause_crash.name) ? 2 : !strcmp(f->cause, cause_server_hung.name);
}

/* Append the sentences of `from` to those of `to`, except for duplicates. */
static int take_evidence(struct semantic_finding *to, struct semantic_finding *from)
{
	for (uint32_t i = 0; i < from->n_evidence; i++) {
		bool told = false;

		for (uint32_t k = 0; k < to->n_evidence; k++)
			told = told || !strcmp(to->evidence[k], from->evidence[i]);
		if (told)
			continue;
		if (array_reserve(&to->evidence, &to->cap_evidence, (size_t)to->n_evidence + 1,
			    sizeof(char *)) < 0)
			return -ENOMEM;
		to->evidence[to->n_evidence++] = TAKE_PTR(from->evidence[i]);
	}
	return traced_calls_add_all(&to->calls, &to->n_calls, from->calls, from->n_calls);
}

/* Merge two findings about one component: the graver one stays. */
static int merge(struct semantic_finding *a, struct semantic_finding *b)
{
	struct semantic_finding graver = *a;

	if (semantic_gravity(b) > semantic_gravity(a)) {
		*a = *b;
		*b = graver;
	}
	if (!strcmp(a->cause, b->cause) && b->confidence > a->confidence)
		a->confidence = b->confidence;
	a->n += b->n;
	if (b->first_us < a->first_us)
		a->first_us = b->first_us;
	if (b->last_us > a->last_us)
		a->last_us = b->last_us;
	return take_evidence(a, b);
}

static int merge_all(struct semantic *s)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < s->n; i++) {
		for (uint32_t k = i + 1; r == 0 && k < s->n;) {
			if (strcmp(s->findings[i].component->text,
				    s->findings[k].component->text) != 0) {
				k++;
				continue;
			}
			r = merge(&s->findings[i], &s->findings[k]);
			finding_release(&s->findings[k]);
			s->findings[k] = s->findings[--s->n];
		}
	}
	return r;
}

/* Readers of the findings must know which data is missing in the traces. */
static int note_gaps(const struct traces *t, struct semantic *s)
{
	_cleanup_(strbuf_release) struct strbuf sb = {0};
	int r = 0;

	if (t->n_lost) {
		strbuf_printf(
			&sb, "%" PRIu64 " events of system calls were lost in tracing", t->n_lost);
		r = tell_note(s, &sb);
	}
	if (r == 0 && t->overflow) {
		strbuf_puts(&sb,
			"there are too many calls that failed or hung; limpet considered only the "
			"first ones");
		r = tell_note(s, &sb);
	}
	return r;
}

int semantic_judge(
	const struct traces *t, const struct semantic_options *options, struct semantic *ret)
{
	int r = semantic_crashes(t, options, ret);

	for (size_t i = 0; i < t->n_hosts; i++)
		ret->n_observers += t->hosts[i].traced;
	ret->n_processes = (uint32_t)t->n_born;
	if (r == 0)
		r = semantic_hangs(t, options, ret);
	if (r == 0)
		r = semantic_errors(t, options, ret);
	if (r == 0)
		r = note_gaps(t, ret);
	return r < 0 ? r : merge_all(ret);
}
