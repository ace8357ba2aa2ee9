#include "explain/semantic_reader.h"

#include "archive/trace_log.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "base/time.h"
#include "explain/semantic_tell.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The least time to look back; also the interval at which older state is freed. */
#define LOOK_BACK_NS (600 * NS_PER_SEC)
/* Keep one event per second of a process without relevant activity. */
#define ALIVE_SLOTS 1024

/* Records that wait for the watermark, in this order if they have the same time. */
enum record_kind {
	RECORD_PRESENCE,
	RECORD_PROCESS,
	RECORD_PROGRAM,
	RECORD_DESCRIPTOR,
	RECORD_EVENT,
	RECORD_ALIVE,
	RECORD_PEER,
	RECORD_TALLY,
};

struct observer {
	char *name;
	uint64_t n_fed;	 /* records fed so far; it defines their order */
	int64_t seen_us; /* the latest time at which it was present */
	struct alive {
		int32_t pid;
		int64_t second;
	} * alive; /* ALIVE_SLOTS items; NULL: no events so far */
};

struct queued_record {
	int64_t at_ns;
	const struct observer *from;
	uint64_t order;
	enum record_kind kind;
	union {
		struct trace_event event;
		struct trace_descriptor descriptor;
		struct {
			int32_t pid;
			bool flags[2]; /* talks; serves, active; traced */
			int64_t values[3];
		};
	};
	char text[]; /* a name, or the bytes of an event */
};

struct semantic_reader {
	struct semantic_options options;
	struct traces t;
	struct observer **observers;
	size_t n_observers, cap_observers;
	struct strmap by_observer;
	struct queued_record **heap; /* the earliest first */
	size_t n_heap, cap_heap;
	int64_t watermark_us;	 /* INT64_MIN: none yet */
	int64_t latest_us;	 /* of all data that was fed */
	int64_t span_ns, cut_ns; /* how far it looks back; when state is freed next, 0: not known
				  * yet */
	uint64_t n_late;
	bool any;
	struct semantic kept;
};

struct semantic_reader *semantic_reader_new(
	const struct semantic_options *options, const struct hosts *addresses, bool learn)
{
	struct semantic_reader *r = calloc(1, sizeof(*r));
	struct semantic_options *o;

	if (!r)
		return NULL;
	o = &r->options;
	*o = *options;
	o->hang_after_us = o->hang_after_us ? o->hang_after_us : SEMANTIC_HANG_US;
	o->error_window_us = o->error_window_us ? o->error_window_us : SEMANTIC_WINDOW_US;
	r->t.hang_ns = time_ns(o->hang_after_us);
	r->t.gather = learn;
	r->t.addresses = addresses;
	r->span_ns = 4 * r->t.hang_ns > LOOK_BACK_NS ? 4 * r->t.hang_ns : LOOK_BACK_NS;
	r->watermark_us = r->latest_us = INT64_MIN;
	return r;
}

void semantic_reader_free(struct semantic_reader *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n_heap; i++)
		free(r->heap[i]);
	for (size_t i = 0; i < r->n_observers; i++) {
		free(r->observers[i]->alive);
		free(r->observers[i]->name);
		free(r->observers[i]);
	}
	free(r->heap);
	free(r->observers);
	strmap_release(&r->by_observer);
	traces_release(&r->t);
	semantic_release(&r->kept);
	free(r);
}

/* The observer with this name; NULL: out of memory. */
static struct observer *observer_of(struct semantic_reader *r, const char *name)
{
	struct observer *o;
	uint32_t number;

	if (strmap_get(&r->by_observer, name, &number))
		return r->observers[number];
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): this is an array of pointers */
	if (array_reserve(&r->observers, &r->cap_observers, r->n_observers + 1, sizeof(o)) < 0)
		return NULL;
	o = calloc(1, sizeof(*o));
	if (!o)
		return NULL;
	o->name = strdup(name);
	o->seen_us = INT64_MIN;
	if (!o->name || strmap_put(&r->by_observer, name, (uint32_t)r->n_observers) < 0) {
		free(o->name);
		free(o);
		return NULL;
	}
	r->observers[r->n_observers++] = o;
	return o;
}

/* Sort by time, then by names: the order in which observers are fed must not matter. */
static bool is_before(const struct queued_record *a, const struct queued_record *b)
{
	int names;

	if (a->at_ns != b->at_ns)
		return a->at_ns < b->at_ns;
	names = a->from == b->from ? 0 : strcmp(a->from->name, b->from->name);
	if (names)
		return names < 0;
	return a->kind != b->kind ? a->kind < b->kind : a->order < b->order;
}

static void heap_rise(struct queued_record **heap, size_t at)
{
	while (at && is_before(heap[at], heap[(at - 1) / 2])) {
		struct queued_record *up = heap[(at - 1) / 2];

		heap[(at - 1) / 2] = heap[at];
		heap[at] = up;
		at = (at - 1) / 2;
	}
}

static struct queued_record *heap_pop(struct semantic_reader *r)
{
	struct queued_record **heap = r->heap, *first = heap[0];
	size_t at = 0, n = --r->n_heap;

	heap[0] = heap[n];
	for (;;) {
		size_t least = at, left = 2 * at + 1;
		struct queued_record *down = heap[at];

		if (left < n && is_before(heap[left], heap[least]))
			least = left;
		if (left + 1 < n && is_before(heap[left + 1], heap[least]))
			least = left + 1;
		if (least == at)
			return first;
		heap[at] = heap[least];
		heap[least] = down;
		at = least;
	}
}

/* Queue a record. The caller fills in `*ret`, which is NULL if the record is too late. */
static int record_add(struct semantic_reader *r, const char *observer, int64_t at_ns,
	enum record_kind kind, const char *text, size_t len, struct queued_record **ret)
{
	struct observer *o = observer_of(r, observer);
	int64_t at_us = floor_div(at_ns, 1000);
	struct queued_record *record;

	*ret = NULL;
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): the same */
	if (!o || array_reserve(&r->heap, &r->cap_heap, r->n_heap + 1, sizeof(record)) < 0)
		return -ENOMEM;
	if (at_us <= r->watermark_us) {
		r->n_late++;
		return 0;
	}
	record = calloc(1, sizeof(*record) + len + 1);
	if (!record)
		return -ENOMEM;
	record->at_ns = at_ns;
	record->from = o;
	record->order = o->n_fed++;
	record->kind = kind;
	if (len)
		memcpy(record->text, text, len);
	r->latest_us = at_us > r->latest_us ? at_us : r->latest_us;
	r->heap[r->n_heap++] = record;
	heap_rise(r->heap, r->n_heap - 1);
	*ret = record;
	return 0;
}

/* Was an event of this process already kept in this second? */
static bool is_told(struct observer *o, int32_t pid, int64_t second)
{
	size_t slot = (uint32_t)pid % ALIVE_SLOTS;

	if (o->alive[slot].pid == pid && o->alive[slot].second == second)
		return true;
	o->alive[slot].pid = pid;
	o->alive[slot].second = second;
	return false;
}

static int feed_alive(
	struct semantic_reader *r, const char *observer, const struct trace_event *e, int64_t at_ns)
{
	struct observer *o = observer_of(r, observer);
	struct queued_record *record;
	int got;

	if (o && !o->alive)
		o->alive = calloc(ALIVE_SLOTS, sizeof(*o->alive));
	if (!o || !o->alive)
		return -ENOMEM;
	if (is_told(o, e->pid, at_ns / NS_PER_SEC))
		return 0;
	got = record_add(r, observer, at_ns, RECORD_ALIVE, NULL, 0, &record);
	if (record)
		record->pid = e->pid;
	return got;
}

int semantic_reader_event(
	struct semantic_reader *r, const char *observer, const struct trace_event *e)
{
	int64_t at_ns = e->start_ns + e->dur_ns;
	struct queued_record *record;
	int got;

	if (at_ns / 1000 < r->options.from_us ||
		(r->options.to_us && e->start_ns / 1000 >= r->options.to_us))
		return 0;
	if (!traces_event_matters(&r->t, e))
		return feed_alive(r, observer, e, at_ns);
	got = record_add(
		r, observer, at_ns, RECORD_EVENT, e->text, e->text ? e->text_len : 0, &record);
	if (record)
		record->event = *e;
	return got;
}

int semantic_reader_descriptor(
	struct semantic_reader *r, const char *observer, const struct trace_descriptor *d)
{
	struct queued_record *record;
	int got;

	if (r->options.to_us && d->time_ns / 1000 >= r->options.to_us)
		return 0;
	got = record_add(r, observer, d->time_ns, RECORD_DESCRIPTOR, d->name,
		d->name ? strlen(d->name) : 0, &record);
	if (record)
		record->descriptor = *d;
	return got;
}

struct log_feed {
	struct semantic_reader *r;
	const char *observer;
};

static int take_event(void *ctx, uint64_t number, const struct trace_event *e)
{
	const struct log_feed *f = ctx;

	(void)number;
	return semantic_reader_event(f->r, f->observer, e);
}

static int take_descriptor(void *ctx, uint64_t number, const struct trace_descriptor *d)
{
	const struct log_feed *f = ctx;

	(void)number;
	return semantic_reader_descriptor(f->r, f->observer, d);
}

int semantic_reader_log(struct semantic_reader *r, const char *observer, const struct lp_log *log,
	struct lp_err *err)
{
	struct log_feed feed = {r, observer};
	struct trace_log_reader to = {
		.event = take_event, .descriptor = take_descriptor, .ctx = &feed};
	int got = trace_log_take(log, &to, err);

	return got == -ENOMEM ? lp_err_sys(err, got, "cannot read the log %s", log->name) : got;
}

const int64_t *semantic_reader_seen_us(struct semantic_reader *r, const char *observer)
{
	const struct observer *o = observer_of(r, observer);

	return o ? &o->seen_us : NULL;
}

int semantic_reader_presence(
	struct semantic_reader *r, const char *observer, int64_t at_us, bool traced)
{
	struct observer *o = observer_of(r, observer);
	struct queued_record *record;
	int got;

	if (!o)
		return -ENOMEM;
	if (!traced && at_us <= o->seen_us)
		return 0;
	got = record_add(r, observer, time_ns(at_us), RECORD_PRESENCE, NULL, 0, &record);
	o->seen_us = at_us > o->seen_us ? at_us : o->seen_us;
	if (record)
		record->flags[0] = traced;
	return got;
}

int reader_process(struct semantic_reader *r, const char *observer, int64_t at_us, int32_t pid,
	const char *comm, bool talks)
{
	struct queued_record *record;
	int got = record_add(
		r, observer, time_ns(at_us), RECORD_PROCESS, comm, strlen(comm), &record);

	if (record) {
		record->pid = pid;
		record->flags[0] = talks;
	}
	return got;
}

int reader_program(struct semantic_reader *r, const char *observer, int64_t at_us, const char *comm,
	bool serves, bool active)
{
	struct queued_record *record;
	int got = record_add(
		r, observer, time_ns(at_us), RECORD_PROGRAM, comm, strlen(comm), &record);

	if (record) {
		record->flags[0] = serves;
		record->flags[1] = active;
	}
	return got;
}

int reader_peer(struct semantic_reader *r, const char *observer, int64_t at_us, const char *name,
	const int64_t values[3])
{
	struct queued_record *record;
	int got = record_add(r, observer, time_ns(at_us), RECORD_PEER, name, strlen(name), &record);

	if (record)
		memcpy(record->values, values, sizeof(record->values));
	return got;
}

int reader_tally(struct semantic_reader *r, const char *observer, int64_t at_us, const char *name,
	int64_t value)
{
	struct queued_record *record;
	int got =
		record_add(r, observer, time_ns(at_us), RECORD_TALLY, name, strlen(name), &record);

	if (record)
		record->values[0] = value;
	return got;
}

/* The presence of a log is kept separately from its contents. */
static void take_presence(
	struct semantic_reader *r, uint32_t host, const struct queued_record *record)
{
	traces_see_host(&r->t, host, record->at_ns / 1000);
	if (record->flags[0])
		r->any = r->t.hosts[host].traced = true;
}

static int take_program(
	struct semantic_reader *r, uint32_t host, const struct queued_record *record)
{
	struct traced_program *p;
	uint32_t number;

	if (traces_program(&r->t, host, record->text, &number) < 0)
		return -ENOMEM;
	p = &r->t.programs[number];
	p->row_us = record->at_ns / 1000;
	p->seen.serves = p->seen.serves || record->flags[0];
	if (record->flags[1])
		p->active_us = p->row_us;
	return 0;
}

static int take_peer(struct semantic_reader *r, uint32_t host, const struct queued_record *record)
{
	uint32_t peer;

	if (traces_peer(&r->t, host, record->text, &peer) < 0)
		return -ENOMEM;
	return traces_add_sample(&r->t, peer, record->at_ns / 1000, record->values[0],
		record->values[1], record->values[2]);
}

/* Process a record when it is due. */
static int record_take(struct semantic_reader *r, struct queued_record *record)
{
	struct traces *t = &r->t;
	uint32_t host;

	if (traces_host(t, record->from->name, &host) < 0)
		return -ENOMEM;
	switch (record->kind) {
	case RECORD_PRESENCE:
		take_presence(r, host, record);
		return 0;
	case RECORD_PROCESS:
		return traces_see_process(
			t, host, record->pid, record->at_ns, record->text, record->flags[0]);
	case RECORD_PROGRAM:
		return take_program(r, host, record);
	case RECORD_DESCRIPTOR:
		r->any = true;
		record->descriptor.name = record->descriptor.name ? record->text : NULL;
		return traces_add_descriptor(t, host, &record->descriptor);
	case RECORD_EVENT:
		r->any = true;
		record->event.text = record->event.text ? record->text : NULL;
		return traces_add_event(t, host, &record->event);
	case RECORD_ALIVE:
		r->any = true;
		return traces_see_alive(t, host, record->pid, record->at_ns);
	case RECORD_PEER:
		return take_peer(r, host, record);
	case RECORD_TALLY:
		return traces_add_tally(
			t, host, record->text, record->at_ns / 1000, record->values[0]);
	}
	return 0;
}

/* Free old state. Findings from it are kept. */
static int cut(struct semantic_reader *r)
{
	_cleanup_(semantic_release) struct semantic page = {0};
	int64_t before_ns = r->cut_ns - r->span_ns;
	int got = traces_know(&r->t);

	if (got == 0)
		got = semantic_judge(&r->t, &r->options, &page);
	if (got == 0)
		got = semantic_keep(&r->kept, &page, before_ns / 1000);
	return got < 0 ? got : traces_forget(&r->t, before_ns);
}

/* Free state at all due times up to this one. If no data comes for a long time, nothing is left to
 * free after a few of them. */
static int cut_until(struct semantic_reader *r, int64_t until_ns)
{
	int got = 0;

	for (unsigned n = 0; got == 0 && r->cut_ns && r->cut_ns <= until_ns; n++) {
		if (n > 3)
			r->cut_ns = until_ns / r->span_ns * r->span_ns;
		if (!r->t.gather)
			got = cut(r);
		r->cut_ns += r->span_ns;
	}
	return got;
}

int semantic_reader_advance(struct semantic_reader *r, int64_t watermark_us)
{
	int64_t most_us = (INT64_MAX - r->span_ns) / 1000 - 1;
	int got = 0;

	watermark_us = watermark_us < most_us ? watermark_us : most_us;
	while (got == 0 && r->n_heap && floor_div(r->heap[0]->at_ns, 1000) <= watermark_us) {
		_cleanup_free_ struct queued_record *record = heap_pop(r);

		got = cut_until(r, record->at_ns);
		if (!r->cut_ns)
			r->cut_ns = (record->at_ns / r->span_ns + 1) * r->span_ns;
		if (got == 0)
			got = record_take(r, record);
	}
	if (got == 0 && watermark_us > r->watermark_us) {
		r->watermark_us = watermark_us;
		got = cut_until(r, time_ns(watermark_us));
	}
	return got;
}

int semantic_reader_finish(struct semantic_reader *r)
{
	return r->latest_us == INT64_MIN ? 0 : semantic_reader_advance(r, r->latest_us);
}

static int note_late(const struct semantic_reader *r, struct semantic *ret)
{
	_cleanup_(strbuf_release) struct strbuf sb = {0};

	if (!r->n_late)
		return 0;
	strbuf_printf(&sb, "%" PRIu64 " records of system calls came too late to count", r->n_late);
	return tell_note(ret, &sb);
}

int semantic_reader_verdict(struct semantic_reader *r, struct semantic *ret)
{
	int got;

	ret->any = r->any;
	if (!r->any)
		return 0;
	got = traces_know(&r->t);
	if (got == 0)
		got = semantic_judge(&r->t, &r->options, ret);
	if (got == 0)
		got = semantic_recall(&r->kept, ret);
	return got < 0 ? got : note_late(r, ret);
}

const struct traces *semantic_reader_traces(struct semantic_reader *r)
{
	return traces_know(&r->t) < 0 ? NULL : &r->t;
}

bool semantic_reader_any(const struct semantic_reader *r)
{
	return r->any;
}

size_t semantic_reader_kept(const struct semantic_reader *r)
{
	const struct traces *t = &r->t;
	size_t n = r->n_heap + t->n_hosts + t->n_programs + t->n_processes + t->n_failures +
		t->n_slow + t->n_peers + t->n_ports + t->n_tallies;

	for (size_t i = 0; i < t->n_peers; i++)
		n += t->peers[i].n_silences + t->peers[i].n_answers;
	for (size_t i = 0; i < t->n_processes; i++)
		n += file_table_size(t->processes[i].files);
	return n;
}
