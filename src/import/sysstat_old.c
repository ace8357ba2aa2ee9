#include "import/sysstat_old.h"

#include "base/array.h"
#include "import/sysstat_old_items.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define HEADER_SIZE_AT 8 /* where format 0x2173 has the size of its header */
#define ACTIVITY_BYTES 20

/* A record: the time since the start, the time, and where the rest is. */
#define RECORD_BYTES 48
#define RECORD_UPTIME 16
#define RECORD_SECONDS 32
#define RECORD_TYPE 40

/* The header of a format: offsets in it. */
static const struct form {
	unsigned format;
	uint32_t at;	       /* in the file */
	uint32_t size;	       /* 0: the file has it */
	uint32_t n_activities; /* two ints */
	uint32_t n_volatile;   /* 0: there are none */
	uint32_t text;	       /* the month, the year, the size of a long, and names */
} forms[] = {
	{0x2171, 8, 280, 8, 0, 13},
	{0x2173, 76, 0, 12, 16, 21},
};

static const struct form *form_of(unsigned format)
{
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		if (forms[i].format == format)
			return &forms[i];
	}
	return NULL;
}

bool sysstat_old_format(unsigned format)
{
	return form_of(format) != NULL;
}

static int header_size(
	struct sysstat_file *f, const struct form *form, uint32_t *ret_size, struct lp_err *err)
{
	const uint8_t *p;
	int r;

	*ret_size = form->size;
	if (form->size)
		return 0;
	r = sysstat_file_bytes(f, HEADER_SIZE_AT, 4, "the first header", &p, err);
	if (r < 0)
		return r;
	*ret_size = sysstat_u32(p, f->arch.swap);
	if (*ret_size <= form->text || *ret_size > SYSSTAT_HEADER_BYTES_MAX)
		return sysstat_file_damaged(
			f, HEADER_SIZE_AT, "the size of the header is impossible", err);
	return 0;
}

static int read_header(struct sysstat_file *f, const struct form *form, struct lp_err *err)
{
	uint32_t size = 0;
	const uint8_t *p;
	int r;

	r = header_size(f, form, &size, err);
	if (r < 0)
		return r;
	r = sysstat_file_bytes(f, form->at, size, "the header", &p, err);
	if (r < 0)
		return r;
	r = sysstat_file_header_text(
		f, p + form->text, size - form->text, form->at + form->text, err);
	if (r < 0)
		return r;
	f->n_activities = sysstat_u32(p + form->n_activities, f->arch.swap);
	if (form->n_volatile)
		f->n_volatile = sysstat_u32(p + form->n_volatile, f->arch.swap);
	if (!f->n_activities || f->n_activities > SYSSTAT_ACTIVITIES_MAX ||
		f->n_volatile > f->n_activities)
		return sysstat_file_damaged(f, form->at, "the header contradicts itself", err);
	f->record_size = RECORD_BYTES;
	f->records_at = form->at + size;
	return 0;
}

static int read_activities(struct sysstat_file *f, struct lp_err *err)
{
	f->activities = calloc(f->n_activities + 1, sizeof(*f->activities));
	if (!f->activities)
		return lp_err_sys(err, -ENOMEM, "cannot read %s", f->path);
	for (uint32_t i = 0; i < f->n_activities; i++) {
		struct sysstat_activity *a = &f->activities[i];
		const uint8_t *p;
		uint32_t v[5];
		int r;

		r = sysstat_file_bytes(
			f, f->records_at, ACTIVITY_BYTES, "the list of activities", &p, err);
		if (r < 0)
			return r;
		for (uint32_t k = 0; k < ARRAY_SIZE(v); k++)
			v[k] = sysstat_u32(p + (size_t)4 * k, f->arch.swap);
		*a = (struct sysstat_activity){.id = v[0],
			.magic = v[1],
			.nr = v[2],
			.nr2 = v[3],
			.size = v[4],
			.first_nr = v[2],
			.old = sysstat_old_items_find(v[0], v[1], v[4]),
			.wanted = -1};
		r = sysstat_file_check_activity(f, i, err);
		if (r < 0)
			return r;
		f->records_at += ACTIVITY_BYTES;
	}
	return 0;
}

int sysstat_old_start(struct sysstat_file *f, struct lp_err *err)
{
	int r;

	r = read_header(f, form_of(f->format), err);
	if (r == 0)
		r = read_activities(f, err);
	return r;
}

/* The kernel counts time in hundredths of a second on all but two of the architectures that sysstat
 * ran on; the file does not say which unit it uses. */
static int read_record_header(
	struct sysstat_file *f, struct sysstat_record *rec, struct lp_err *err)
{
	bool swap = f->arch.swap;
	uint64_t seconds;
	const uint8_t *p;
	int r;

	r = sysstat_file_bytes(f, rec->at, RECORD_BYTES, "a record", &p, err);
	if (r < 0)
		return r;
	rec->type = p[RECORD_TYPE];
	if (rec->type < SYSSTAT_R_STATS || rec->type > SYSSTAT_R_COMMENT)
		return sysstat_file_damaged(f, rec->at, "a record of an unknown type", err);
	rec->uptime_cs = sysstat_u64(p + RECORD_UPTIME, swap);
	seconds = f->arch.long_is_64 ? sysstat_u64(p + RECORD_SECONDS, swap)
				     : sysstat_u32(p + RECORD_SECONDS, swap);
	return sysstat_file_record_time(f, rec, seconds, p + RECORD_TYPE + 1, err);
}

static struct sysstat_activity *find_activity(struct sysstat_file *f, uint32_t id)
{
	for (uint32_t i = 0; i < f->n_activities; i++) {
		if (f->activities[i].id == id)
			return &f->activities[i];
	}
	return NULL;
}

/* The list in the record of a restart: activities whose number of items changes from here on. An
 * older sadc that appended to the file of a newer one leaves some entries empty. */
static int read_restart(struct sysstat_file *f, struct sysstat_record *rec, struct lp_err *err)
{
	uint64_t bytes = (uint64_t)f->n_volatile * ACTIVITY_BYTES;
	const uint8_t *p;
	int r;

	r = sysstat_file_bytes(f, rec->end, bytes, "the list of a restart", &p, err);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < f->n_volatile; i++, p += ACTIVITY_BYTES) {
		uint32_t id = sysstat_u32(p, f->arch.swap);
		uint32_t nr = sysstat_u32(p + 8, f->arch.swap);
		struct sysstat_activity *a = find_activity(f, id);

		if (!id || !nr)
			continue;
		if (!a || nr > SYSSTAT_ITEMS_MAX)
			return sysstat_file_damaged(f, rec->end + (uint64_t)i * ACTIVITY_BYTES,
				"a restart of an impossible activity", err);
		a->nr = nr;
	}
	rec->end += bytes;
	return 0;
}

/* Leave out items that are not in use. */
static int trim_spans(struct sysstat_file *f, struct sysstat_record *rec, struct lp_err *err)
{
	for (uint32_t i = 0; i < f->n_activities; i++) {
		const struct sysstat_activity *a = &f->activities[i];
		struct sysstat_span *span;
		const uint8_t *p;
		int r;

		if (a->wanted < 0 || !a->old)
			continue;
		span = &rec->spans[a->wanted];
		r = sysstat_file_bytes(
			f, span->at, (uint64_t)span->n * a->size, "statistics", &p, err);
		if (r < 0)
			return r;
		span->n = sysstat_old_items_used(a->old, p, span->n);
	}
	return 0;
}

int sysstat_old_record(struct sysstat_file *f, struct sysstat_record *rec, struct lp_err *err)
{
	const uint8_t *p;
	int r;

	for (uint32_t i = 0; rec->at == f->records_at && i < f->n_activities; i++)
		f->activities[i].nr = f->activities[i].first_nr;
	r = read_record_header(f, rec, err);
	if (r < 0)
		return r;
	if (rec->type == SYSSTAT_R_RESTART)
		return read_restart(f, rec, err);
	if (rec->type == SYSSTAT_R_COMMENT) {
		r = sysstat_file_bytes(f, rec->end, SYSSTAT_COMMENT_BYTES, "a comment", &p, err);
		rec->end += SYSSTAT_COMMENT_BYTES;
		return r;
	}
	r = sysstat_file_spans(f, rec, err);
	return r < 0 ? r : trim_spans(f, rec, err);
}
