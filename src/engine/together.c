#include "engine/together.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int division_begin(struct division *d, const struct team *team)
{
	*d = (struct division){.team = team};
	if (team)
		d->loads = calloc((size_t)team->size, sizeof(*d->loads));
	return team && !d->loads ? -ENOMEM : 0;
}

void division_release(struct division *d)
{
	free(d->loads);
	*d = (struct division){0};
}

int division_next(struct division *d, uint32_t n_members)
{
	int least = 0;

	for (int i = 1; d->team && i < d->team->size; i++) {
		if (d->loads[i] < d->loads[least])
			least = i;
	}
	if (d->team)
		d->loads[least] += (uint64_t)n_members + 1;
	return least;
}

bool division_mine(const struct division *d, int owner)
{
	return !d->team || owner == d->team->rank;
}

struct look_image {
	double threshold, floor;
	int64_t role;
	bool worth, weighs, by_sample, has_metric;
};

void look_pack(const struct comparison_look *look, bool worth, struct strbuf *ret)
{
	struct look_image image;

	memset(&image, 0, sizeof(image));
	image.worth = worth;
	if (worth) {
		image.threshold = look->threshold;
		image.floor = look->floor;
		image.role = look->role;
		image.weighs = look->weighs;
		image.by_sample = look->by_sample;
		image.has_metric = look->metric != NULL;
	}
	strbuf_add(ret, &image, sizeof(image));
}

int look_unpack(struct cursor *from, const struct lp_metric *metric, const char *method,
	struct comparison_look *ret, bool *ret_worth)
{
	const uint8_t *bytes = cursor_bytes(from, sizeof(struct look_image));
	struct look_image image;

	if (!bytes)
		return -EBADMSG;
	memcpy(&image, bytes, sizeof(image));
	*ret_worth = image.worth;
	if (!image.worth)
		return 0;
	if (image.has_metric != (metric != NULL))
		return -EBADMSG;
	*ret = (struct comparison_look){.threshold = image.threshold,
		.floor = image.floor,
		.metric = metric,
		.role = (enum lp_role)image.role,
		.weighs = image.weighs,
		.by_sample = image.by_sample,
		.method = image.by_sample ? "series" : method};
	return 0;
}

void results_pack(const struct tracks *t, const uint32_t *numbers, uint32_t n_members,
	uint32_t n_windows, int64_t number, struct strbuf *ret)
{
	parcel_u64(ret, n_windows);
	strbuf_reserve(
		ret, (size_t)n_members * (sizeof(int64_t) + n_windows * sizeof(struct kept)));
	for (uint32_t i = 0; n_windows && i < n_members; i++) {
		const struct track *track = &t->items[numbers[i]];

		strbuf_add(ret, &track->first_slot, sizeof(track->first_slot));
		for (uint32_t w = 0; w < n_windows; w++) {
			struct kept k = track_get(track, number + w);

			strbuf_add(ret, &k, sizeof(k));
		}
	}
}

static int track_unpack(struct track *t, uint64_t n_windows, int64_t number, struct cursor *from)
{
	const uint8_t *first = cursor_bytes(from, sizeof(t->first_slot));
	const uint8_t *kept = cursor_bytes(from, n_windows * sizeof(struct kept));
	int r = 0;

	if (!kept)
		return -EBADMSG;
	memcpy(&t->first_slot, first, sizeof(t->first_slot));
	for (uint64_t w = 0; r == 0 && w < n_windows; w++) {
		struct kept k;

		memcpy(&k, kept + w * sizeof(k), sizeof(k));
		r = track_put(t, number + (int64_t)w, &k);
	}
	return r;
}

int results_unpack(struct tracks *t, const uint32_t *numbers, uint32_t n_members, int64_t number,
	struct cursor *from)
{
	uint64_t n_windows = cursor_u64(from);
	int r = 0;

	if (from->bad || n_windows > SIZE_MAX / sizeof(struct kept))
		return -EBADMSG;
	for (uint32_t i = 0; n_windows && r == 0 && i < n_members; i++)
		r = track_unpack(&t->items[numbers[i]], n_windows, number, from);
	return r;
}
