#include "collect/roster.h"

#include "base/array.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Remember at least this many names that are gone, so that a few devices that come and go cause no
 * allocations. */
#define ROSTER_SLACK 64

static int roster_add(struct roster *r, const char *name, size_t len, uint32_t *ret_index)
{
	struct roster_entry *e;

	if (array_reserve(&r->entries, &r->cap, r->n + 1, sizeof(*r->entries)) < 0)
		return -ENOMEM;
	e = &r->entries[r->n];
	*e = (struct roster_entry){.len = (uint8_t)len};
	memcpy(e->name, name, len);
	if (strmap_put(&r->index, e->name, (uint32_t)r->n) < 0)
		return -ENOMEM;
	*ret_index = (uint32_t)r->n++;
	return 0;
}

/* Keep only the names of the last sample, in their order. Names that left are new when they return,
 * remembered or not. */
static void roster_compact(struct roster *r)
{
	struct roster kept = {.place = r->place, .sample = r->sample};
	int error = array_reserve(&kept.places, &kept.cap_places, r->place, sizeof(*kept.places));

	for (size_t i = 0; error == 0 && i < r->place; i++) {
		const struct roster_entry *e = &r->entries[r->places[i]];

		error = roster_add(&kept, e->name, e->len, &kept.places[i]);
		if (error == 0)
			kept.entries[i] = *e;
	}
	if (error < 0) {
		roster_release(&kept);
		return;
	}
	roster_release(r);
	*r = kept;
}

void roster_begin(struct roster *r)
{
	/* Container hosts create thousands of interfaces per day, each with another name. */
	if (r->n > 2 * r->place + ROSTER_SLACK)
		roster_compact(r);
	r->n_places = r->place;
	r->place = 0;
	r->sample++;
}

/* The line differs from the one that was here last time: find its name. */
static int roster_resolve(
	struct roster *r, const char *name, size_t len, struct roster_entry **ret_entry)
{
	char key[PARSE_NAME_MAX + 1] = {0};
	struct roster_entry *e;
	enum roster_hit hit;
	uint32_t index;

	memcpy(key, name, len);
	if (array_reserve(&r->places, &r->cap_places, r->place + 1, sizeof(*r->places)) < 0)
		return -ENOMEM;
	if (!strmap_get(&r->index, key, &index) && roster_add(r, name, len, &index) < 0)
		return -ENOMEM;
	e = &r->entries[index];
	if (e->sample == r->sample)
		return ROSTER_TWICE;
	hit = e->sample && e->sample + 1 == r->sample ? ROSTER_MOVED : ROSTER_NEW;
	r->places[r->place++] = index;
	e->sample = r->sample;
	*ret_entry = e;
	return hit;
}

int roster_next(struct roster *r, const char *name, size_t len, struct roster_entry **ret_entry)
{
	struct roster_entry *e;

	if (r->place >= r->n_places)
		return roster_resolve(r, name, len, ret_entry);
	e = &r->entries[r->places[r->place]];
	if (e->len != len || memcmp(e->name, name, len) != 0 || e->sample + 1 != r->sample)
		return roster_resolve(r, name, len, ret_entry);
	e->sample = r->sample;
	r->place++;
	*ret_entry = e;
	return ROSTER_SAME;
}

bool roster_went_back(struct roster_entry *e, int64_t a, int64_t b)
{
	bool back = (uint64_t)a < e->growth[0] || (uint64_t)b < e->growth[1];

	e->growth[0] = (uint64_t)a;
	e->growth[1] = (uint64_t)b;
	return back;
}

void roster_release(struct roster *r)
{
	free(r->entries);
	free(r->places);
	strmap_release(&r->index);
	*r = (struct roster){0};
}
