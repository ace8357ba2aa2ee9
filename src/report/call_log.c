#include "report/call_log.h"

#include "archive/trace_log.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/time.h"
#include "report/calls.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* A change of a descriptor that is not due yet. */
struct change {
	struct trace_descriptor d;
	size_t order;
	char *name;
};

/* A line that waits for lines of other files. */
struct line {
	int64_t time_ns;
	size_t order;
	char *text;
	uint64_t n_more; /* the number of repeats, and the last one */
	int64_t last_ns;
};

struct printing {
	FILE *out;
	const struct call_log_filter *f;
	struct lp_warn *warn;
	bool several;	     /* several logs: lines name their observer */
	bool together;	     /* lines of several logs, or folded ones, which are sorted first */
	struct strmap alike; /* line number + 1 by the key of repeats */
	struct line *lines;
	size_t n_lines, cap_lines;
	int64_t day; /* of the last line of text, in days since 1970; -1: none yet */
	size_t n_logs;
	bool damaged; /* a log is damaged; the others are still read */
	/* of the current file */
	const char *observer;
	struct fd_names *names;
	struct change *changes;
	size_t n_changes, cap_changes, next;
	struct strbuf text;
};

static bool one_of(const int32_t *items, unsigned n, int32_t a, int32_t b)
{
	for (unsigned i = 0; i < n; i++) {
		if (items[i] == a || items[i] == b)
			return true;
	}
	return n == 0;
}

static bool call_wanted(const struct call_log_filter *f, const struct trace_event *e)
{
	const struct syscall_info *s = trace_event_syscall(e);
	bool named = f->n_names == 0;
	int number = trace_event_errno(e);

	for (unsigned i = 0; s && i < f->n_names; i++)
		named |= !strcmp(s->name, f->names[i]);
	if (!named || (f->classes && !(f->classes >> trace_event_call(e) & 1)))
		return false;
	if (f->n_errnos && (!number || !one_of(f->errnos, f->n_errnos, number, number)))
		return false;
	return (!f->failed || number) && e->dur_ns >= f->slower_ns;
}

bool call_log_wants(const struct call_log_filter *f, const struct trace_event *e)
{
	int64_t us = floor_div(e->start_ns, 1000);

	if (us < f->from_us || (f->to_us && us >= f->to_us))
		return false;
	if (e->what == TRACE_LOST)
		return true;
	if (!one_of(f->pids, f->n_pids, e->pid, e->tid))
		return false;
	if (e->what == TRACE_CALL || e->what == TRACE_PENDING || e->what == TRACE_ASYNC)
		return call_wanted(f, e);
	if (f->n_names || f->classes || f->n_errnos || f->slower_ns)
		return false;
	return !f->failed || (e->what == TRACE_EXIT && WIFSIGNALED((int)e->ret));
}

/* Print a line now, preceded by the day if it is the first one of that day. */
static void print_now(struct printing *p, int64_t time_ns, const char *text)
{
	int64_t day = floor_div(time_ns, 86400 * INT64_C(1000000000));
	char date[TIME_TEXT_MAX];

	if (!p->f->json && day != p->day) {
		fprintf(p->out, "# %.10s UTC\n", time_format(day * US_PER_DAY, date));
		p->day = day;
	}
	fprintf(p->out, "%s\n", text);
}

/* Print the current line, or keep it for later. */
static int put_line(struct printing *p, int64_t time_ns)
{
	char *text;

	if (p->text.failed)
		return -ENOMEM;
	if (!p->together) {
		print_now(p, time_ns, p->text.text);
		strbuf_reset(&p->text);
		return ferror(p->out) ? -EIO : 0;
	}
	text = strbuf_take(&p->text);
	if (!text ||
		array_reserve(&p->lines, &p->cap_lines, p->n_lines + 1, sizeof(*p->lines)) < 0) {
		free(text);
		return -ENOMEM;
	}
	p->lines[p->n_lines] = (struct line){
		.time_ns = time_ns, .order = p->n_lines, .text = text, .last_ns = time_ns};
	p->n_lines++;
	return 0;
}

static int put_json(struct printing *p, int64_t time_ns, json_t *object)
{
	char *text = object ? json_dumps(object, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;

	json_decref(object);
	if (!text)
		return -ENOMEM;
	strbuf_puts(&p->text, text);
	free(text);
	return put_line(p, time_ns);
}

/* Keep a change until the events at that time come. */
static int keep_change(void *ctx, uint64_t record, const struct trace_descriptor *d)
{
	struct printing *p = ctx;
	struct change c = {.d = *d, .name = strdup(d->name ? d->name : "")};

	(void)record;
	if (!c.name ||
		array_reserve(&p->changes, &p->cap_changes, p->n_changes + 1, sizeof(c)) < 0) {
		free(c.name);
		return -ENOMEM;
	}
	c.d.name = c.name;
	c.order = p->n_changes;
	p->changes[p->n_changes++] = c;
	return 0;
}

static void drop_changes(struct printing *p)
{
	for (size_t i = 0; i < p->n_changes; i++)
		free(p->changes[i].name);
	p->n_changes = p->next = 0;
}

/* Apply the changes up to the end of a call, except for its own. */
static int changes_before(struct printing *p, const struct trace_event *e)
{
	int64_t end_ns = e->start_ns + e->dur_ns;
	int r = 0;

	for (; r == 0 && p->next < p->n_changes; p->next++) {
		const struct trace_descriptor *d = &p->changes[p->next].d;

		if (d->time_ns > end_ns || (d->seq && d->seq == e->seq))
			break;
		r = fd_names_apply(p->names, d);
	}
	return r;
}

static int changes_own(struct printing *p, const struct trace_event *e)
{
	int r = 0;

	for (; r == 0 && p->next < p->n_changes; p->next++) {
		const struct trace_descriptor *d = &p->changes[p->next].d;

		if (!d->seq || d->seq != e->seq)
			break;
		r = fd_names_apply(p->names, d);
	}
	return r;
}

static int print_event(struct printing *p, uint64_t record, const struct trace_event *e)
{
	int fd = trace_event_fd(e), r;
	const char *name = fd_names_get(p->names, e->pid, fd);

	if (!p->f->json) {
		calls_add_head(&p->text, e, p->several ? p->observer : NULL);
		calls_add_call(&p->text, e, p->names);
	}
	r = changes_own(p, e);
	if (r < 0)
		return r;
	if (!p->f->json) {
		calls_add_result(&p->text, e, p->names);
		return put_line(p, e->start_ns);
	}
	if (!name || (trace_event_syscall(e) && syscall_returns_fd(trace_event_syscall(e))))
		name = fd_names_get(p->names, e->pid, fd);
	return put_json(p, e->start_ns, calls_json(e, record, name, p->observer));
}

/* Count a failure with earlier ones of the same process, call and error. 1: it was counted; 0: it
 * is the first one, or not a failure. */
static int fold_event(struct printing *p, const struct trace_event *e)
{
	int error = e->what == TRACE_CALL ? trace_event_errno(e) : 0;
	char key[128];
	uint32_t line;

	if (!p->f->fold || p->f->json || !error)
		return 0;
	snprintf(key, sizeof(key), "%.64s %" PRId32 " %u %u %d", p->observer, e->pid, e->nr,
		e->flags & TRACE_COMPAT, error);
	if (!strmap_get(&p->alike, key, &line))
		return strmap_put(&p->alike, key, (uint32_t)p->n_lines) < 0 ? -ENOMEM : 0;
	p->lines[line].n_more++;
	if (e->start_ns > p->lines[line].last_ns)
		p->lines[line].last_ns = e->start_ns;
	return 1;
}

static int take_wanted(struct printing *p, uint64_t record, const struct trace_event *e)
{
	int folded = fold_event(p, e);

	if (folded < 0)
		return folded;
	return folded ? changes_own(p, e) : print_event(p, record, e);
}

static int take_event(void *ctx, uint64_t record, const struct trace_event *e)
{
	struct printing *p = ctx;
	int r = changes_before(p, e);

	if (r == 0)
		r = call_log_wants(p->f, e) ? take_wanted(p, record, e) : changes_own(p, e);
	if (r == 0 && e->what == TRACE_EXIT)
		fd_names_forget(p->names, e->pid);
	return r;
}

static int take_descriptor(void *ctx, uint64_t record, const struct trace_descriptor *d)
{
	struct printing *p = ctx;
	int64_t us = floor_div(d->time_ns, 1000);

	if (us < p->f->from_us || (p->f->to_us && us >= p->f->to_us) ||
		!one_of(p->f->pids, p->f->n_pids, d->pid, d->pid))
		return 0;
	if (p->f->json)
		return put_json(p, d->time_ns, calls_descriptor_json(d, record, p->observer));
	calls_add_descriptor(&p->text, d, p->several ? p->observer : NULL);
	return put_line(p, d->time_ns);
}

static int compare_changes(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	if (x->d.time_ns != y->d.time_ns)
		return x->d.time_ns < y->d.time_ns ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

/* Calls need the names of files that were opened long before, so all changes are read, whatever
 * times are selected. They are in chronological order unless clocks stepped. */
static int read_names(struct printing *p, const struct lp_source *source, struct lp_err *err)
{
	const struct trace_log_reader to = {.descriptor = keep_change, .ctx = p};
	bool sorted = true;
	int r;

	drop_changes(p);
	fd_names_free(p->names);
	p->names = fd_names_new();
	if (!p->names)
		return -ENOMEM;
	r = trace_log_read(source, &to, err);
	for (size_t i = 1; i < p->n_changes; i++)
		sorted &= p->changes[i - 1].d.time_ns <= p->changes[i].d.time_ns;
	if (!sorted)
		qsort(p->changes, p->n_changes, sizeof(*p->changes), compare_changes);
	return r;
}

DEFINE_CLEANUP(struct lp_source *, lp_source_close);

/* Print the records of one file in the selected time. */
static int print_logs(struct printing *p, const char *path, struct lp_err *err)
{
	const struct lp_select select = {.from_us = p->f->from_us, .to_us = p->f->to_us};
	const struct trace_log_reader to = {.event = p->f->calls ? take_event : NULL,
		.descriptor = p->f->descriptors ? take_descriptor : NULL,
		.ctx = p};
	_cleanup_(lp_source_closep) struct lp_source *source = NULL;
	int r = lp_archive_open(path, &select, p->warn, &source, err);

	return r < 0 ? r : trace_log_read(source, &to, err);
}

static int visit(
	void *ctx, struct lp_source *source, const struct lp_batch *batch, struct lp_err *err)
{
	struct printing *p = ctx;
	const char *observer;
	int r = 0;

	if (batch || !trace_log_present(source))
		return 0;
	observer = lp_archive_meta_get(source, "observer");
	p->observer = observer ? observer : "";
	p->n_logs++;
	if (p->f->calls)
		r = read_names(p, source, err);
	if (r == 0 || r == -EBADMSG)
		r = print_logs(p, source->path, err);
	p->damaged |= r == -EBADMSG;
	if (r == -EBADMSG)
		return 0;
	return r == -ENOMEM ? lp_err_sys(err, r, "cannot print the log of %s", source->path) : r;
}

static bool no_component(void *ctx, const struct lp_catalogue *c, uint32_t id)
{
	(void)ctx;
	(void)c;
	(void)id;
	return false;
}

static int compare_lines(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

/* "                ... and 12 more like it until 16:14:44.685" */
static void print_more(const struct printing *p, const struct line *l)
{
	char last[TIME_TEXT_MAX];

	time_format(floor_div(l->last_ns, 1000000) * 1000, last);
	fprintf(p->out, "                ... and %" PRIu64 " more like it until %s\n", l->n_more,
		last);
}

static void print_lines(struct printing *p)
{
	if (p->n_lines)
		qsort(p->lines, p->n_lines, sizeof(*p->lines), compare_lines);
	for (size_t i = 0; i < p->n_lines; i++) {
		print_now(p, p->lines[i].time_ns, p->lines[i].text);
		if (p->lines[i].n_more)
			print_more(p, &p->lines[i]);
		free(p->lines[i].text);
	}
	free(p->lines);
}

int call_log_print(FILE *out, struct lp_dataset *ds, const struct call_log_filter *f,
	struct lp_warn *warn, struct lp_err *err)
{
	struct printing p = {.out = out, .f = f, .warn = warn, .day = -1};
	const struct lp_select select = {.component = no_component};
	int r;

	p.several = lp_dataset_n_files(ds) > 1 || (f->calls && f->descriptors);
	p.together = p.several || (f->fold && !f->json);
	r = lp_dataset_read(ds, &select, visit, &p, err);
	print_lines(&p);
	drop_changes(&p);
	free(p.changes);
	fd_names_free(p.names);
	strbuf_release(&p.text);
	strmap_release(&p.alike);
	if (r == 0 && !p.n_logs)
		return lp_err_set(err, -ENOENT,
			"no archive here has a log of system calls "
			"('limpet trace syscalls' writes them)");
	return r;
}
