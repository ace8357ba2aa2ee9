/* The importer for sysstat's activity files, /var/log/sysstat/sa15 or /var/log/sa/sa15. */
#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/time.h"
#include "import/importer.h"
#include "import/sysstat_device.h"
#include "import/sysstat_rows.h"
#include "import/unpack.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define BATCH_SAMPLES 600
#define BATCH_SAMPLES_MIN 4

/* Rows times samples of a batch: many components make short batches. */
#define BATCH_CELLS (1u << 20)

/* The nominal interval is the median of this many intervals. */
#define INTERVALS 9

struct sysstat_source {
	struct lp_source source;
	struct sysstat_file file;
	struct sysstat_plans plans;
	struct sysstat_rows rows;
	const struct lp_select *select;
	char observer[SYSSTAT_NAME_MAX];
	struct lp_batch *batch, *spare; /* the delivered one, and the next one */
	uint32_t cap_samples;
	struct sysstat_record record; /* the next record, if `have_record` */
	bool have_record;
	uint64_t at;	      /* offset of the record after it */
	uint64_t last_out;    /* offset of the last record outside of the selected time, or 0 */
	bool restarted;	      /* there was a restart mark since the last sample */
	bool have_last;	      /* the next three are known */
	int64_t last_wall_us; /* of the last sample */
	int64_t last_mono_us;
	uint64_t last_uptime_cs;
};

static void source_free(struct sysstat_source *s)
{
	if (!s)
		return;
	sysstat_rows_release(&s->rows);
	sysstat_file_release(&s->file);
	lp_batch_free(s->batch);
	lp_batch_free(s->spare);
	lp_catalogue_free(s->source.catalogue);
	free(s->source.path);
	free(s);
}
DEFINE_CLEANUP(struct sysstat_source *, source_free);

static void source_close(struct lp_source *source)
{
	source_free((struct sysstat_source *)source);
}

/* Is the time of a record selected? */
static bool time_wanted(const struct lp_select *select, int64_t wall_us)
{
	if (!select)
		return true;
	return (!select->from_us || wall_us >= select->from_us) &&
		(!select->to_us || wall_us < select->to_us);
}

/* If the first selected record follows a skipped one, go back to that one: the first difference
 * needs it. */
static bool step_back(struct sysstat_source *s)
{
	if (!s->last_out)
		return false;
	s->at = s->last_out;
	s->last_out = 0;
	return true;
}

/* Read the next selected record with statistics into s->record. 1, 0 at the end, or an error. */
static int next_record(struct sysstat_source *s, struct lp_err *err)
{
	bool stepped_back = false;

	while (!s->have_record) {
		int r = sysstat_file_record(&s->file, s->at, &s->record, err);

		if (r <= 0)
			return r;
		s->at = s->record.end;
		if (s->record.type == SYSSTAT_R_RESTART) {
			s->restarted = true;
			s->last_out = 0; /* there is no difference to it */
		}
		if (!sysstat_record_is_stats(&s->record))
			continue;
		if (!stepped_back && !time_wanted(s->select, s->record.wall_us)) {
			s->last_out = s->record.at;
			continue;
		}
		if (!stepped_back && step_back(s)) {
			stepped_back = true;
			continue;
		}
		s->have_record = true;
	}
	return 1;
}

/* The largest number of items of an activity in a record. */
static uint32_t record_items(const struct sysstat_source *s, const struct sysstat_record *rec)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < s->plans.n_plans; i++) {
		if (rec->spans[i].n > most)
			most = rec->spans[i].n;
	}
	return most;
}

static uint32_t samples_for(uint32_t n_items)
{
	uint32_t n = n_items ? BATCH_CELLS / n_items : BATCH_SAMPLES;

	if (n > BATCH_SAMPLES)
		return BATCH_SAMPLES;
	return n < BATCH_SAMPLES_MIN ? BATCH_SAMPLES_MIN : n;
}

/* Must the batch end before the next record? Yes if it is full, if the record has more components
 * than the batch has room for, or if most rows of the batch belong to components that are gone. */
static bool batch_must_end(const struct sysstat_source *s)
{
	uint32_t n = record_items(s, &s->record);

	if (s->batch->n_samples == s->batch->cap_samples || samples_for(n) < s->batch->cap_samples)
		return true;
	for (uint32_t k = 0; k < s->batch->n_kinds; k++) {
		if (s->batch->kinds[k].n_components > 2 * (uint64_t)n + 64)
			return true;
	}
	return false;
}

/* A clock that continues over reboots of the machine. Between reboots it follows the machine's
 * uptime; for a reboot it follows the wall clock. */
static int64_t record_mono(struct sysstat_source *s, const struct sysstat_record *rec)
{
	int64_t passed = 0;

	if (!s->have_last)
		return (int64_t)rec->uptime_cs * (US_PER_SEC / 100);
	if (!s->restarted)
		passed = (int64_t)(rec->uptime_cs - s->last_uptime_cs) * (US_PER_SEC / 100);
	else if (rec->wall_us > s->last_wall_us)
		passed = rec->wall_us - s->last_wall_us;
	return s->last_mono_us + passed;
}

/* Fill the batch's last sample from the current record. */
static int take_items(struct sysstat_source *s, struct lp_err *err)
{
	for (uint32_t i = 0; i < s->plans.n_plans; i++) {
		const struct sysstat_span *span = &s->record.spans[i];
		uint64_t bytes = (uint64_t)span->n * s->plans.plans[i].activity->size;
		const uint8_t *items;
		int r;

		r = sysstat_file_bytes(&s->file, span->at, bytes, "statistics", &items, err);
		if (r == 0)
			r = sysstat_rows_take(&s->rows, i, items, span->n, s->batch, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Append the current record to the batch as a sample. */
static int take_record(struct sysstat_source *s, struct lp_err *err)
{
	const struct sysstat_record *rec = &s->record;
	int64_t mono_us;
	int r;

	/* Without a restart mark (which only sysstat's boot service writes) the uptime shows a
	 * reboot. */
	if (s->have_last && rec->uptime_cs < s->last_uptime_cs)
		s->restarted = true;
	mono_us = record_mono(s, rec);
	r = lp_batch_add_sample(s->batch, rec->wall_us, mono_us);
	if (r < 0)
		return lp_err_sys(err, r, "cannot read %s", s->file.path);
	sysstat_rows_begin(&s->rows, s->restarted);
	r = take_items(s, err);
	if (r < 0) {
		s->batch->n_samples--; /* half a sample is useless */
		return r;
	}
	s->restarted = false;
	s->have_last = true;
	s->last_wall_us = rec->wall_us;
	s->last_mono_us = mono_us;
	s->last_uptime_cs = rec->uptime_cs;
	s->have_record = false;
	return 0;
}

/* Begin a batch that has room for the components of the next record and carries the last sample of
 * the batch before. */
static int begin_batch(struct sysstat_source *s, struct lp_err *err)
{
	uint32_t samples = samples_for(record_items(s, &s->record));
	struct lp_batch *before = s->batch;

	if (samples < s->cap_samples)
		s->cap_samples = samples;
	if (!s->spare || s->spare->cap_samples != s->cap_samples) {
		lp_batch_free(s->spare);
		s->spare = lp_batch_new(s->cap_samples);
	}
	if (!s->spare || (before && lp_batch_carry(s->spare, before) < 0))
		return lp_err_sys(err, -ENOMEM, "cannot read %s", s->file.path);
	s->batch = s->spare;
	s->spare = before;
	sysstat_rows_bind(&s->rows, s->batch);
	return 0;
}

static int source_next(struct lp_source *source, struct lp_batch **ret_batch, struct lp_err *err)
{
	struct sysstat_source *s = (struct sysstat_source *)source;
	int r;

	r = next_record(s, err);
	if (r <= 0)
		return r;
	r = begin_batch(s, err);
	if (r == 0)
		r = take_record(s, err);
	if (r < 0)
		return r;
	/* An error here occurs again in the next call, after this batch. */
	while (next_record(s, NULL) > 0 && !batch_must_end(s)) {
		if (take_record(s, NULL) < 0)
			break;
	}
	*ret_batch = s->batch;
	return 1;
}

static const struct lp_source_ops source_ops = {.next = source_next, .close = source_close};

static int compare_i64(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* The nominal interval: the median of the first ones, in whole seconds, like sadc's. Reading the
 * data will report damage. */
static int64_t first_interval(struct sysstat_file *f)
{
	int64_t intervals[INTERVALS];
	struct sysstat_record rec;
	uint64_t before = 0;
	bool known = false;
	size_t n = 0;

	for (uint64_t at = f->records_at; n < INTERVALS; at = rec.end) {
		if (sysstat_file_record(f, at, &rec, NULL) <= 0)
			break;
		if (rec.type == SYSSTAT_R_RESTART)
			known = false;
		if (!sysstat_record_is_stats(&rec))
			continue;
		if (known && rec.uptime_cs > before)
			intervals[n++] = (int64_t)((rec.uptime_cs - before + 50) / 100);
		before = rec.uptime_cs;
		known = true;
	}
	if (!n)
		return 0;
	qsort(intervals, n, sizeof(*intervals), compare_i64);
	return intervals[n / 2] * US_PER_SEC;
}

static int source_open(const char *path, const void *options, const struct lp_select *select,
	struct lp_warn *warn, struct lp_source **ret_source, struct lp_err *err)
{
	_cleanup_(source_freep) struct sysstat_source *s = calloc(1, sizeof(*s));
	int r;

	(void)options;
	if (!s)
		return lp_err_sys(err, -ENOMEM, "cannot read %s", path);
	s->file.fd = -1;
	s->source = (struct lp_source){
		.ops = &source_ops, .path = strdup(path), .catalogue = lp_catalogue_new()};
	if (!s->source.path || !s->source.catalogue)
		return lp_err_sys(err, -ENOMEM, "cannot read %s", path);
	r = sysstat_file_open(&s->file, s->source.path, err);
	if (r == 0)
		r = sysstat_plans_make(&s->plans, &s->file, select, s->source.catalogue, warn, err);
	if (r == 0 && !s->plans.n_plans)
		r = lp_err_set(err, -EBADMSG,
			"%s: limpet reads disks and network interfaces from sysstat files, and "
			"neither is among the %" PRIu32 " activities of this one ('sadc -S DISK' "
			"records them); or the file is damaged",
			path, s->file.n_activities);
	if (r < 0)
		return r;
	sysstat_clean_name(s->file.nodename, sizeof(s->file.nodename), s->observer);
	s->rows = (struct sysstat_rows){.catalogue = s->source.catalogue,
		.select = select,
		.plans = &s->plans,
		.observer = s->observer,
		.arch = s->file.arch};
	s->select = select;
	s->cap_samples = BATCH_SAMPLES;
	s->at = s->file.records_at;
	s->source.interval_us = first_interval(&s->file);
	*ret_source = &TAKE_PTR(s)->source;
	return 0;
}

/* Compressed files are accepted only if their name is like sysstat's; open() then says what to
 * do. */
static enum import_match probe_packed(const char *path, const unsigned char *head, size_t n)
{
	const char *base = path_basename(path);

	return unpack_format_of(head, n) && base[0] == 's' && base[1] == 'a' ? IMPORT_MAYBE
									     : IMPORT_NO;
}

static enum import_match source_probe(const char *path, const unsigned char *head, size_t n)
{
	bool swap;

	if (n < 8)
		return IMPORT_NO;
	swap = sysstat_u16(head, false) != SYSSTAT_MAGIC;
	if (sysstat_u16(head, swap) != SYSSTAT_MAGIC)
		return probe_packed(path, head, n);
	return sysstat_u16(head + 2, swap) >> 8 == SYSSTAT_FORMAT >> 8 ? IMPORT_YES : IMPORT_MAYBE;
}

const struct importer importer_sysstat = {
	.name = "sysstat",
	.summary = "binary activity files of sysstat (sadc, sa1)",
	.description =
		"Reads the files that sysstat's sadc writes to /var/log/sysstat or /var/log/sa, of "
		"sysstat 9.1.6 and later, from machines of either byte order and word size. Disks "
		"and network interfaces are taken with all their fields; other statistics are "
		"skipped.\n\n"
		"Disks have the kernel's name where it follows from the device number (sda1, md0), "
		"else a name like dev253-0, as in sysstat's own reports.",
	.probe = source_probe,
	.open = source_open,
};
