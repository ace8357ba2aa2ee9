/* The servers that deliver data: how far each has come, which are late or silent, and which have
 * wrong clocks. It uses no clock: the caller provides the time.
 */
#ifndef SERVE_OBSERVERS_H
#define SERVE_OBSERVERS_H

#include "base/hash.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Clocks that are off by less do no harm: windows are half a minute long. */
#define OBSERVERS_CLOCK_US INT64_C(10000000)

enum observer_state {
	OBSERVER_OK = 0,
	OBSERVER_LATE,	 /* it delivers, but old data */
	OBSERVER_SILENT, /* it delivers nothing */
};

struct observer {
	char *name;
	int64_t last_us;  /* its last sample; INT64_MIN: none */
	int64_t heard_us; /* when it arrived; INT64_MIN: never */
	int64_t gap_us;	  /* between its last two deliveries */
	uint64_t n_samples;
	uint64_t serial;  /* of its last catalogue */
	bool expected;	  /* it must be there */
	int64_t ahead_us; /* what is known of its clock, by which its times were corrected */
	/* How far its samples were ahead of our clock when they arrived, as recorded, at most: in
	 * this minute and in the one before; INT64_MIN: nothing arrived. */
	int64_t fresh_us[2];
	int64_t minute;
	/* Set by the last observers_rate(). */
	enum observer_state state;
	int64_t skew_us; /* of its clock against those of most; INT64_MIN: not known */
	int64_t news_us; /* by so much more than ahead_us its clock is ahead; 0: none for certain */
	/* Its samples of this span came too late to be judged; when the last of them came. */
	int64_t late_from_us, late_until_us, late_heard_us; /* the last: INT64_MIN: never */
};

/* Zero-initialise it. */
struct observers {
	struct observer *items;
	size_t n, cap;
	struct strmap index;
	bool live; /* data arrives as it is recorded, so clocks can be compared with the
		    * collector's */
	/* Since when data arrives again, after none could; 0: it always could. And up to when most
	 * had delivered before. */
	int64_t again_us, before_us;
	int64_t heard_us; /* when any data arrived; 0: never */
	double *times;
	size_t cap_times;
};

void observers_release(struct observers *o);

/* Get the number of the observer with this name, which is added if it is new. 0 or -ENOMEM. */
int observers_get(struct observers *o, const char *name, uint32_t *ret);

/* What is known of an observer's clock. If that is new, the age of earlier samples says nothing. */
void observers_clock(struct observers *o, uint32_t at, int64_t ahead_us);

/* Samples arrived, the last of which was recorded at `last_us` by the observer's own clock. */
void observers_arrived(struct observers *o, uint32_t at, int64_t last_us, int64_t now_us);

/* `n` samples were read, the last of which was taken at `last_us` by the right clock. */
void observers_heard(struct observers *o, uint32_t at, int64_t last_us, uint64_t n, int64_t now_us);

/* Samples of an observer came after the watermark had passed them, so they were not judged. */
void observers_heard_late(
	struct observers *o, uint32_t at, int64_t from_us, int64_t until_us, int64_t now_us);

/* Until now no data could arrive: the collector was not there, or could not take any. From now on
 * data arrives as it is recorded, and every server gets the full time before it is late. */
void observers_go_live(struct observers *o, int64_t now_us);

/* The time up to which most observers have delivered: the median of those that deliver at all.
 * Samples later than `now_us` do not count. INT64_MIN: none delivers. */
int64_t observers_most_us(struct observers *o, int64_t lateness_us, int64_t now_us);

/* How far the watermark may advance: up to the slowest observer that is at most `lateness_us`
 * behind most of them. After a time in which no data could arrive, it waits longer for observers
 * that still send what they recorded then. INT64_MIN: no data. */
int64_t observers_ready_us(struct observers *o, int64_t lateness_us, int64_t now_us);

/* Find out which observers are late or silent, and which have wrong clocks. Live, an observer is
 * silent if it has delivered nothing for `lateness_us` longer than the time between its last two
 * deliveries. The others do not matter, because all of them may be silent. */
void observers_rate(struct observers *o, int64_t lateness_us, int64_t now_us);

/* The number of observers in a state. */
size_t observers_count(const struct observers *o, enum observer_state state);

const char *observer_state_name(enum observer_state state);

#endif
