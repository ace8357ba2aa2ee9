/* One array: its LUNs, and the servers that record what they see of them. */
#include "base/cleanup.h"
#include "base/time.h"
#include "collect/collector.h"
#include "collect/parse.h"
#include "lun.h"
#include <errno.h>
#include <limpet/archive.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_SAMPLE UINT32_MAX
#define SECTORS_READ 256
#define SECTORS_WRITTEN 512
#define BLIP_HOURS 6.0	/* between single requests to a disk that is not used */
#define LOSS_HOURS 12.0 /* between lost samples of a server */
#define DRIFT_DAYS 10.0 /* between adjustments of a server's clock */

/* The columns that are kept with --columns await-only. */
static const unsigned few_columns[] = {
	DISK_RD_IOS, DISK_RD_SEC, DISK_RD_TICKS, DISK_WR_IOS, DISK_WR_SEC, DISK_WR_TICKS};

/* One LUN as a server sees it. */
struct disk {
	int64_t values[DISK_N_COLUMNS];
	bool present;
	bool fresh;    /* it appeared, and no sample has it yet */
	bool constant; /* the batch has this value in all of its cells */
	int64_t blip;  /* step of the next stray request */
};

struct server {
	unsigned number; /* of all, from 0 */
	unsigned place;	 /* in the array */
	struct rng rng;
	struct disk disks[LUNS];
	struct lp_catalogue *catalogue;
	struct lp_batch *batch;
	struct lp_batch_kind *kind;
	struct lp_archive_writer *writer;
	uint32_t columns[DISK_N_COLUMNS]; /* which column of the batch is which */
	uint32_t n_columns;
	bool up;
	int64_t boot; /* step */
	int64_t loss_first, loss_end;
	int64_t drift_first, drift_end, drift_us;
	uint32_t sample[FRAME_STEPS]; /* in the batch, or NO_SAMPLE */
};

struct array {
	const struct intrepid *sys;
	unsigned number;
	struct lun luns[LUNS];
	struct server servers[SERVERS];
	struct lun_frame frame;
};

static double exponential_steps(struct rng *r, const struct intrepid *sys, double hours)
{
	return -log(1 - rng_uniform(r)) * hours / 24 * (double)sys->steps_a_day;
}

/* ---- setting up ---- */

static int server_add_disks(
	struct server *s, const struct lp_schema *schema, unsigned array, struct lp_err *err)
{
	uint32_t schema_id, id, row;
	char observer[32], name[32];
	int r = lp_catalogue_add_schema(s->catalogue, schema, &schema_id, err);

	if (r == 0)
		r = lp_batch_kind_get(s->batch, schema_id, schema->n_columns, NULL, &s->kind);
	snprintf(observer, sizeof(observer), "fs%u", s->number + 1);
	for (unsigned l = 0; r == 0 && l < LUNS; l++) {
		snprintf(name, sizeof(name), "%u.%02u", array + FIRST_ARRAY, l);
		r = lp_catalogue_add_component(
			s->catalogue, schema_id, observer, name, "", &id, err);
		if (r == 0)
			r = lp_batch_add_component(s->batch, s->kind, id, &row);
	}
	return r;
}

static int server_init(struct server *s, const struct intrepid *sys, unsigned array, unsigned place,
	struct lp_err *err)
{
	const struct lp_schema *all = collector_find("diskstats")->schema;
	struct lp_column columns[DISK_N_COLUMNS];
	struct lp_schema schema = {all->kind, columns, 0};

	s->number = array * SERVERS + place;
	s->place = place;
	s->rng = rng_make(sys->seed, 200000 + s->number);
	s->n_columns = sys->all_columns ? all->n_columns : sizeof(few_columns) / sizeof(unsigned);
	for (uint32_t c = 0; c < s->n_columns; c++) {
		s->columns[c] = sys->all_columns ? c : few_columns[c];
		columns[c] = all->columns[s->columns[c]];
	}
	schema.n_columns = s->n_columns;
	s->catalogue = lp_catalogue_new();
	s->batch = lp_batch_new(FRAME_STEPS + 1);
	if (!s->catalogue || !s->batch)
		return lp_err_sys(err, -ENOMEM, "cannot simulate a server");
	s->loss_first = (int64_t)exponential_steps(&s->rng, sys, LOSS_HOURS);
	s->loss_end = s->loss_first + 1 + rng_below(&s->rng, 8);
	s->drift_end = 0;
	return server_add_disks(s, &schema, array, err);
}

static void server_release(struct server *s)
{
	lp_archive_abandon(s->writer);
	lp_batch_free(s->batch);
	lp_catalogue_free(s->catalogue);
}

/* Counters of a disk that has just appeared. Kernels of that time knew of no discards and flushes.
 */
static void disk_reset(struct disk *d, struct rng *r, const struct intrepid *sys, int64_t step)
{
	for (unsigned c = 0; c < DISK_N_COLUMNS; c++)
		d->values[c] = c >= DISK_DC_IOS ? LP_MISSING : 0;
	d->present = d->fresh = true;
	d->constant = false;
	d->blip = step + (int64_t)exponential_steps(r, sys, BLIP_HOURS);
	if (sys->quiet)
		d->blip = INT64_MAX;
}

/* ---- time ---- */

/* The server's clock runs wrong for some hours, until it is set right at once. */
static int64_t clock_error(struct server *s, const struct intrepid *sys, int64_t step)
{
	if (sys->quiet)
		return 0;
	if (step >= s->drift_end) {
		int64_t most =
			sys->step_us * 4 < 5 * US_PER_SEC ? sys->step_us * 4 : 5 * US_PER_SEC;

		s->drift_first =
			s->drift_end + (int64_t)exponential_steps(&s->rng, sys, DRIFT_DAYS * 24);
		s->drift_end = s->drift_first + sys->steps_a_day / 12 +
			(int64_t)(rng_uniform(&s->rng) * (double)sys->steps_a_day / 4);
		s->drift_us = (int64_t)((rng_uniform(&s->rng) * 2 - 1) * (double)most);
	}
	if (step < s->drift_first)
		return 0;
	return s->drift_us * (step - s->drift_first) / (s->drift_end - s->drift_first);
}

static bool sample_lost(struct server *s, const struct intrepid *sys, int64_t step)
{
	if (step >= s->loss_end) {
		s->loss_first =
			s->loss_end + 1 + (int64_t)exponential_steps(&s->rng, sys, LOSS_HOURS);
		s->loss_end = s->loss_first + 1 + rng_below(&s->rng, 8);
	}
	return !sys->quiet && step >= s->loss_first;
}

static bool server_is_down(const struct server *s, const struct intrepid *sys, int64_t step)
{
	for (size_t i = 0; i < sys->n_events; i++) {
		const struct event *e = &sys->events[i];

		if (e->kind == SERVER_DOWN && e->array == s->number / SERVERS &&
			e->servers >> s->place & 1 && event_active(sys, e, step))
			return true;
	}
	return false;
}

static void server_boot(struct server *s, const struct intrepid *sys, int64_t step)
{
	s->up = true;
	s->boot = step - 1 - (step ? 60 * US_PER_SEC / sys->step_us : 30 * sys->steps_a_day);
}

/* The samples that the server takes in the steps of a frame. */
static void server_sample(struct server *s, const struct intrepid *sys, int64_t first, unsigned n)
{
	struct lp_batch *b = s->batch;

	for (unsigned k = 0; k < n; k++) {
		int64_t step = first + k, error = clock_error(s, sys, step);
		int64_t late = (int64_t)(rng_uniform(&s->rng) * 200);
		bool lost = sample_lost(s, sys, step);

		s->sample[k] = NO_SAMPLE;
		if (server_is_down(s, sys, step)) {
			s->up = false;
			continue;
		}
		if (!s->up)
			server_boot(s, sys, step);
		if (lost)
			continue;
		b->wall_us[b->n_samples] = sys->start_us + step * sys->step_us + error + late;
		b->mono_us[b->n_samples] = (step - s->boot) * sys->step_us + late;
		s->sample[k] = b->n_samples++;
	}
}

/* ---- disks ---- */

static void row_store(struct server *s, unsigned lun, uint32_t at)
{
	size_t cell = (size_t)lun * s->batch->cap_samples + at;

	for (uint32_t c = 0; c < s->n_columns; c++)
		s->kind->columns[c][cell] = s->disks[lun].values[s->columns[c]];
}

/* Nothing happens to a disk in all of the frame. */
static void row_fill(struct server *s, unsigned lun)
{
	struct lp_batch *b = s->batch;
	struct disk *d = &s->disks[lun];
	size_t base = (size_t)lun * b->cap_samples;

	memset(s->kind->state + base + b->carry, LP_PRESENT, b->n_samples - b->carry);
	if (d->constant)
		return;
	for (uint32_t at = 0; at < b->cap_samples; at++)
		row_store(s, lun, at);
	d->constant = true;
}

static void disk_work(
	struct disk *d, struct rng *r, unsigned reads, unsigned writes, uint32_t rms, uint32_t wms)
{
	int64_t *v = d->values;

	if (!reads && !writes)
		return;
	v[DISK_RD_IOS] += reads;
	v[DISK_WR_IOS] += writes;
	v[DISK_RD_SEC] += (int64_t)(reads * SECTORS_READ * (0.9 + 0.2 * rng_uniform(r))) / 8 * 8;
	v[DISK_WR_SEC] +=
		(int64_t)(writes * SECTORS_WRITTEN * (0.9 + 0.2 * rng_uniform(r))) / 8 * 8;
	/* The kernel's are unsigned ints. */
	v[DISK_RD_TICKS] = (v[DISK_RD_TICKS] + rms) & 0xffffffff;
	v[DISK_WR_TICKS] = (v[DISK_WR_TICKS] + wms) & 0xffffffff;
	v[DISK_RQ_TICKS] = (v[DISK_RQ_TICKS] + rms + wms) & 0xffffffff;
	v[DISK_TOT_TICKS] = (v[DISK_TOT_TICKS] + (rms + wms) * 2 / 3) & 0xffffffff;
	v[DISK_IN_FLIGHT] = (rms + wms) / 1000;
}

/* A little of its own that a server, or nobody in particular, asks for. 8 sectors, not the usual
 * many. */
static void disk_stray(struct disk *d, struct rng *r, unsigned n, double await_ms)
{
	d->values[DISK_RD_IOS] += n;
	d->values[DISK_RD_SEC] += (int64_t)n * 16;
	d->values[DISK_RD_TICKS] += (int64_t)(n * await_ms + rng_uniform(r));
}

/* What the server does by itself at some time in these steps. */
static const struct server_work *work_at(
	const struct server *s, const struct intrepid *sys, int64_t first, unsigned n)
{
	for (size_t i = 0; i < sys->n_work; i++) {
		const struct server_work *w = &sys->work[i];

		if (w->server == s->number && first < w->end && first + n > w->first)
			return w;
	}
	return NULL;
}

/* Is the second path to a LUN slow, with hardly a request, at some time in these steps? */
static bool idle_and_slow(
	const struct server *s, const struct intrepid *sys, unsigned lun, int64_t first, unsigned n)
{
	for (size_t i = 0; i < sys->n_events; i++) {
		const struct event *e = &sys->events[i];

		if (e->kind == SLOW_LUN_IDLE && e->array == s->number / SERVERS && e->luns[lun] &&
			server_of(lun, 1) == s->place &&
			first * sys->step_us < e->start_us + e->duration_us &&
			(first + n) * sys->step_us > e->start_us)
			return true;
	}
	return false;
}

/* Does anything happen to a disk in the frame? */
static bool row_is_idle(struct server *s, const struct intrepid *sys, unsigned lun,
	const struct lun_frame *f, int64_t first, unsigned n)
{
	if (s->disks[lun].blip < first + n || !s->disks[lun].present || s->disks[lun].fresh ||
		work_at(s, sys, first, n) || idle_and_slow(s, sys, lun, first, n))
		return false;
	for (unsigned k = 0; k < n; k++) {
		if (f->by[k] == s->place || !(f->present[k] >> s->place & 1))
			return false;
	}
	return true;
}

/* One step of a disk. */
static void row_step(struct server *s, const struct intrepid *sys, unsigned lun,
	const struct lun_frame *f, int64_t step, unsigned k)
{
	struct disk *d = &s->disks[lun];
	const struct server_work *w = work_at(s, sys, step, 1);
	double step_s = (double)sys->step_us / 1e6;

	if (f->by[k] == s->place)
		disk_work(d, &s->rng, f->reads[k], f->writes[k], f->read_ms[k], f->write_ms[k]);
	if (w)
		disk_stray(d, &s->rng, rng_poisson(&s->rng, w->rate * step_s),
			w->await_ms * (0.8 + 0.4 * rng_uniform(&s->rng)));
	if (idle_and_slow(s, sys, lun, step, 1))
		disk_stray(d, &s->rng, rng_poisson(&s->rng, 0.5 * step_s),
			rng_lognormal(&s->rng, 35, 0.4));
	if (step >= d->blip) {
		disk_stray(d, &s->rng, 1, 0.3);
		d->blip = step + 1 + (int64_t)exponential_steps(&s->rng, sys, BLIP_HOURS);
	}
}

static void row_run(struct server *s, const struct intrepid *sys, unsigned lun,
	const struct lun_frame *f, int64_t first, unsigned n)
{
	struct disk *d = &s->disks[lun];
	uint8_t *state = s->kind->state + (size_t)lun * s->batch->cap_samples;

	d->constant = false;
	for (unsigned k = 0; k < n; k++) {
		bool here = f->present[k] >> s->place & 1;

		if (here && !d->present)
			disk_reset(d, &s->rng, sys, first + k);
		d->present = here;
		if (here)
			row_step(s, sys, lun, f, first + k, k);
		if (s->sample[k] == NO_SAMPLE)
			continue;
		state[s->sample[k]] = here ? LP_PRESENT | (d->fresh ? LP_FRESH : 0) : LP_ABSENT;
		d->fresh = false;
		row_store(s, lun, s->sample[k]);
	}
}

/* ---- files ---- */

static int server_open(
	struct server *s, const struct intrepid *sys, int64_t step, struct lp_err *err)
{
	char path[4096], when[TIME_TEXT_MAX], observer[32];
	struct lp_archive_meta meta = {.observer = observer, .interval_us = sys->step_us};
	int64_t day = step / sys->steps_a_day * US_PER_DAY;

	snprintf(observer, sizeof(observer), "fs%u", s->number + 1);
	snprintf(path, sizeof(path), "%s/archives/%s-%s" LP_ARCHIVE_SUFFIX, sys->dir, observer,
		time_format_compact(sys->start_us + day, when));
	return lp_archive_create(path, &meta, &s->writer, err);
}

/* The last sample is the carried one of the next frame. */
static void server_carry(struct server *s)
{
	struct lp_batch *b = s->batch;
	uint32_t last = b->n_samples - 1;

	b->wall_us[0] = b->wall_us[last];
	b->mono_us[0] = b->mono_us[last];
	for (unsigned l = 0; l < LUNS; l++) {
		size_t base = (size_t)l * b->cap_samples;

		s->kind->state[base] = s->kind->state[base + last] & LP_PRESENT;
		for (uint32_t c = 0; c < s->n_columns; c++)
			s->kind->columns[c][base] = s->kind->columns[c][base + last];
	}
	b->carry = true;
	b->n_samples = 1;
}

static int server_write(
	struct server *s, const struct intrepid *sys, int64_t step, struct lp_err *err)
{
	int r = 0;

	if (s->batch->n_samples == (s->batch->carry ? 1 : 0))
		return 0;
	if (!s->writer)
		r = server_open(s, sys, step, err);
	if (r == 0)
		r = lp_archive_write(s->writer, s->catalogue, s->batch, LP_ARCHIVE_DENSE, err);
	if (r == 0)
		server_carry(s);
	return r;
}

static int array_run_frame(struct array *a, int64_t first, unsigned n, struct lp_err *err)
{
	int r = 0;

	for (unsigned j = 0; j < SERVERS; j++)
		server_sample(&a->servers[j], a->sys, first, n);
	for (unsigned l = 0; l < LUNS; l++) {
		lun_run(&a->luns[l], a->sys, first, n, &a->frame);
		for (unsigned j = 0; j < SERVERS; j++) {
			struct server *s = &a->servers[j];

			if (row_is_idle(s, a->sys, l, &a->frame, first, n))
				row_fill(s, l);
			else
				row_run(s, a->sys, l, &a->frame, first, n);
		}
	}
	for (unsigned j = 0; j < SERVERS && r == 0; j++)
		r = server_write(&a->servers[j], a->sys, first, err);
	return r;
}

static int array_run_day(struct array *a, int64_t day, struct lp_err *err)
{
	int64_t first = day * a->sys->steps_a_day, end = first + a->sys->steps_a_day;
	int r = 0;

	for (; r == 0 && first < end; first += FRAME_STEPS)
		r = array_run_frame(a, first,
			(unsigned)(end - first < FRAME_STEPS ? end - first : FRAME_STEPS), err);
	for (unsigned j = 0; j < SERVERS; j++) {
		struct lp_archive_writer *w = TAKE_PTR(a->servers[j].writer);

		if (w && r == 0)
			r = lp_archive_close(w, err);
		else
			lp_archive_abandon(w);
	}
	return r;
}

int array_simulate(const struct intrepid *sys, unsigned array, struct lp_err *err)
{
	_cleanup_free_ struct array *a = calloc(1, sizeof(*a));
	int r = a ? 0 : lp_err_sys(err, -ENOMEM, "cannot simulate an array");

	if (r < 0)
		return r;
	a->sys = sys;
	a->number = array;
	for (unsigned l = 0; l < LUNS; l++)
		lun_init(&a->luns[l], sys, array, l);
	for (unsigned j = 0; r == 0 && j < SERVERS; j++)
		r = server_init(&a->servers[j], sys, array, j, err);
	for (int64_t day = 0; r == 0 && day < sys->n_days; day++)
		r = array_run_day(a, day, err);
	for (unsigned j = 0; j < SERVERS; j++)
		server_release(&a->servers[j]);
	return r;
}
