/* Keeps findings about state that was already freed. */
#include "explain/semantic_reader.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/time.h"
#include "explain/semantic_tell.h"
#include "model/traced_call.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct semantic_finding *finding_of(
	const struct semantic *s, const struct lp_identity *component)
{
	for (uint32_t i = 0; i < s->n; i++) {
		if (!strcmp(s->findings[i].component->text, component->text))
			return &s->findings[i];
	}
	return NULL;
}

/* Copy the sentences, the calls and the advice to `to`, which has none. */
static int copy_words(struct semantic_finding *to, const struct semantic_finding *from)
{
	if (array_reserve(&to->evidence, &to->cap_evidence, (size_t)from->n_evidence + 1,
		    sizeof(char *)) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < from->n_evidence; i++) {
		to->evidence[i] = strdup(from->evidence[i]);
		if (!to->evidence[i])
			return -ENOMEM;
		to->n_evidence = i + 1;
	}
	to->advice = strdup(from->advice);
	if (!to->advice)
		return -ENOMEM;
	return traced_calls_add_all(&to->calls, &to->n_calls, from->calls, from->n_calls);
}

/* Forget the texts and the calls, which another finding owns. */
static void forget_words(struct semantic_finding *f)
{
	f->evidence = NULL;
	f->advice = NULL;
	f->n_evidence = 0;
	f->cap_evidence = 0;
	f->calls = NULL;
	f->n_calls = 0;
}

static void drop_words(struct semantic_finding *f)
{
	for (uint32_t i = 0; i < f->n_evidence; i++)
		free(f->evidence[i]);
	free(f->evidence);
	free(f->advice);
	traced_calls_free(f->calls, f->n_calls);
	forget_words(f);
}

static int finding_copy(struct semantic *to, const struct semantic_finding *from)
{
	struct semantic_finding *f;

	if (array_reserve(&to->findings, &to->cap, (size_t)to->n + 1, sizeof(*f)) < 0)
		return -ENOMEM;
	f = &to->findings[to->n];
	*f = *from;
	f->component = lp_identity_ref(from->component);
	forget_words(f);
	to->n++;
	return copy_words(f, from);
}

/* Merge an old and a new finding: use the new text, unless the old finding was graver. Sets
 * `carried` if it begins before its evidence. */
static int combine(struct semantic_finding *f, const struct semantic_finding *then,
	const struct semantic_finding *now)
{
	struct semantic_finding a = *then, b = *now, old = *f;
	bool graver = semantic_gravity(&a) > semantic_gravity(&b);
	bool has_words = (f == then) == graver;
	const struct semantic_finding *words = graver ? &a : &b;
	int r;

	f->cause = words->cause;
	f->confidence = words->confidence;
	if (!strcmp(a.cause, b.cause) && a.confidence > b.confidence)
		f->confidence = a.confidence;
	f->n = a.n > b.n ? a.n : b.n;
	f->carried = graver ? a.carried : a.first_us < b.first_us;
	f->first_us = a.first_us < b.first_us ? a.first_us : b.first_us;
	f->last_us = a.last_us > b.last_us ? a.last_us : b.last_us;
	if (has_words)
		return 0;
	forget_words(f);
	r = copy_words(f, words);
	drop_words(&old);
	return r;
}

int semantic_keep(struct semantic *kept, const struct semantic *page, int64_t before_us)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < page->n; i++) {
		const struct semantic_finding *now = &page->findings[i];
		struct semantic_finding *then = finding_of(kept, now->component);

		if (now->first_us >= before_us)
			continue;
		if (then)
			r = combine(then, then, now);
		else
			r = finding_copy(kept, now);
	}
	return r;
}

static int tell_beginning(struct semantic_finding *f)
{
	_cleanup_(strbuf_release) struct strbuf sb = {0};

	strbuf_puts(&sb, "it began at ");
	tell_time(&sb, time_ns(f->first_us));
	return tell_sentence(f, &sb);
}

int semantic_recall(const struct semantic *kept, struct semantic *ret)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < kept->n; i++) {
		const struct semantic_finding *then = &kept->findings[i];
		struct semantic_finding *now = finding_of(ret, then->component);

		if (now)
			r = combine(now, then, now);
		else
			r = finding_copy(ret, then);
	}
	for (uint32_t i = 0; r == 0 && i < ret->n; i++) {
		if (ret->findings[i].carried)
			r = tell_beginning(&ret->findings[i]);
	}
	return r;
}
