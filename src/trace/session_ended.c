/* Ended processes: they are counted once more, and then forgotten. */
#include "base/array.h"
#include "base/cleanup.h"
#include "trace/session_state.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* If counts are not read from the kernel, this many may wait for the next sample. */
#define WAITING_MAX 512
/* If the kernel counts, its cells are read before the next sample when this many have ended. */
#define COUNTED_MAX 256

int session_exit(struct session *s, pid_t pid)
{
	if (array_reserve(&s->ended, &s->cap_ended, s->n_ended + 1, sizeof(*s->ended)) < 0 ||
		idmap_put(&s->ended_pids, (uint64_t)pid, 0) < 0)
		return -ENOMEM;
	s->ended[s->n_ended++] = pid;
	idmap_remove(&s->seen, (uint64_t)pid);
	idmap_remove(&s->asked, (uint64_t)pid);
	return !s->counts && s->n_ended >= WAITING_MAX ? session_absorb(s) : 0;
}

int session_birth(struct session *s, pid_t pid)
{
	size_t n = 0, over = 0;
	uint32_t at;

	if (idmap_get(&s->ended_pids, (uint64_t)pid, &at)) {
		for (size_t i = 0; i < s->n_ended; i++) {
			if (s->ended[i] == pid)
				continue;
			over += i < s->n_over;
			s->ended[n++] = s->ended[i];
		}
		s->n_ended = n;
		s->n_over = over;
		idmap_remove(&s->ended_pids, (uint64_t)pid);
	}
	return trace_rows_process(s->rows, pid, true);
}

int session_count_ended(struct session *s)
{
	int r = 0;

	s->n_over = s->n_ended;
	for (size_t i = 0; i < s->n_over && r == 0; i++)
		r = trace_rows_process(s->rows, s->ended[i], false);
	return r;
}

void session_forget(struct session *s, int64_t now_ns)
{
	for (size_t i = 0; i < s->n_over; i++) {
		const struct trace_event e = {.what = TRACE_EXIT, .pid = s->ended[i]};

		descriptors_apply(s->descriptors, &e, NULL);
		names_drop(&s->names, e.pid);
		idmap_remove(&s->ended_pids, (uint64_t)e.pid);
	}
	s->n_ended -= s->n_over;
	if (s->n_ended)
		memmove(s->ended, s->ended + s->n_over, s->n_ended * sizeof(*s->ended));
	s->n_over = 0;
	s->n_asked_for = s->n_ended;
	trace_rows_drop(s->rows, s->tally, now_ns);
}

int session_absorb(struct session *s)
{
	int64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	int r = session_count_ended(s);

	if (r == 0)
		r = trace_rows_count(s->rows, s->tally, now_ns);
	if (r == 0)
		session_forget(s, now_ns);
	return r;
}

int session_relieve(struct session *s, struct lp_err *err)
{
	if (!s->counts || s->n_ended < s->n_asked_for + COUNTED_MAX)
		return 0;
	s->n_asked_for = s->n_ended;
	return s->backend->tally(s->state, s->tally, err);
}

/* Find processes that are in `seen` but not in `traced`. */
static int find_missing(
	const struct session *s, const struct idmap *traced, pid_t **ret, size_t *ret_n)
{
	_cleanup_free_ pid_t *missing = NULL;
	size_t n = 0, cap = 0, at = 0;
	uint64_t pid;
	uint32_t value;

	while (idmap_next(&s->seen, &at, &pid, &value)) {
		if (idmap_get(traced, pid, &value))
			continue;
		if (array_reserve(&missing, &cap, n + 1, sizeof(*missing)) < 0)
			return -ENOMEM;
		missing[n++] = (pid_t)pid;
	}
	*ret = TAKE_PTR(missing);
	*ret_n = n;
	return 0;
}

int session_miss(struct session *s, const pid_t *pids, unsigned n_pids)
{
	_cleanup_free_ pid_t *missing = NULL;
	_cleanup_(idmap_release) struct idmap traced = {0};
	size_t n = 0;
	int r = 0;

	for (unsigned i = 0; r == 0 && i < n_pids; i++)
		r = idmap_put(&traced, (uint64_t)pids[i], 0);
	if (r == 0)
		r = find_missing(s, &traced, &missing, &n);
	for (size_t i = 0; r == 0 && i < n; i++)
		r = session_exit(s, missing[i]);
	return r;
}
