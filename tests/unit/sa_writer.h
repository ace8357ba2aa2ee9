/* Writes sysstat activity files for tests, byte by byte and without any code of the reader. */
#ifndef SA_WRITER_H
#define SA_WRITER_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SA_STATS = 1, SA_RESTART = 2, SA_COMMENT = 4, SA_EXTRA = 5 };

/* A machine and a version of sysstat. */
struct sa_writer {
	bool big, long_is_32;
	uint32_t disk_types[3]; /* {1, 2, 6}, {1, 3, 7} or {3, 3, 8} */
	bool extra_next;	/* since 12.1.7: headers have that field */
	uint32_t more_header;	/* additional bytes in a future header */
	uint16_t format;	/* 0: the present one */
	uint8_t data[1 << 16];
	size_t len;
};

static inline void sa_number(struct sa_writer *w, uint64_t v, unsigned width)
{
	for (unsigned i = 0; i < width; i++)
		w->data[w->len++] = (uint8_t)(v >> 8 * (w->big ? width - 1 - i : i));
}

static inline void sa_u32(struct sa_writer *w, uint32_t v)
{
	sa_number(w, v, 4);
}

static inline void sa_u64(struct sa_writer *w, uint64_t v)
{
	sa_number(w, v, 8);
}

/* The padding of a short long is not zero here, because it must not be read. */
static inline void sa_long(struct sa_writer *w, uint64_t v)
{
	sa_number(w, v, w->long_is_32 ? 4 : 8);
	if (w->long_is_32)
		sa_number(w, 0xeeeeeeee, 4);
}

static inline void sa_zeros(struct sa_writer *w, size_t n)
{
	memset(w->data + w->len, 0, n);
	w->len += n;
}

static inline void sa_text(struct sa_writer *w, const char *text, size_t width)
{
	size_t at = w->len, n = strlen(text);

	sa_zeros(w, width);
	memcpy(w->data + at, text, n < width ? n : width);
}

static inline void sa_begin(struct sa_writer *w, uint32_t n_activities)
{
	uint32_t n_ints = w->extra_next ? 12 : 11;
	uint32_t size = 8 + 8 + n_ints * 4 + 3 + 4 * 65 + (w->extra_next ? 8 : 0) + w->more_header;

	sa_number(w, 0xd596, 2);
	sa_number(w, w->format ? w->format : 0x2175, 2);
	memcpy(w->data + w->len, "\x0c\x06\x01\x00", 4);
	w->len += 4;
	sa_u32(w, size);
	sa_u32(w, 0); /* not upgraded */
	sa_u32(w, 1);
	sa_u32(w, 1);
	sa_u32(w, n_ints);
	sa_zeros(w, 48);
	sa_u64(w, 1600000000);
	sa_long(w, 100);
	sa_u32(w, 3); /* CPUs */
	sa_u32(w, n_activities);
	sa_u32(w, 120); /* year */
	for (uint32_t i = 0; i < 3; i++)
		sa_u32(w, i == 2 ? 9 : 0);
	sa_u32(w, 2);
	sa_u32(w, 0);
	sa_u32(w, w->extra_next ? 1 : 0);
	sa_u32(w, 36); /* of an activity */
	sa_u32(w, 24); /* of a record */
	if (w->extra_next)
		sa_u32(w, 0);
	sa_number(w, 13, 1);
	sa_number(w, 8, 1);
	sa_number(w, w->long_is_32 ? 4 : 8, 1);
	sa_text(w, "Linux", 65);
	sa_text(w, "oss1", 65);
	sa_text(w, "6.1.0", 65);
	sa_text(w, "mips", 65);
	if (w->extra_next)
		sa_text(w, "UTC", 8);
	sa_zeros(w, w->more_header);
}

static inline void sa_activity(struct sa_writer *w, uint32_t id, uint32_t magic, uint32_t nr,
	bool has_nr, uint32_t size, const uint32_t types[3])
{
	sa_u32(w, id);
	sa_u32(w, magic);
	sa_u32(w, nr);
	sa_u32(w, 1);
	sa_u32(w, has_nr);
	sa_u32(w, size);
	for (int i = 0; i < 3; i++)
		sa_u32(w, types[i]);
}

static inline uint32_t sa_disk_size(const struct sa_writer *w)
{
	const uint32_t *t = w->disk_types;

	return (8 * t[0] + 8 * t[1] + 4 * t[2] + 7) / 8 * 8;
}

static inline void sa_record(
	struct sa_writer *w, unsigned type, uint64_t uptime_cs, uint64_t seconds, bool extra)
{
	size_t at = w->len;

	sa_u64(w, uptime_cs);
	sa_u64(w, seconds);
	if (w->extra_next)
		sa_u32(w, extra);
	sa_number(w, type, 1);
	sa_number(w, seconds / 3600 % 24, 1);
	sa_number(w, seconds / 60 % 60, 1);
	sa_number(w, seconds % 60, 1);
	sa_zeros(w, 24 - (w->len - at));
}

/* Two descriptions of unknown structures. */
static inline void sa_extra(struct sa_writer *w)
{
	for (uint32_t more = 1;; more = 0) {
		sa_u32(w, 2);
		sa_u32(w, 24);
		sa_u32(w, more);
		sa_u32(w, 1);
		sa_u32(w, 1);
		sa_u32(w, 1);
		sa_zeros(w, 48);
		if (!more)
			return;
	}
}

struct sa_disk {
	uint32_t major, minor;
	uint64_t ios, rd_sec, wr_sec, dc_sec;
	uint64_t wwn;
	uint32_t rd_ticks, wr_ticks, tot_ticks, rq_ticks, dc_ticks;
	uint32_t partition;
};

static inline void sa_write_disk(struct sa_writer *w, const struct sa_disk *d)
{
	uint32_t ints[] = {d->rd_ticks, d->wr_ticks, d->tot_ticks, d->rq_ticks, d->major, d->minor,
		d->dc_ticks, d->partition};
	uint64_t longs[] = {d->rd_sec, d->wr_sec, d->dc_sec};
	uint64_t longlongs[] = {d->ios, d->wwn, 0};
	size_t at = w->len;

	for (uint32_t i = 0; i < 3 && i < w->disk_types[0]; i++)
		sa_u64(w, longlongs[i]);
	for (uint32_t i = 0; i < 3 && i < w->disk_types[1]; i++)
		sa_long(w, longs[i]);
	for (uint32_t i = 0; i < 8 && i < w->disk_types[2]; i++)
		sa_u32(w, ints[i]);
	sa_zeros(w, sa_disk_size(w) - (w->len - at));
}

/* Counters first, first+1, ... */
static inline void sa_write_net(struct sa_writer *w, const char *name, uint64_t first)
{
	for (uint64_t i = 0; i < 7; i++)
		sa_u64(w, first + i);
	sa_u32(w, 1000); /* Mbit/s */
	sa_text(w, name, 16);
	sa_number(w, 2, 1); /* full duplex */
	sa_zeros(w, 3);
}

static inline void sa_write_net_errors(struct sa_writer *w, const char *name, uint64_t first)
{
	for (uint64_t i = 0; i < 9; i++)
		sa_u64(w, first + i);
	sa_text(w, name, 16);
}

/* Write `len` bytes of it into a new file; `path` is a template for mkstemp(). */
static inline bool sa_save(const struct sa_writer *w, size_t len, char *path)
{
	int fd = mkstemp(path);
	bool ok = fd >= 0 && write(fd, w->data, len) == (ssize_t)len;

	if (fd >= 0)
		close(fd);
	return ok;
}

#endif
