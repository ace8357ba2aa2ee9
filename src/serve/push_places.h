/* How far the samples of each archive were sent, so that after a restart exactly the unsent ones
 * are sent. The archives are the queue; this is the position in the queue. It is stored in the file
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
		int64_t begin_us; /* sent up to here before the start */
		int64_t sent_us;  /* the receiver has accepted or refused it up to here */
		int64_t taken_us; /* being sent up to here */
	} * items;
	size_t n, cap;
	int64_t begun_us; /* earlier samples are not sent; 0: all are */
	bool changed;
};

void push_places_release(struct push_places *p);

/* Read the text of the file. 0, -EBADMSG or -ENOMEM. */
int push_places_parse(struct push_places *p, const char *text, size_t size);

/* Read the file in that directory. 1, or 0 if there is none. A damaged file is an error. */
int push_places_load(struct push_places *p, const char *dir, struct lp_err *err);

/* Write the file, if something changed. Archives without sent data after `oldest_us` are left out,
 * because older data is not sent anyway. */
int push_places_save(struct push_places *p, const char *dir, int64_t oldest_us, struct lp_err *err);

/* The time up to which samples of a file were sent before the start; INT64_MIN: none were. */
int64_t push_places_begin(const struct push_places *p, const char *file);

/* Note that samples of a file up to this time are being sent. 0 or -ENOMEM. */
int push_places_take(struct push_places *p, const char *file, int64_t us);

/* All samples that were being sent have arrived. */
void push_places_arrived(struct push_places *p);

#endif
