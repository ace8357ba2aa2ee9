#include "trace/session.h"

#include "base/cleanup.h"
#include "base/time.h"
#include "collect/keep.h"
#include "trace/session_state.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A clock that moved by more than this against the steady one was set. */
#define STEP_MIN_NS (NS_PER_SEC / 2)
/* At the end, what does not wait by design and has taken this long is told. */
#define STUCK_END_NS NS_PER_SEC
/* A connection that nobody uses for so long is forgotten; if it is used again, it is a new one. */
#define IDLE_NS (600 * NS_PER_SEC)
#define SAMPLES_MAX 600
#define PROCESSES_MAX 65536
/* A poll never waits longer: whoever asks for the end has no patience. */
#define POLL_MAX_MS 500

static void session_release(struct session *s)
{
	if (s->state)
		s->backend->close(s->state);
	descriptors_free(s->descriptors);
	tally_free(s->tally);
	trace_rows_free(s->rows);
	spool_close(s->spool, NULL);
	lp_catalogue_free(s->sink.catalogue);
	free(s->ended);
	idmap_release(&s->seen);
	idmap_release(&s->asked);
	idmap_release(&s->told_fds);
	names_release(&s->names);
}

/* How many samples may wait in memory until they are written. */
static uint32_t samples_per_flush(const struct trace_session_config *c)
{
	int64_t n = c->flush_us / c->interval_us;

	return n < 1 ? 1 : n > SAMPLES_MAX ? SAMPLES_MAX : (uint32_t)n;
}

static int spool_begin(struct session *s, struct lp_err *err)
{
	const struct trace_session_config *c = s->config;
	const struct spool_config spool = {.dir = c->dir,
		.name = c->name,
		.path = c->path,
		.observer = c->observer,
		.interval_us = c->interval_us,
		.batch_samples = samples_per_flush(c),
		.meta = c->meta,
		.anew = true,
		.logs = true,
		.warn = c->warn};

	return spool_open(&spool, &s->spool, err);
}

/* Its name, while it is there to be asked. */
static int note_name(struct session *s, pid_t pid)
{
	const char *name = descriptors_comm(s->descriptors, pid);

	return names_set(&s->names, pid, name, strlen(name));
}

/* The processes that are traced now, for the caller to free. */
static int list_processes(struct session *s, pid_t **ret, unsigned *ret_n, struct lp_err *err)
{
	pid_t *pids = calloc(PROCESSES_MAX, sizeof(*pids));
	unsigned n;

	if (!pids)
		return lp_err_sys(err, -ENOMEM, "cannot list the processes");
	n = s->backend->processes(s->state, pids, PROCESSES_MAX);
	*ret_n = n < PROCESSES_MAX ? n : PROCESSES_MAX;
	*ret = pids;
	return 0;
}

/* The processes that are there, and the descriptors that they have open. */
static int read_processes(struct session *s, struct lp_err *err)
{
	_cleanup_free_ pid_t *pids = NULL;
	int64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	unsigned n = 0;
	int r = list_processes(s, &pids, &n, err);

	for (unsigned i = 0; r == 0 && i < n; i++) {
		s->stats.processes++;
		r = idmap_put(&s->seen, (uint64_t)pids[i], 0);
		if (r == 0)
			r = s->counts ? note_name(s, pids[i])
				      : descriptors_read(s->descriptors, pids[i], now_ns, err);
	}
	return r;
}

static int session_open(struct session *s, struct lp_err *err)
{
	const struct trace_session_config *c = s->config;
	const struct trace_sink sink = {.event = session_event, .ctx = s};
	int r;

	s->backend = c->backend;
	s->counts = !c->trace.records && c->backend->counts && c->backend->tally;
	s->wall_offset_ns = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC);
	s->day_start_us = keep_day_start(clock_ns(CLOCK_REALTIME) / 1000);
	s->descriptors = descriptors_new("/proc", session_change, s);
	s->tally = tally_new();
	s->rows = trace_rows_new(c->observer, session_comm, s);
	s->sink.catalogue = lp_catalogue_new();
	if (!s->descriptors || !s->tally || !s->rows || !s->sink.catalogue)
		return lp_err_sys(err, -ENOMEM, "cannot begin to trace");
	r = spool_begin(s, err);
	if (r == 0)
		r = s->backend->open(&c->trace, &sink, &s->state, err);
	if (r == 0)
		r = read_processes(s, err);
	s->start_ns = clock_ns(CLOCK_MONOTONIC);
	if (r == 0 && c->started)
		c->started(c->ctx, &s->stats);
	return r;
}

/* Did somebody set the clock since the last sample? */
static void note_clock_step(struct session *s, int64_t wall_ns, int64_t mono_ns)
{
	int64_t step = wall_ns - mono_ns - s->wall_offset_ns;
	char text[80];

	s->wall_offset_ns += step;
	if (step < STEP_MIN_NS && step > -STEP_MIN_NS)
		return;
	snprintf(text, sizeof(text), "kind=clock-step step_us=%" PRId64, step / 1000);
	spool_event(s->spool, wall_ns / 1000, text);
}

/* Say in the log how many events are missing that no event has told of. Not before the end: a
 * backend may have yet to deliver the event that tells. */
static int note_lost(struct session *s, int64_t wall_ns)
{
	struct trace_event e = {.what = TRACE_LOST, .start_ns = wall_ns};

	s->stats.lost = s->backend->lost(s->state);
	if (!s->at_end || s->stats.lost <= s->lost_told)
		return 0;
	e.ret = (int64_t)(s->stats.lost - s->lost_told);
	s->lost_told = s->stats.lost;
	return trace_log_add(spool_log(s->spool), &e);
}

/* Say once of each kind that there are more of them than rows. */
static void note_folded(struct session *s, int64_t wall_ns)
{
	unsigned new = trace_rows_folded(s->rows) & ~s->folded_told;
	char text[80];

	for (unsigned k = 0; k < TRACE_ROWS_KINDS; k++) {
		if (!(new >> k & 1))
			continue;
		snprintf(text, sizeof(text), "kind=folded rows=%s into=other",
			trace_rows_schemas[k].kind);
		spool_event(s->spool, wall_ns / 1000, text);
		lp_warn_raise(s->config->warn, "too many rows of kind %s: the rest is one, 'other'",
			trace_rows_schemas[k].kind);
	}
	s->folded_told |= new;
}

/* What had ended when it was counted is counted now: forget it. */
static void forget_ended(struct session *s, int64_t now_ns)
{
	for (size_t i = 0; i < s->n_over; i++) {
		const struct trace_event e = {.what = TRACE_EXIT, .pid = s->ended[i]};

		descriptors_apply(s->descriptors, &e, NULL);
		names_drop(&s->names, e.pid);
	}
	s->n_ended -= s->n_over;
	if (s->n_ended)
		memmove(s->ended, s->ended + s->n_over, s->n_ended * sizeof(*s->ended));
	s->n_over = 0;
	trace_rows_drop(s->rows, s->tally, now_ns - IDLE_NS);
}

/* A new day has a new file. */
static int begin_day(struct session *s, int64_t wall_us)
{
	if (wall_us < s->day_start_us + US_PER_DAY)
		return 0;
	s->day_start_us = keep_day_start(wall_us);
	return spool_submit(s->spool, s->sink.catalogue, s->sink.n_added, true);
}

/* A process is asked on which sockets it listens when it is first seen, and once more when it has
 * had the time to begin. So many a sample: whoever starts thousands is no server. */
#define LISTENING_AGAIN 10
#define LISTENING_MAX 64

/* Records tell of all descriptors; summaries only of these. */
static int note_listening(struct session *s, int64_t mono_ns, struct lp_err *err)
{
	_cleanup_free_ pid_t *pids = NULL;
	unsigned n = 0, looks = 0;
	int r;

	if (s->config->trace.records)
		return 0;
	r = list_processes(s, &pids, &n, err);
	for (unsigned i = 0; r == 0 && i < n && looks < LISTENING_MAX; i++) {
		uint32_t samples = 0;

		idmap_get(&s->asked, (uint64_t)pids[i], &samples);
		if (samples == 0 || samples == LISTENING_AGAIN) {
			looks++;
			r = descriptors_listening(s->descriptors, pids[i], mono_ns, err);
		}
		if (r == 0 && samples <= LISTENING_AGAIN)
			r = idmap_put(&s->asked, (uint64_t)pids[i], samples + 1);
	}
	return r;
}

/* The rows of one sample, from what was counted. */
static int add_sample(struct session *s, int64_t wall_ns, int64_t mono_ns, struct lp_err *err)
{
	struct lp_batch *b;
	int r = begin_day(s, wall_ns / 1000);

	if (r == 0 && spool_batch(s->spool)->n_samples == spool_batch(s->spool)->cap_samples)
		r = spool_submit(s->spool, s->sink.catalogue, s->sink.n_added, false);
	b = s->sink.batch = spool_batch(s->spool);
	if (r == 0)
		r = lp_batch_add_sample(b, wall_ns / 1000, clock_ns(CLOCK_BOOTTIME) / 1000);
	if (r < 0)
		return lp_err_sys(err, r, "cannot take a sample");
	r = trace_rows_fill(s->rows, s->tally, mono_ns, s->stats.lost, &s->sink, err);
	s->n_samples++;
	if (r == 0 && b->n_samples == b->cap_samples) {
		r = spool_submit(s->spool, s->sink.catalogue, s->sink.n_added, false);
		if (r < 0)
			return lp_err_sys(err, r, "cannot keep samples");
	}
	return r;
}

/* Bring the counts up to date. The kernel counts also what is done by processes that it told of
 * after we last listened, and which may be gone: hear of them, and of their names. */
static int update_counts(struct session *s, struct lp_err *err)
{
	int r = 0;

	s->n_over = s->n_ended;
	for (size_t i = 0; i < s->n_over && r == 0; i++)
		r = trace_rows_process(s->rows, s->ended[i], false);
	if (r < 0)
		return lp_err_sys(err, r, "cannot go on tracing");
	if (!s->counts)
		return 0;
	r = s->backend->tally(s->state, s->tally, err);
	if (r < 0)
		return r;
	r = s->backend->poll(s->state, 0, err);
	s->stats.ended |= r == 1;
	return r < 0 && r != -EINTR ? r : 0;
}

/* Look at what does not end, bring the counts up to date, and take a sample of them. */
static int take_sample(struct session *s, struct lp_err *err)
{
	int64_t wall_ns = clock_ns(CLOCK_REALTIME), mono_ns = clock_ns(CLOCK_MONOTONIC);
	int r;

	note_clock_step(s, wall_ns, mono_ns);
	s->stats.stuck = 0;
	r = note_listening(s, mono_ns, err);
	if (r < 0)
		return r;
	r = s->backend->pending(s->state, s->at_end ? STUCK_END_NS : s->config->stuck_ns, err);
	s->last_pending_ns = mono_ns;
	if (r == 0)
		r = update_counts(s, err);
	if (r == 0 && note_lost(s, wall_ns) < 0)
		r = lp_err_sys(err, -ENOMEM, "cannot go on tracing");
	if (r == 0)
		r = add_sample(s, wall_ns, mono_ns, err);
	if (r < 0)
		return r;
	forget_ended(s, mono_ns);
	note_folded(s, wall_ns);
	s->stats.calls = trace_rows_calls(s->rows);
	s->stats.errors = trace_rows_errors(s->rows);
	s->stats.elapsed_us = (mono_ns - s->start_ns) / 1000;
	if (s->config->progress)
		s->config->progress(s->config->ctx, &s->stats);
	return 0;
}

static bool is_over(const struct session *s)
{
	int64_t elapsed_us = (clock_ns(CLOCK_MONOTONIC) - s->start_ns) / 1000;

	return *s->config->stop || s->stats.ended ||
		(s->config->duration_us && elapsed_us >= s->config->duration_us);
}

/* Milliseconds until the next sample (or the end) is due, rounded up. */
static int poll_ms(const struct session *s, int64_t next_us)
{
	int64_t left_us = next_us - clock_ns(CLOCK_REALTIME) / 1000;

	if (s->config->duration_us) {
		int64_t end_us = s->start_ns / 1000 + s->config->duration_us -
			clock_ns(CLOCK_MONOTONIC) / 1000;

		left_us = end_us < left_us ? end_us : left_us;
	}
	if (left_us <= 0)
		return 0;
	return left_us / 1000 >= POLL_MAX_MS ? POLL_MAX_MS : (int)(left_us / 1000) + 1;
}

static int64_t next_instant(const struct session *s)
{
	int64_t interval = s->config->interval_us;

	return (floor_div(clock_ns(CLOCK_REALTIME) / 1000, interval) + 1) * interval;
}

static int session_loop(struct session *s, struct lp_err *err)
{
	int64_t next_us = next_instant(s);
	int r = take_sample(s, err);

	while (r == 0 && !is_over(s)) {
		int64_t wall_us;

		r = s->backend->poll(s->state, poll_ms(s, next_us), err);
		if (r < 0 && r != -EINTR)
			return r;
		s->stats.ended |= r == 1;
		r = 0;
		wall_us = clock_ns(CLOCK_REALTIME) / 1000;
		/* A clock that was set back must not keep samples from being taken. */
		if (wall_us < next_us && next_us - wall_us <= s->config->interval_us)
			continue;
		r = take_sample(s, err);
		next_us = next_instant(s);
	}
	return r;
}

/* The last of it: what is under way, what was counted; then let go. */
static int session_end(struct session *s, struct lp_err *err)
{
	int r = s->backend->poll(s->state, 0, err);

	s->stats.ended |= r == 1;
	s->at_end = true;
	s->last_pending_ns = 0;
	r = r < 0 && r != -EINTR ? r : take_sample(s, err);
	s->stats.command_status = s->backend->command_status(s->state);
	s->stats.lost = s->backend->lost(s->state);
	s->backend->close(TAKE_PTR(s->state));
	if (r == 0 && trace_rows_behind(s->rows))
		r = add_sample(s, clock_ns(CLOCK_REALTIME), clock_ns(CLOCK_MONOTONIC), err);
	return r;
}

static void tell_rows(const struct session *s)
{
	for (unsigned k = 0; s->config->row && k < TRACE_ROWS_KINDS; k++)
		trace_rows_each(s->rows, k, s->config->row, s->config->ctx);
}

int trace_session_run(const struct trace_session_config *config, struct trace_stats *ret_stats,
	struct lp_err *err)
{
	_cleanup_(session_release) struct session s = {.config = config};
	int64_t now_us;
	int r, submitted;

	s.stats.command_status = -ECHILD;
	s.sink.warn = config->warn;
	r = session_open(&s, err);
	if (r < 0)
		return r;
	r = session_loop(&s, err);
	if (r == 0)
		r = session_end(&s, err);
	else if (s.state)
		s.backend->close(TAKE_PTR(s.state));
	now_us = clock_ns(CLOCK_REALTIME) / 1000;
	submitted = spool_submit(s.spool, s.sink.catalogue, s.sink.n_added, false);
	if (submitted == 0)
		submitted = spool_submit_log(s.spool, now_us);
	spool_close(TAKE_PTR(s.spool), &s.stats.spool);
	tell_rows(&s);
	*ret_stats = s.stats;
	if (r == 0 && submitted < 0)
		r = lp_err_sys(err, submitted, "cannot keep the last samples");
	return r;
}
