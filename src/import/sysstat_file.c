#include "import/sysstat_file.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/time.h"
#include "import/sysstat_old.h"
#include "import/unpack.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define WINDOW_BYTES (256u << 10) /* fits into the cache of a core */

/* Sizes in the file, and more of sysstat's own limits. */
#define MAGIC_BYTES 76
#define EXTRA_DESC_BYTES 24
#define UTSNAME_BYTES 65
#define ACTIVITY_BYTES_MAX 1024
#define RECORD_BYTES_MAX 512
#define ITEM_BYTES_MAX 1024
#define SUBITEMS_MAX 4096
#define EXTRA_NR_MAX 8192
#define EXTRA_BYTES_MAX 1024

/* More disks or interfaces than this in one record are damage. */
#define WANTED_ITEMS_MAX 65536

/* Times beyond the year 9999, and uptimes that long, are damage. */
#define SECONDS_MAX UINT64_C(253402300799)

int sysstat_file_damaged(
	const struct sysstat_file *f, uint64_t at, const char *what, struct lp_err *err)
{
	return lp_err_set(err, -EBADMSG, "%s: damaged at byte %" PRIu64 ": %s", f->path, at, what);
}

/* Move the window so that it begins at `at` and has at least `len` bytes. */
static int window_move(struct sysstat_file *f, uint64_t at, uint64_t len, struct lp_err *err)
{
	ssize_t n;

	if (len > f->window_cap) {
		uint8_t *grown = realloc(f->window, len);

		if (!grown) {
			lp_err_sys(err, -ENOMEM, "cannot read %s", f->path);
			return -ENOMEM;
		}
		f->window = grown;
		f->window_cap = len;
	}
	f->window_len = 0;
	n = file_pread_full(f->fd, f->window, f->window_cap, (off_t)at);
	if (n < 0) {
		lp_err_sys(err, (int)n, "%s: cannot read at byte %" PRIu64, f->path, at);
		return (int)n;
	}
	f->window_at = at;
	f->window_len = (size_t)n;
	if (f->window_len < len) {
		lp_err_set(err, -EBADMSG, "%s became shorter while limpet read it", f->path);
		return -EBADMSG;
	}
	return 0;
}

int sysstat_file_bytes(struct sysstat_file *f, uint64_t at, uint64_t len, const char *what,
	const uint8_t **ret_bytes, struct lp_err *err)
{
	int r;

	if (at > f->size || len > f->size - at) {
		lp_err_set(err, -EBADMSG,
			"%s: cut off at byte %" PRIu64 ", inside %s that begins at byte %" PRIu64,
			f->path, f->size, what, at);
		return -EBADMSG;
	}
	if (at < f->window_at || at + len > f->window_at + f->window_len) {
		r = window_move(f, at, len, err);
		if (r < 0)
			return r;
	}
	*ret_bytes = f->window + (at - f->window_at);
	return 0;
}

/* Compressed files are common: sysstat compresses those of past days. */
static int refuse_packed(const struct sysstat_file *f, const uint8_t *head, struct lp_err *err)
{
	const struct unpack_format *format = unpack_format_of(head, f->size);

	if (!format)
		return 0;
	return lp_err_set(err, -EINVAL, "%s is compressed with %s; decompress it first: %s %s",
		f->path, format->name, format->command, f->path);
}

static int refuse_format(const struct sysstat_file *f, struct lp_err *err)
{
	if (f->format < SYSSTAT_FORMAT)
		return lp_err_set(err, -EPROTONOSUPPORT,
			"%s is in the old format 0x%x of sysstat %s; limpet reads 0x2171, 0x2173 "
			"and 0x%x, of sysstat 9.1.6 and later",
			f->path, f->format, f->version, SYSSTAT_FORMAT);
	return lp_err_set(err, -EPROTONOSUPPORT,
		"%s is in format 0x%x of sysstat %s, which is newer than the format 0x%x "
		"that limpet reads",
		f->path, f->format, f->version, SYSSTAT_FORMAT);
}

static void types_read(const uint8_t *p, bool swap, struct sysstat_types *ret)
{
	for (int c = 0; c < 3; c++)
		ret->n[c] = sysstat_u32(p + (size_t)c * 4, swap);
}

/* The start of every file: its format, and the version of its writer. */
static int read_magic(struct sysstat_file *f, struct lp_err *err)
{
	uint64_t there = f->size < MAGIC_BYTES ? f->size : MAGIC_BYTES;
	const uint8_t *p;
	int r;

	r = sysstat_file_bytes(f, 0, there, "the file", &p, err);
	if (r < 0)
		return r;
	r = refuse_packed(f, p, err);
	if (r < 0)
		return r;
	if (there < 8 ||
		(sysstat_u16(p, false) != SYSSTAT_MAGIC && sysstat_u16(p, true) != SYSSTAT_MAGIC))
		return lp_err_set(err, -EINVAL, "%s is not a sysstat activity file", f->path);
	f->arch.swap = sysstat_u16(p, false) != SYSSTAT_MAGIC;
	f->format = sysstat_u16(p + 2, f->arch.swap);
	f->old = sysstat_old_format(f->format);
	snprintf(f->version, sizeof(f->version), "%u.%u.%u", p[4], p[5], p[6]);
	return f->old || f->format == SYSSTAT_FORMAT ? 0 : refuse_format(f, err);
}

static int read_header_size(struct sysstat_file *f, uint32_t *ret_size,
	struct sysstat_types *ret_types, struct lp_err *err)
{
	const uint8_t *p;
	int r;

	r = sysstat_file_bytes(f, 0, MAGIC_BYTES, "the first header", &p, err);
	if (r < 0)
		return r;
	*ret_size = sysstat_u32(p + 8, f->arch.swap);
	types_read(p + 16, f->arch.swap, ret_types);
	if (!*ret_size || *ret_size > SYSSTAT_HEADER_BYTES_MAX ||
		sysstat_types_size(ret_types) > *ret_size)
		return sysstat_file_damaged(f, 8, "the size of the header is impossible", err);
	return 0;
}

/* The part of the header after its numbers: day, month, size of long, then names of 65 bytes. */
int sysstat_file_header_text(
	struct sysstat_file *f, const uint8_t *text, uint64_t len, uint64_t at, struct lp_err *err)
{
	uint8_t long_size;

	if (len < 3 + 2 * UTSNAME_BYTES)
		return sysstat_file_damaged(
			f, at, "the header is too short for the name of the machine", err);
	long_size = text[2];
	if (long_size != 4 && long_size != 8)
		return sysstat_file_damaged(
			f, at + 2, "the size of a long is neither 4 nor 8", err);
	f->arch.long_is_64 = long_size == 8;
	memcpy(f->nodename, text + 3 + UTSNAME_BYTES, UTSNAME_BYTES);
	f->nodename[UTSNAME_BYTES] = '\0';
	return 0;
}

/* The description of the rest of the file in the header. */
struct header {
	uint32_t act_size;
	struct sysstat_types act_types;
	bool extra_next;
};

static uint32_t header_int(const uint8_t *p, const struct sysstat_types *t, bool swap, uint32_t i)
{
	return (uint32_t)sysstat_field(p, t, (struct sysstat_arch){.swap = swap}, SYSSTAT_U, i);
}

static int read_header(struct sysstat_file *f, struct header *ret, struct lp_err *err)
{
	struct sysstat_types types = {0};
	uint32_t size = 0;
	uint64_t numbers;
	const uint8_t *p;
	int r;

	r = read_header_size(f, &size, &types, err);
	if (r < 0)
		return r;
	r = sysstat_file_bytes(f, MAGIC_BYTES, size, "the header", &p, err);
	if (r < 0)
		return r;
	numbers = sysstat_types_size(&types);
	r = sysstat_file_header_text(f, p + numbers, size - numbers, MAGIC_BYTES + numbers, err);
	if (r < 0)
		return r;
	f->n_activities = header_int(p, &types, f->arch.swap, 1);
	for (uint32_t c = 0; c < 3; c++) {
		ret->act_types.n[c] = header_int(p, &types, f->arch.swap, 3 + c);
		f->record_types.n[c] = header_int(p, &types, f->arch.swap, 6 + c);
	}
	ret->act_size = header_int(p, &types, f->arch.swap, 9);
	f->record_size = header_int(p, &types, f->arch.swap, 10);
	ret->extra_next = header_int(p, &types, f->arch.swap, 11) != 0;
	f->records_at = MAGIC_BYTES + size;
	if (!f->n_activities || f->n_activities > SYSSTAT_ACTIVITIES_MAX ||
		ret->act_size > ACTIVITY_BYTES_MAX || f->record_size > RECORD_BYTES_MAX ||
		sysstat_types_size(&ret->act_types) > ret->act_size ||
		sysstat_types_size(&f->record_types) + 4 > f->record_size ||
		ret->act_types.n[SYSSTAT_U] < 9 || f->record_types.n[SYSSTAT_ULL] < 2)
		return sysstat_file_damaged(f, MAGIC_BYTES, "the header contradicts itself", err);
	return 0;
}

static int impossible_activity(
	const struct sysstat_file *f, const struct sysstat_activity *a, struct lp_err *err)
{
	if (f->old)
		return lp_err_set(err, -EBADMSG,
			"%s: damaged at byte %" PRIu64 ": activity %" PRIu32 " cannot have %" PRIu32
			" x %" PRIu32 " items of %" PRIu32 " bytes",
			f->path, f->records_at, a->id, a->nr, a->nr2, a->size);
	return lp_err_set(err, -EBADMSG,
		"%s: damaged at byte %" PRIu64 ": activity %" PRIu32 " cannot have %" PRIu32
		" x %" PRIu32 " items of %" PRIu32 " bytes with %" PRIu32 ", %" PRIu32
		" and %" PRIu32 " numbers",
		f->path, f->records_at, a->id, a->nr, a->nr2, a->size, a->types.n[0], a->types.n[1],
		a->types.n[2]);
}

/* sadc lists each activity once. If one repeats, the count is wrong and the data is not a list. */
int sysstat_file_check_activity(const struct sysstat_file *f, uint32_t i, struct lp_err *err)
{
	const struct sysstat_activity *a = &f->activities[i];
	bool counts =
		a->nr >= 1 && a->nr <= SYSSTAT_ITEMS_MAX && a->nr2 >= 1 && a->nr2 <= SUBITEMS_MAX;

	if (!counts || a->size < 1 || a->size > ITEM_BYTES_MAX ||
		sysstat_types_size(&a->types) > a->size ||
		!sysstat_types_plausible(a->id, a->magic, &a->types))
		return impossible_activity(f, a, err);
	for (uint32_t k = 0; k < i; k++) {
		if (f->activities[k].id == a->id)
			return sysstat_file_damaged(
				f, f->records_at, "an activity is listed twice", err);
	}
	return 0;
}

static int read_activities(struct sysstat_file *f, const struct header *h, struct lp_err *err)
{
	f->activities = calloc(f->n_activities + 1, sizeof(*f->activities));
	if (!f->activities)
		return lp_err_sys(err, -ENOMEM, "cannot read %s", f->path);
	for (uint32_t i = 0; i < f->n_activities; i++) {
		struct sysstat_activity *a = &f->activities[i];
		const uint8_t *p;
		uint32_t v[9];
		int r;

		r = sysstat_file_bytes(
			f, f->records_at, h->act_size, "the list of activities", &p, err);
		if (r < 0)
			return r;
		for (uint32_t k = 0; k < ARRAY_SIZE(v); k++)
			v[k] = header_int(p, &h->act_types, f->arch.swap, k);
		*a = (struct sysstat_activity){.id = v[0],
			.magic = v[1],
			.nr = v[2],
			.nr2 = v[3],
			.has_nr = v[4] != 0,
			.size = v[5],
			.types = {{v[6], v[7], v[8]}},
			.wanted = -1};
		r = sysstat_file_check_activity(f, i, err);
		if (r < 0)
			return r;
		f->records_at += h->act_size;
	}
	return 0;
}

/* Skip structures that a later sysstat added; `*at` moves past them. Each description has some
 * bytes, so the loop ends. */
static int skip_extra(struct sysstat_file *f, uint64_t *at, struct lp_err *err)
{
	uint64_t here = *at;
	bool more = true;

	while (more) {
		struct sysstat_types types;
		uint32_t nr, size;
		const uint8_t *p;
		int r;

		r = sysstat_file_bytes(f, here, EXTRA_DESC_BYTES, "an extra structure", &p, err);
		if (r < 0)
			return r;
		nr = sysstat_u32(p, f->arch.swap);
		size = sysstat_u32(p + 4, f->arch.swap);
		more = sysstat_u32(p + 8, f->arch.swap) != 0;
		types_read(p + 12, f->arch.swap, &types);
		if (nr > EXTRA_NR_MAX || size > EXTRA_BYTES_MAX ||
			sysstat_types_size(&types) > size)
			return sysstat_file_damaged(
				f, here, "an extra structure of impossible size", err);
		here += EXTRA_DESC_BYTES + (uint64_t)nr * size;
	}
	*at = here;
	return 0;
}

static int read_start(struct sysstat_file *f, struct lp_err *err)
{
	struct header h;
	int r;

	r = read_magic(f, err);
	if (r < 0)
		return r;
	if (f->old)
		return sysstat_old_start(f, err);
	r = read_header(f, &h, err);
	if (r == 0)
		r = read_activities(f, &h, err);
	if (r == 0 && h.extra_next)
		r = skip_extra(f, &f->records_at, err);
	if (r == 0 && f->records_at > f->size)
		r = sysstat_file_damaged(f, f->size, "cut off inside the extra structures", err);
	return r;
}

int sysstat_file_open(struct sysstat_file *f, const char *path, struct lp_err *err)
{
	struct stat st;
	int r;

	*f = (struct sysstat_file){.path = path, .fd = unpack_open(path, NULL, err)};
	if (f->fd < 0) {
		r = f->fd;
	} else if (fstat(f->fd, &st) < 0) {
		r = lp_err_sys(err, -errno, "cannot read %s", path);
	} else if (!S_ISREG(st.st_mode)) {
		r = lp_err_set(err, -EINVAL, "%s is not a regular file", path);
	} else {
		f->size = (uint64_t)st.st_size;
		f->window_cap = WINDOW_BYTES;
		f->window = calloc(1, f->window_cap);
		r = f->window ? read_start(f, err)
			      : lp_err_sys(err, -ENOMEM, "cannot read %s", path);
	}
	if (r < 0)
		sysstat_file_release(f);
	return r;
}

void sysstat_file_release(struct sysstat_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
	free(f->window);
	f->window = NULL;
	free(f->activities);
	f->activities = NULL;
}

int sysstat_file_record_time(const struct sysstat_file *f, struct sysstat_record *rec,
	uint64_t seconds, const uint8_t clock[3], struct lp_err *err)
{
	if (seconds > SECONDS_MAX || rec->uptime_cs / 100 > SECONDS_MAX || clock[0] > 23 ||
		clock[1] > 59 || clock[2] > 60)
		return sysstat_file_damaged(f, rec->at, "a record with an impossible time", err);
	rec->wall_us = (int64_t)seconds * US_PER_SEC;
	return 0;
}

static int read_record_header(
	struct sysstat_file *f, struct sysstat_record *rec, bool *ret_extra, struct lp_err *err)
{
	const struct sysstat_types *t = &f->record_types;
	const uint8_t *p, *text;
	int r;

	r = sysstat_file_bytes(f, rec->at, f->record_size, "a record", &p, err);
	if (r < 0)
		return r;
	text = p + sysstat_types_size(t);
	rec->type = text[0];
	rec->uptime_cs = sysstat_field(p, t, f->arch, SYSSTAT_ULL, 0);
	*ret_extra = sysstat_field(p, t, f->arch, SYSSTAT_U, 0) != 0;
	if (rec->type < SYSSTAT_R_STATS || rec->type > SYSSTAT_R_EXTRA_MAX)
		return sysstat_file_damaged(f, rec->at, "a record of an unknown type", err);
	return sysstat_file_record_time(
		f, rec, sysstat_field(p, t, f->arch, SYSSTAT_ULL, 1), text + 1, err);
}

/* Find the items of one activity; `*at` moves past them. */
static int read_span(struct sysstat_file *f, const struct sysstat_activity *a, uint64_t *at,
	struct sysstat_span *ret, struct lp_err *err)
{
	struct sysstat_span span = {.n = a->nr};
	uint64_t bytes;
	const uint8_t *p;
	int r;

	if (a->has_nr) {
		r = sysstat_file_bytes(f, *at, 4, "a count of items", &p, err);
		if (r < 0)
			return r;
		span.n = sysstat_u32(p, f->arch.swap);
		*at += 4;
	}
	if (span.n > (a->wanted < 0 ? SYSSTAT_ITEMS_MAX : WANTED_ITEMS_MAX))
		return sysstat_file_damaged(
			f, *at, "the number of items before this is impossible", err);
	span.at = *at;
	bytes = (uint64_t)span.n * a->nr2 * a->size;
	if (bytes > f->size - *at) /* *at is not beyond the end: its 4 bytes were read */
		return lp_err_set(err, -EBADMSG,
			"%s: cut off at byte %" PRIu64
			", inside statistics that begin at byte %" PRIu64,
			f->path, f->size, *at);
	*at += bytes;
	*ret = span;
	return 0;
}

int sysstat_file_spans(struct sysstat_file *f, struct sysstat_record *rec, struct lp_err *err)
{
	for (uint32_t i = 0; i < f->n_activities; i++) {
		const struct sysstat_activity *a = &f->activities[i];
		struct sysstat_span span;
		int r;

		r = read_span(f, a, &rec->end, &span, err);
		if (r < 0)
			return r;
		if (a->wanted >= 0)
			rec->spans[a->wanted] = span;
	}
	return 0;
}

/* The rest of a record after its header, by its type. */
static int read_record_body(
	struct sysstat_file *f, struct sysstat_record *rec, bool extra, struct lp_err *err)
{
	bool stats = sysstat_record_is_stats(rec);
	const uint8_t *p;
	int r = 0;

	if (rec->type == SYSSTAT_R_COMMENT) {
		r = sysstat_file_bytes(f, rec->end, SYSSTAT_COMMENT_BYTES, "a comment", &p, err);
		rec->end += SYSSTAT_COMMENT_BYTES;
	} else if (rec->type == SYSSTAT_R_RESTART) { /* the number of CPUs */
		r = sysstat_file_bytes(f, rec->end, 4, "a restart mark", &p, err);
		rec->end += 4;
	}
	if (r == 0 && extra)
		r = skip_extra(f, &rec->end, err);
	if (r == 0 && rec->end > f->size)
		r = sysstat_file_damaged(f, rec->at, "the file ends inside this record", err);
	if (r == 0 && stats)
		r = sysstat_file_spans(f, rec, err);
	return r;
}

/* Load as many bytes as the last record had: the items are read after the counts, and the window
 * should not have to move back. */
static int window_foresee(struct sysstat_file *f, uint64_t at, struct lp_err *err)
{
	bool inside = at >= f->window_at && at + f->record_hint <= f->window_at + f->window_len;

	if (inside || f->record_hint > f->window_cap || at + f->record_hint > f->size)
		return 0;
	return window_move(f, at, f->record_hint, err);
}

static int read_record(struct sysstat_file *f, struct sysstat_record *rec, struct lp_err *err)
{
	bool extra = false;
	int r;

	r = read_record_header(f, rec, &extra, err);
	return r < 0 ? r : read_record_body(f, rec, extra, err);
}

int sysstat_file_record(
	struct sysstat_file *f, uint64_t at, struct sysstat_record *ret_record, struct lp_err *err)
{
	struct sysstat_record rec = {.at = at, .end = at + f->record_size};
	int r;

	if (at == f->size)
		return 0;
	r = window_foresee(f, at, err);
	if (r == 0)
		r = f->old ? sysstat_old_record(f, &rec, err) : read_record(f, &rec, err);
	if (r < 0)
		return r;
	f->record_hint = rec.end - rec.at;
	*ret_record = rec;
	return 1;
}
