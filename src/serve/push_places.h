/* How far the samples of each archive were sent, so that after a restart exactly the unsent ones
 * are sent. The archives are the queue; this is the position in it. It is a file
 * "remote-write.json" in the same directory.
 */
#ifndef SERVE_PUSH_PLACES_H
#define SERVE_PUSH_PLACES_H

#include "base/hash.h"
#include <limpet/err.h>

#define PUSH_PLACES_FILE "remote-write.json"

/* Zero-initialise it. */
struct push_places {
	struct strmap by_file;
	struct push_place {
		int64_t begin_us; /* up to here it was sent before the start */
		int64_t sent_us;  /* up to here the receiver has it, or has refused it */
		int64_t taken_us; /* up to here it is under way */
	} * items;
	size_t n, cap;
	int64_t begun_us; /* nothing before this is sent; 0: all is */
	bool changed;
};

void push_places_release(struct push_places *p);

/* Read the text of the file. 0, -EBADMSG or -ENOMEM. */
int push_places_parse(struct push_places *p, const char *text, size_t size);

/* Read the file in that directory: 1, or 0 if there is none. A damaged one is an error. */
int push_places_load(struct push_places *p, const char *dir, struct lp_err *err);

/* Write it, if something changed. Files of which nothing after `oldest_us` was sent are left out,
 * because data of that age is not sent anyway. */
int push_places_save(struct push_places *p, const char *dir, int64_t oldest_us, struct lp_err *err);

/* The time up to which samples of a file were sent before the start; INT64_MIN: none were. */
int64_t push_places_begin(const struct push_places *p, const char *file);

/* Samples of a file up to this time are under way. 0 or -ENOMEM. */
int push_places_take(struct push_places *p, const char *file, int64_t us);

/* All that was under way has arrived. */
void push_places_arrived(struct push_places *p);

#endif
