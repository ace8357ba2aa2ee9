/* Writes sysstat's activity files in the formats 0x2171 and 0x2173 (sa_writer.format), byte by byte
 * and without any code of the reader. */
#ifndef SA_OLD_WRITER_H
#define SA_OLD_WRITER_H

#include "sa_writer.h"

/* Padding is not zero here, because it must not be read. */
static inline void sa_hole(struct sa_writer *w, size_t n)
{
	memset(w->data + w->len, 0xee, n);
	w->len += n;
}

/* A number in a place of 16 bytes. */
static inline void sa_wide(struct sa_writer *w, uint64_t v)
{
	sa_u64(w, v);
	sa_hole(w, 8);
}

static inline void sa_old_begin(struct sa_writer *w, uint32_t n_activities, uint32_t n_volatile)
{
	bool newer = w->format == 0x2173;

	sa_number(w, 0xd596, 2);
	sa_number(w, w->format, 2);
	memcpy(w->data + w->len, newer ? "\x0b\x06\x05\x00" : "\x0a\x01\x05\x00", 4);
	w->len += 4;
	if (newer) {
		sa_u32(w, 288 + w->more_header);
		sa_hole(w, 64);
	}
	sa_long(w, 1600000000);
	if (newer)
		sa_u32(w, 3); /* CPUs */
	sa_u32(w, n_activities);
	if (newer)
		sa_u32(w, n_volatile);
	sa_number(w, 13, 1);
	sa_number(w, 8, 1);
	sa_number(w, 120, 1);
	sa_number(w, w->long_is_32 ? 4 : 8, 1);
	sa_text(w, "Linux", 65);
	sa_text(w, "oss1", 65);
	sa_text(w, "3.10.0", 65);
	sa_text(w, "mips", 65);
	sa_hole(w, 4 + w->more_header);
}

static inline void sa_old_activity(
	struct sa_writer *w, uint32_t id, uint32_t magic, uint32_t nr, uint32_t size)
{
	sa_u32(w, id);
	sa_u32(w, magic);
	sa_u32(w, nr);
	sa_u32(w, 1);
	sa_u32(w, size);
}

static inline void sa_old_record(
	struct sa_writer *w, unsigned type, uint64_t uptime, uint64_t seconds)
{
	sa_wide(w, 2 * uptime); /* of two CPUs */
	sa_wide(w, uptime);
	sa_long(w, seconds);
	sa_number(w, type, 1);
	sa_number(w, seconds / 3600 % 24, 1);
	sa_number(w, seconds / 60 % 60, 1);
	sa_number(w, seconds % 60, 1);
	sa_hole(w, 4);
}

/* `version`: of the layout, 0 or 1. */
static inline void sa_old_disk(struct sa_writer *w, uint32_t version, const struct sa_disk *d)
{
	uint32_t ticks[] = {d->rd_ticks, d->wr_ticks, d->tot_ticks, d->rq_ticks};

	if (version) {
		sa_wide(w, d->ios);
		sa_long(w, d->rd_sec);
		sa_long(w, d->wr_sec);
	} else {
		sa_wide(w, d->rd_sec);
		sa_wide(w, d->wr_sec);
	}
	for (int i = 0; i < 4; i++) {
		if (version)
			sa_u32(w, ticks[i]);
		else
			sa_long(w, ticks[i]);
	}
	if (!version)
		sa_long(w, d->ios);
	sa_u32(w, d->major);
	sa_u32(w, d->minor);
	if (version)
		sa_hole(w, 8);
}

/* Counters first, first+1, ... */
static inline void sa_old_counters(struct sa_writer *w, bool wide, uint64_t first, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		if (wide)
			sa_wide(w, first + i);
		else
			sa_long(w, first + i);
	}
}

/* `version`: 0, 1 or 2. */
static inline void sa_old_net(
	struct sa_writer *w, uint32_t version, const char *name, uint64_t first)
{
	sa_old_counters(w, version > 0, first, 7);
	if (version == 2)
		sa_u32(w, 1000); /* Mbit/s */
	sa_text(w, name, 16);
	if (version == 2) {
		sa_number(w, 2, 1); /* full duplex */
		sa_hole(w, 11);
	}
}

/* `version`: 0 or 1. */
static inline void sa_old_net_errors(
	struct sa_writer *w, uint32_t version, const char *name, uint64_t first)
{
	sa_old_counters(w, version > 0, first, 9);
	sa_text(w, name, 16);
}

#endif
