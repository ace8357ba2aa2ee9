#include "trace/stack/stack_evidence.h"

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "explain/cause.h"
#include "model/verdict_own.h"
#include "trace/stack/stack_report.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool stack_evidence_applies(const struct lp_verdict *v)
{
	for (uint32_t i = 0; i < v->n_components; i++) {
		if (!strcmp(v->components[i]->kind, "layer"))
			return true;
	}
	return !v->n_components; /* a program alone, which has no peers */
}

/* Append a text, which is taken over, to a list. */
static int text_append(char ***list, uint32_t *n, char *text)
{
	char **grown = text ? reallocarray(*list, (size_t)*n + 1, sizeof(*grown)) : NULL;

	if (!grown) {
		free(text);
		return -ENOMEM;
	}
	grown[(*n)++] = text;
	*list = grown;
	return 0;
}

/* How long a call waited for what is said to be slow: the network to the server, or the server. */
static int64_t share_slow_ns(const struct stack_share *share, const struct lp_suspect *s)
{
	return cause_is_network(s->cause) ? share->network_ns : share->ns;
}

/* The share of the server that took longest, among calls that began in the suspect's time, or among
 * all if none did. */
static const struct stack_share *share_longest(
	const struct stack_metrics *m, const char *server, const struct lp_suspect *s)
{
	const struct stack_share *longest[2] = {NULL, NULL};

	for (size_t i = 0; i < m->n_shares; i++) {
		const struct stack_share *share = &m->shares[i];
		const struct span *span = &m->graph->spans->items[m->calls[share->call].span];
		bool inside =
			span->end_ns / 1000 >= s->first_us && span->start_ns / 1000 <= s->last_us;

		if (strcmp(stack_server_name(m, share->server), server) != 0)
			continue;
		if (!longest[inside] || share_slow_ns(share, s) > share_slow_ns(longest[inside], s))
			longest[inside] = share;
	}
	return longest[1] ? longest[1] : longest[0];
}

static int suspect_tell(struct lp_verdict *v, const struct stack_metrics *m, struct lp_suspect *s)
{
	const struct stack_share *share =
		share_longest(m, v->components[s->component]->observer, s);
	struct strbuf sb = {0};

	if (!share || !share_slow_ns(share, s))
		return 0;
	stack_add_wait_for(&sb, m, share, cause_is_network(s->cause));
	return text_append(&s->evidence, &s->n_evidence, strbuf_take(&sb));
}

int stack_evidence_add(struct lp_verdict *v, const struct stack_metrics *m)
{
	_cleanup_(strbuf_release) struct strbuf sb = {0};
	int r = 0;

	if (!m->n_calls)
		return 0;
	for (uint32_t i = 0; i < v->n_suspects && r == 0; i++)
		r = suspect_tell(v, m, &v->suspects[i]);
	for (uint32_t i = 0; i < v->n_warnings && r == 0; i++)
		r = suspect_tell(v, m, &v->warnings[i]);
	if (r < 0)
		return r;
	stack_add_headline(&sb, m);
	if (sb.failed)
		return -ENOMEM;
	return verdict_note_hint(v, "limpet stack show", "%s", sb.text);
}

int stack_evidence_read(struct lp_verdict *v, struct lp_dataset *ds, struct lp_err *err)
{
	_cleanup_(stack_metrics_release) struct stack_metrics metrics = {0};
	_cleanup_(graph_release) struct graph graph = {0};
	_cleanup_(spans_release) struct spans spans = {0};
	struct lp_err ignored = {0};
	int r;

	if (!stack_evidence_applies(v))
		return 0;
	r = spans_read(&spans, ds, &ignored);
	if (r < 0 && r != -EBADMSG)
		return lp_err_set(err, r, "%s", ignored.text);
	if (!spans.n)
		return 0;
	r = graph_open(&graph, &spans);
	if (r < 0)
		return lp_err_sys(err, r, "cannot join the calls");
	r = graph_join(&graph, err);
	if (r == 0)
		r = stack_metrics_compute(&graph, -1, NULL, &metrics, err);
	if (r < 0)
		return r;
	r = stack_evidence_add(v, &metrics);
	return r < 0 ? lp_err_sys(err, r, "cannot describe the calls") : 0;
}
