/* Small archives of one counter, for tests of code that reads them. */
#ifndef ARCHIVE_RIG_H
#define ARCHIVE_RIG_H

#include "table_rig.h"
#include <fcntl.h>
#include <limpet/archive.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct lp_column archive_rig_columns[] = {{"rx_bytes", "bytes", LP_COUNTER, 64}};
static const struct lp_schema archive_rig_net = {"net", archive_rig_columns, 1};

/* One step of a clock: its new setting, in seconds after T0. */
struct archive_rig_span {
	double from;
	int n; /* samples, one per second */
};

/* Write an archive of `observer`'s eth0, which receives `rate` bytes per second, over some
 * spans. */
static inline void archive_rig_write(const char *path, const char *observer, int64_t rate,
	const struct archive_rig_span *spans, size_t n_spans, const char *event)
{
	struct lp_archive_meta meta = {.observer = observer, .interval_us = US_PER_SEC};
	struct lp_archive_writer *w = NULL;
	struct lp_err err = {0};
	_cleanup_(rig_release) struct rig r;
	int64_t mono = 0;
	uint32_t id;

	rig_init(&r, US_PER_SEC);
	id = rig_component(&r, &archive_rig_net, observer, "eth0");
	for (size_t i = 0; i < n_spans; i++) {
		for (int k = 0; k < spans[i].n; k++, mono += US_PER_SEC) {
			rig_sample(&r, T0 + SEC(spans[i].from) + k * US_PER_SEC, mono);
			rig_set1(&r, id, mono / US_PER_SEC * rate);
		}
	}
	assert_int_equal(lp_archive_create(path, &meta, &w, &err), 0);
	assert_int_equal(
		lp_archive_write(w, r.source.catalogue, r.batch, LP_ARCHIVE_DENSE, &err), 0);
	if (event)
		assert_int_equal(lp_archive_write_event(w, T0, event, &err), 0);
	assert_int_equal(lp_archive_close(w, &err), 0);
}

/* The same for a single span. */
static inline void archive_rig_write1(
	const char *path, const char *observer, double from, int n, int64_t rate)
{
	archive_rig_write(path, observer, rate, &(struct archive_rig_span){from, n}, 1, NULL);
}

/* An archive of 400 samples with garbage in the middle. Its times are so irregular that they take
 * up most of the file. */
static inline void archive_rig_write_damaged(const char *path, const char *observer)
{
	static struct archive_rig_span spans[400];
	struct stat st;
	int fd;

	for (int i = 0; i < 400; i++)
		spans[i] = (struct archive_rig_span){i + (i * i * 31 % 997) / 2000.0, 1};
	archive_rig_write(path, observer, 1, spans, 400, NULL);
	fd = open(path, O_WRONLY);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(pwrite(fd, "garbage!garbage!", 16, st.st_size / 2), 16);
	close(fd);
}

#endif
