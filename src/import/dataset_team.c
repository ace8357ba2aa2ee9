#include "import/dataset_team.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "model/table_pack.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int part_keep_warning(struct file_part *p, const char *text)
{
	char *copy = strdup(text);

	if (!copy ||
		array_reserve(&p->warnings, &p->cap_warnings, p->n_warnings + 1,
			sizeof(*p->warnings)) < 0) {
		free(copy);
		return -ENOMEM;
	}
	p->warnings[p->n_warnings++] = copy;
	return 0;
}

int dataset_owner(const struct lp_dataset *ds, const struct team *team, size_t i)
{
	return ds->files[i].remote ? 0 : (int)(i % (size_t)team->size);
}

bool dataset_mine(const struct lp_dataset *ds, size_t i)
{
	return !ds->team || dataset_owner(ds, ds->team, i) == ds->team->rank;
}

/* What is known about a file before it is read. */
struct description {
	int64_t interval_us, first_us, last_us;
};

static void describe(const struct data_file *f, struct strbuf *ret)
{
	const struct description d = {f->interval_us, f->first_us, f->last_us};

	strbuf_add(ret, &d, sizeof(d));
	parcel_text(ret, f->worse);
	parcel_text(ret, f->observer);
	parcel_text(ret, f->addresses);
}

static int description_take(struct data_file *f, struct cursor *from)
{
	const uint8_t *bytes = cursor_bytes(from, sizeof(struct description));
	struct description d;
	int r;

	if (!bytes)
		return -EBADMSG;
	memcpy(&d, bytes, sizeof(d));
	f->interval_us = d.interval_us;
	f->first_us = d.first_us;
	f->last_us = d.last_us;
	free(f->worse);
	free(f->observer);
	free(f->addresses);
	f->observer = f->addresses = NULL;
	r = parcel_take_text(from, &f->worse);
	if (r == 0)
		r = parcel_take_text(from, &f->observer);
	return r < 0 ? r : parcel_take_text(from, &f->addresses);
}

/* Do all processes have the same files? A directory may differ between machines. */
static int files_agree(struct lp_dataset *ds, struct lp_err *err)
{
	_cleanup_(team_parcels_release) struct team_parcels all = {0};
	_cleanup_(strbuf_release) struct strbuf mine = {0};
	size_t n;
	int r;

	parcel_begin(&mine);
	for (size_t i = 0; i < ds->n; i++)
		parcel_text(&mine, ds->files[i].path);
	parcel_u64(&mine, (uint64_t)ds->opened_us);
	r = team_share(ds->team, &mine, &all, err);
	if (r < 0)
		return r;
	n = (size_t)(all.of[0].end - all.of[0].p) - sizeof(uint64_t);
	for (int i = 1; i < ds->team->size; i++) {
		if ((size_t)(all.of[i].end - all.of[i].p) != n + sizeof(uint64_t) ||
			memcmp(all.of[i].p, all.of[0].p, n))
			return lp_err_set(err, -EINVAL,
				"process %d of %d finds other files than the first one: all need "
				"the same data at the same place",
				i, ds->team->size);
	}
	ds->opened_us = (int64_t)get_u64(all.of[0].p + n);
	return 0;
}

static int files_describe(struct lp_dataset *ds, struct lp_err *err)
{
	_cleanup_(team_parcels_release) struct team_parcels all = {0};
	_cleanup_(strbuf_release) struct strbuf mine = {0};
	int r = dataset_ask(ds, err);

	parcel_begin(&mine);
	for (size_t i = 0; r == 0 && i < ds->n; i++) {
		if (dataset_mine(ds, i))
			describe(&ds->files[i], &mine);
	}
	if (r == 0)
		r = team_share(ds->team, &mine, &all, err);
	for (size_t i = 0; r == 0 && i < ds->n; i++) {
		int owner = dataset_owner(ds, ds->team, i);

		if (owner == ds->team->rank)
			continue;
		r = description_take(&ds->files[i], &all.of[owner]);
		if (r < 0)
			lp_err_sys(err, r, "cannot read %s", ds->files[i].path);
	}
	return r;
}

int dataset_join(struct lp_dataset *ds, struct team *team, struct lp_err *err)
{
	int r;

	ds->team = team;
	r = files_agree(ds, err);
	return r < 0 ? r : files_describe(ds, err);
}

void dataset_leave(struct lp_dataset *ds)
{
	ds->team = NULL;
}

/* The header of a packed part. Its warnings, the segments of the clock, and the builders follow. */
struct part_image {
	struct lp_err err;
	int64_t r;
	uint64_t n_warnings, n_builders, n_segments;
	bool overflow, known;
};

void part_pack(const struct file_part *p, const struct data_clock *clock, struct strbuf *ret)
{
	struct part_image image;

	memset(&image, 0, sizeof(image));
	image.err = p->err;
	image.r = p->r;
	image.overflow = p->overflow;
	image.known = clock->known;
	/* A part that is too large is read again. */
	image.n_warnings = p->overflow ? 0 : p->n_warnings;
	image.n_builders = p->overflow ? 0 : p->n_builders;
	image.n_segments = clock->n;
	strbuf_add(ret, &image, sizeof(image));
	for (size_t i = 0; i < image.n_warnings; i++)
		parcel_text(ret, p->warnings[i]);
	if (clock->n)
		strbuf_add(ret, clock->segments, clock->n * sizeof(*clock->segments));
	for (uint64_t i = 0; i < image.n_builders; i++)
		table_builder_pack(p->builders[i], ret);
}

static int warnings_unpack(struct file_part *p, uint64_t n, struct cursor *from)
{
	int r = 0;

	for (uint64_t i = 0; r == 0 && i < n; i++) {
		_cleanup_free_ char *text = NULL;

		r = parcel_take_text(from, &text);
		if (r == 0)
			r = text ? part_keep_warning(p, text) : -EBADMSG;
	}
	return r;
}

static int clock_unpack(struct data_clock *clock, uint64_t n, struct cursor *from)
{
	size_t size = n * sizeof(*clock->segments);
	const uint8_t *bytes;

	if (n > SIZE_MAX / sizeof(*clock->segments))
		return -EBADMSG;
	bytes = cursor_bytes(from, size);
	if (!bytes)
		return -EBADMSG;
	if (!n)
		return 0;
	if (array_reserve(&clock->segments, &clock->cap, n, sizeof(*clock->segments)) < 0)
		return -ENOMEM;
	memcpy(clock->segments, bytes, size);
	clock->n = n;
	return 0;
}

int part_unpack(struct file_part *p, struct data_clock *clock, struct cursor *from)
{
	const uint8_t *bytes = cursor_bytes(from, sizeof(struct part_image));
	struct part_image image;
	int r;

	if (!bytes)
		return -EBADMSG;
	memcpy(&image, bytes, sizeof(image));
	if (image.n_builders > p->n_builders)
		return -EBADMSG;
	p->err = image.err;
	p->r = (int)image.r;
	p->overflow = image.overflow;
	clock_release(clock);
	clock->known = image.known;
	r = warnings_unpack(p, image.n_warnings, from);
	if (r == 0)
		r = clock_unpack(clock, image.n_segments, from);
	for (uint64_t i = 0; r == 0 && i < image.n_builders; i++)
		r = table_builder_unpack(p->builders[i], from);
	return r;
}
