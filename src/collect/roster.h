/* The order of names in a /proc file: finds the entry of a line without searching.
 *
 * From one sample to the next a file nearly always lists the same names in the same order, so the
 * i-th line is compared with the i-th name of last time. A name is looked up only if they differ,
 * and memory is allocated only for a new one.
 */
#ifndef COLLECT_ROSTER_H
#define COLLECT_ROSTER_H

#include "base/hash.h"
#include "collect/collector.h"
#include "collect/parse.h"

struct roster_entry {
	char name[PARSE_NAME_MAX + 1];
	uint8_t len;
	bool wanted; /* is recorded; others are remembered so that the order is kept */
	bool empty;  /* not wanted because it is empty; checked again when it does any I/O */
	struct collect_row row;
	uint64_t identity;  /* of the device that has the name now: device number, ifindex */
	uint64_t growth[2]; /* counters that never go back unless the device was replaced */
	uint64_t sample;    /* that saw it last */
};

struct roster {
	struct roster_entry *entries;
	size_t n, cap;
	struct strmap index; /* name -> entry */
	uint32_t *places;    /* [line] entry that stood there in the last sample */
	size_t n_places, cap_places;
	size_t place;	 /* the next line */
	uint64_t sample; /* number of the current sample, from 1 */
};

enum roster_hit {
	ROSTER_SAME,  /* at the same place as before */
	ROSTER_MOVED, /* was in the last sample too, at another place */
	ROSTER_NEW,   /* was not in the last sample */
	ROSTER_TWICE, /* was in this sample already */
};

/* Begin with the first line of a new sample. */
void roster_begin(struct roster *r);

/* The entry of the next line's name (1 to PARSE_NAME_MAX bytes): an `enum roster_hit` or -ENOMEM.
 * The entry is valid until the next call; a new one is zeroed except for its name. */
int roster_next(struct roster *r, const char *name, size_t len, struct roster_entry **ret_entry);

/* Remember two counters; true if one of them went back, so that this cannot be the same device as
 * before. */
bool roster_went_back(struct roster_entry *e, int64_t a, int64_t b);

void roster_release(struct roster *r);

#endif
