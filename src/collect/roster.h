/* The order of names in a /proc file: finds the entry of a line without searching.
 *
 * From one sample to the next a file nearly always lists the same names in the same order, so the
 * i-th line is compared with the i-th name of last time. A name is looked up only if they differ,
 * and memory is allocated only for a new name.
 */
#ifndef COLLECT_ROSTER_H
#define COLLECT_ROSTER_H

#include "base/hash.h"
#include "collect/collector.h"
#include "collect/parse.h"

struct roster_entry {
	char name[PARSE_NAME_MAX + 1];
	uint8_t len;
	bool wanted; /* recorded; others are remembered to keep the order */
	bool empty;  /* not recorded because it is empty; checked again when it does any I/O */
	struct collect_row row;
	uint64_t identity;  /* of the current device with this name: device number, ifindex */
	uint64_t growth[2]; /* counters that only fall if the device was replaced */
	uint64_t sample;    /* the last sample that had it */
};

struct roster {
	struct roster_entry *entries;
	size_t n, cap;
	struct strmap index; /* name -> entry */
	uint32_t *places;    /* [line] the entry at this place in the last sample */
	size_t n_places, cap_places;
	size_t place;	 /* the next line */
	uint64_t sample; /* number of the current sample, from 1 */
};

enum roster_hit {
	ROSTER_SAME,  /* at the same place as before */
	ROSTER_MOVED, /* in the last sample too, at another place */
	ROSTER_NEW,   /* not in the last sample */
	ROSTER_TWICE, /* already in this sample */
};

/* Begin with the first line of a new sample. */
void roster_begin(struct roster *r);

/* Get the entry for the name on the next line (1 to PARSE_NAME_MAX bytes). Returns an `enum
 * roster_hit` or -ENOMEM. The entry is valid until the next call; a new entry is zero except for
 * its name. */
int roster_next(struct roster *r, const char *name, size_t len, struct roster_entry **ret_entry);

/* Remember two counters. True if one of them fell, so this cannot be the same device as before. */
bool roster_went_back(struct roster_entry *e, int64_t a, int64_t b);

void roster_release(struct roster *r);

#endif
