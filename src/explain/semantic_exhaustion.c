/* Programs with calls that fail because something ran out or broke: space, descriptors, memory, a
 * disk. No other process has to be traced: such an errno is evidence by itself if it persists, or
 * if it ended the process. Clients that waited for the program make it more certain. */
#include "explain/semantic.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/time.h"
#include "explain/semantic_normal.h"
#include "explain/semantic_tell.h"
#include "model/quantity.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* A failure persists if it happens PERSISTENT_N times over at least PERSISTENT_NS, or
 * PERSISTENT_MANY times in any time. */
#define PERSISTENT_N 10
#define PERSISTENT_NS (10 * NS_PER_SEC)
#define PERSISTENT_MANY 1000
/* A process that exits at most this long after a failed call ended because of it. */
#define ENDED_NS NS_PER_SEC
/* A failure at most this long before the end of the data continues. */
#define GOES_ON_NS (10 * NS_PER_SEC)
/* A failure of a server affects its clients for this long. */
#define EXPLAINS_US INT64_C(60000000)

#define SURE_ENDED 0.8
#define SURE_PERSISTENT 0.85
#define SURE_BOTH 0.9
#define SURE_FELT 0.95	    /* and a client waited for it */
#define SURE_UNTRAINED 0.97 /* factor: normal failures were not learnt */

/* The same call of the same program with the same errno. */
struct shortage {
	uint32_t program;
	uint16_t nr, error;
	bool compat;
	uint64_t n;
	int64_t first_ns, last_ns;
	uint32_t example; /* the first failure, preferably one with a name; TRACES_NONE */
	uint32_t ended;	  /* the first process that ended because of it; TRACES_NONE */
	uint32_t n_ended;
};

struct shortages {
	const struct traces *t;
	const struct semantic_options *options;
	struct semantic *s;
	uint32_t n_told; /* number of existing findings of other kinds */
	struct shortage *items;
	size_t n, cap;
};

static void shortages_release(struct shortages *q)
{
	free(q->items);
}

static struct shortage *shortage_of(
	struct shortages *q, uint32_t program, uint16_t nr, bool compat, uint16_t error)
{
	for (size_t i = 0; i < q->n; i++) {
		struct shortage *item = &q->items[i];

		if (item->program == program && item->nr == nr && item->compat == compat &&
			item->error == error)
			return item;
	}
	if (array_reserve(&q->items, &q->cap, q->n + 1, sizeof(*q->items)) < 0)
		return NULL;
	q->items[q->n] = (struct shortage){.program = program,
		.nr = nr,
		.compat = compat,
		.error = error,
		.first_ns = INT64_MAX,
		.example = TRACES_NONE,
		.ended = TRACES_NONE};
	return &q->items[q->n++];
}

static bool counts(const struct shortages *q, const struct traced_failure *f)
{
	return !f->eof && normal_is_exhaustion(f->error, f->nr, f->compat, f->file) &&
		!normal_failure(q->t, q->options->trained, f);
}

static int gather_failures(struct shortages *q)
{
	for (uint32_t i = 0; i < q->t->n_failures; i++) {
		const struct traced_failure *f = &q->t->failures[i];
		struct shortage *item;

		if (!counts(q, f))
			continue;
		item = shortage_of(
			q, q->t->processes[f->process].program, f->nr, f->compat, f->error);
		if (!item)
			return -ENOMEM;
		item->n += f->n;
		item->first_ns = f->first_ns < item->first_ns ? f->first_ns : item->first_ns;
		item->last_ns = f->last_ns > item->last_ns ? f->last_ns : item->last_ns;
		if (item->example == TRACES_NONE ||
			(f->name && !q->t->failures[item->example].name))
			item->example = i;
	}
	return 0;
}

/* Rows count all failures; a summary logs only some. Rows do not show the file: if that matters,
 * the log must have it. */
static int gather_tallies(struct shortages *q)
{
	for (size_t i = 0; i < q->t->n_tallies; i++) {
		const struct traced_tally *tally = &q->t->tallies[i];
		struct shortage *item;

		if (!tally->n ||
			!normal_is_exhaustion(tally->error, tally->nr, false, TRACE_FILE_NONE) ||
			normal_pair(q->options->trained, q->t->programs[tally->program].serves,
				tally->nr, tally->error))
			continue;
		item = shortage_of(q, tally->program, tally->nr, false, tally->error);
		if (!item)
			return -ENOMEM;
		if (item->example == TRACES_NONE && tally->error == EIO)
			continue;
		item->n = tally->n > item->n ? tally->n : item->n;
		if (time_ns(tally->first_us) < item->first_ns && item->example == TRACES_NONE)
			item->first_ns = time_ns(tally->first_us);
		if (item->example == TRACES_NONE && time_ns(tally->last_us) > item->last_ns)
			item->last_ns = time_ns(tally->last_us);
	}
	return 0;
}

/* Collect processes that exited after such a failure. semantic_crash.c reports those that died by a
 * signal. */
static int gather_ends(struct shortages *q)
{
	for (uint32_t i = 0; i < q->t->n_processes; i++) {
		const struct traced_process *p = &q->t->processes[i];
		const struct traced_failure *f;
		struct shortage *item;
		uint32_t reason;

		if (!p->died_ns || p->asked || !WIFEXITED(p->status) || !WEXITSTATUS(p->status))
			continue;
		reason = tell_last_failure(q->t, q->options, i, p->died_ns - ENDED_NS, p->died_ns);
		if (reason == TRACES_NONE || !counts(q, &q->t->failures[reason]))
			continue;
		f = &q->t->failures[reason];
		item = shortage_of(q, p->program, f->nr, f->compat, f->error);
		if (!item)
			return -ENOMEM;
		item->n_ended++;
		if (item->ended == TRACES_NONE) {
			item->ended = i;
			item->example = reason;
		}
	}
	return 0;
}

static bool is_persistent(const struct shortage *item)
{
	return item->n >= PERSISTENT_MANY ||
		(item->n >= PERSISTENT_N && item->last_ns - item->first_ns >= PERSISTENT_NS);
}

/* The host of a finding; TRACES_NONE: the name is unknown. */
static uint32_t host_of(const struct traces *t, const struct semantic_finding *f)
{
	uint32_t host;

	return strmap_get(&t->by_host, f->component->observer, &host) ? host : TRACES_NONE;
}

/* Is it already explained, because the program or a server that it may depend on is accused? */
static bool is_explained(const struct shortages *q, const struct shortage *item)
{
	const struct traces *t = q->t;
	const struct traced_program *p = &t->programs[item->program];
	_cleanup_(lp_identity_unrefp) struct lp_identity *component =
		tell_component(t, p->host, item->program, 0);
	bool sure;

	for (uint32_t i = 0; component && i < q->n_told; i++) {
		const struct semantic_finding *f = &q->s->findings[i];
		uint32_t host = host_of(t, f);

		if (!strcmp(f->component->text, component->text))
			return true;
		if (!p->serves && host != TRACES_NONE && traces_linked(t, p->host, host, &sure) &&
			item->last_ns / 1000 >= f->first_us - EXPLAINS_US &&
			item->first_ns / 1000 <= f->last_us + EXPLAINS_US)
			return true;
	}
	return false;
}

/* The connection on which a client waited for an answer of the program during the failure, and the
 * longest wait; TRACES_NONE: none. */
static uint32_t find_waiting(
	const struct shortages *q, const struct shortage *item, int64_t *ret_us)
{
	const struct traces *t = q->t;
	struct traced_span span = {item->first_ns / 1000 - SEMANTIC_SKEW_NS / 1000,
		item->last_ns / 1000 + q->options->error_window_us};
	uint32_t found = TRACES_NONE;
	struct traced_span s;

	*ret_us = 0;
	for (uint32_t i = 0; i < t->n_peers; i++) {
		const struct traced_peer *p = &t->peers[i];

		if (p->server != t->programs[item->program].host ||
			traces_server(t, p->server, p->port) != item->program)
			continue;
		for (size_t k = 0; traces_silence(p, k, &s); k++) {
			if (s.to_us < span.from_us || s.from_us > span.to_us ||
				s.to_us - s.from_us <= *ret_us)
				continue;
			*ret_us = s.to_us - s.from_us;
			found = i;
		}
	}
	return found;
}

static void tell_times(struct strbuf *sb, const struct shortages *q, const struct shortage *item)
{
	bool goes_on = q->t->now_ns - item->last_ns < GOES_ON_NS && item->ended == TRACES_NONE;

	if (item->n <= 1) {
		strbuf_puts(sb, " at ");
		tell_time(sb, item->first_ns);
		return;
	}
	strbuf_printf(sb, ", %" PRIu64 " times %s ", item->n, goes_on ? "since" : "from");
	tell_time(sb, item->first_ns);
	if (!goes_on) {
		strbuf_puts(sb, " to ");
		tell_time(sb, item->last_ns);
	}
}

/* "postgres (pid 812) on db: write to /data/db.wal fails with ENOSPC (No space left on device), 214
 * times since ..." */
static void tell_shortage(struct strbuf *sb, const struct shortages *q, const struct shortage *item)
{
	const struct traces *t = q->t;
	const struct traced_program *p = &t->programs[item->program];
	const struct traced_failure *f =
		item->example == TRACES_NONE ? NULL : &t->failures[item->example];
	const char *what = strerrordesc_np(item->error);
	char buf[SYSCALL_NAME_MAX];

	if (f)
		tell_process(sb, t, f->process);
	else
		strbuf_printf(sb, "%s on %s", p->comm, t->hosts[p->host].name);
	strbuf_puts(sb, ": ");
	tell_call_to(sb, item->nr, item->compat, f ? f->name : NULL, f ? f->fd : -1);
	strbuf_printf(sb, " %s with %s",
		item->ended == TRACES_NONE && item->n > 1 ? "fails" : "failed",
		errno_name(item->error, buf));
	if (what)
		strbuf_printf(sb, " (%s)", what);
	tell_times(sb, q, item);
}

static int tell_evidence(const struct shortages *q, struct semantic_finding *f,
	const struct shortage *item, uint32_t peer, int64_t waited_us)
{
	const struct traces *t = q->t;
	_cleanup_(strbuf_release) struct strbuf sb = {0};
	int r;

	tell_shortage(&sb, q, item);
	r = tell_sentence(f, &sb);
	if (r == 0 && item->example != TRACES_NONE)
		r = tell_failed_call(f, t, &t->failures[item->example]);
	if (r == 0 && item->ended != TRACES_NONE) {
		const struct traced_process *p = &t->processes[item->ended];

		tell_process(&sb, t, item->ended);
		strbuf_printf(&sb, " ended with status %d at ", WEXITSTATUS(p->status));
		tell_time(&sb, p->died_ns);
		if (item->n_ended > 1)
			strbuf_printf(&sb,
				", the first of %" PRIu32 " processes that ended in this way",
				item->n_ended);
		tell_extend(f, p->died_ns, p->died_ns);
		r = tell_sentence(f, &sb);
	}
	if (r == 0 && peer != TRACES_NONE) {
		char span[QUANTITY_TEXT_MAX];

		strbuf_printf(&sb, "%s waited %s for an answer of %s meanwhile",
			t->hosts[t->peers[peer].host].name, quantity_format_span(waited_us, span),
			t->peers[peer].name);
		r = tell_sentence(f, &sb);
	}
	return r;
}

static double confidence_of(const struct shortages *q, const struct shortage *item, bool felt)
{
	double c = item->ended == TRACES_NONE ? SURE_PERSISTENT
		: is_persistent(item)	      ? SURE_BOTH
					      : SURE_ENDED;

	c = felt ? SURE_FELT : c;
	return q->options->trained ? c : c * SURE_UNTRAINED;
}

static int accuse(struct shortages *q, const struct shortage *item)
{
	const struct traces *t = q->t;
	uint32_t process =
		item->example == TRACES_NONE ? TRACES_NONE : t->failures[item->example].process;
	int64_t waited_us;
	uint32_t peer = find_waiting(q, item, &waited_us);
	struct semantic_finding *f = tell_accuse(q->s,
		tell_component(t, t->programs[item->program].host, item->program, 0),
		&cause_resource_exhausted, confidence_of(q, item, peer != TRACES_NONE));

	if (!f)
		return -ENOMEM;
	f->n = item->n < UINT32_MAX ? (uint32_t)item->n : UINT32_MAX;
	tell_extend(f, item->first_ns, item->last_ns);
	f->advice = tell_advice(t, process, item->error, 0, &cause_resource_exhausted);
	return f->advice ? tell_evidence(q, f, item, peer, waited_us) : -ENOMEM;
}

int semantic_exhaustion(
	const struct traces *t, const struct semantic_options *options, struct semantic *s)
{
	_cleanup_(shortages_release) struct shortages q = {
		.t = t, .options = options, .s = s, .n_told = s->n};
	int r = gather_failures(&q);

	if (r == 0)
		r = gather_tallies(&q);
	if (r == 0)
		r = gather_ends(&q);
	for (size_t i = 0; r == 0 && i < q.n; i++) {
		if ((is_persistent(&q.items[i]) || q.items[i].ended != TRACES_NONE) &&
			!is_explained(&q, &q.items[i]))
			r = accuse(&q, &q.items[i]);
	}
	return r;
}
