/* Shared by the tests of the recorder: a separate directory, the warnings that were reported, and
 * reading archives.
 */
#ifndef COLLECT_UTIL_H
#define COLLECT_UTIL_H

#include "base/cleanup.h"
#include "base/time.h"
#include "unit.h"
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <limpet/archive.h>
#include <limpet/dataset.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>

struct heard {
	pthread_mutex_t mutex;
	char text[64][512];
	unsigned n;
};

static inline void heard_add(void *ctx, const char *text)
{
	struct heard *h = ctx;

	pthread_mutex_lock(&h->mutex);
	if (h->n < 64)
		snprintf(h->text[h->n++], sizeof(h->text[0]), "%s", text);
	pthread_mutex_unlock(&h->mutex);
}

/* The number of warnings that contain `part`. */
static inline unsigned heard_count(struct heard *h, const char *part)
{
	unsigned n = 0;

	pthread_mutex_lock(&h->mutex);
	for (unsigned i = 0; i < h->n; i++)
		n += strstr(h->text[i], part) != NULL;
	pthread_mutex_unlock(&h->mutex);
	return n;
}

/* A directory and warnings, made for each test. */
struct place {
	char dir[64];
	struct heard heard;
	struct lp_warn warn;
};

static inline int place_setup(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	if (!p)
		return -1;
	pthread_mutex_init(&p->heard.mutex, NULL);
	p->warn = (struct lp_warn){.warn = heard_add, .ctx = &p->heard};
	snprintf(p->dir, sizeof(p->dir), "/tmp/limpet-test-XXXXXX");
	*state = p;
	return mkdtemp(p->dir) ? 0 : -1;
}

static inline int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static inline void remove_tree(const char *dir)
{
	chmod(dir, 0700);
	nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static inline int place_teardown(void **state)
{
	struct place *p = *state;

	for (unsigned i = 0; i < p->heard.n; i++)
		print_message("# heard: %s\n", p->heard.text[i]);
	remove_tree(p->dir);
	pthread_mutex_destroy(&p->heard.mutex);
	free(p);
	return 0;
}

#define place_test(fn) cmocka_unit_test_setup_teardown(fn, place_setup, place_teardown)

static inline int64_t at(const char *time)
{
	struct lp_err err = {0};
	int64_t us = 0;

	assert_int_equal(time_parse(time, &us, &err), 0);
	return us;
}

static inline int visible(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

/* The names in a directory (without hidden ones) must be these, sorted, separated by blanks. */
static inline void assert_files(const char *dir, const char *expected)
{
	struct dirent **entries = NULL;
	char names[4096] = "";
	int n = scandir(dir, &entries, visible, alphasort);

	for (int i = 0; i < n; i++) {
		size_t len = strlen(names);

		snprintf(
			names + len, sizeof(names) - len, "%s%s", i ? " " : "", entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	assert_string_equal(names, expected);
}

/* All samples of a directory's archives. */
struct samples {
	int64_t wall_us[8192];
	uint32_t n;
};

static inline int samples_take(
	void *ctx, struct lp_source *source, const struct lp_batch *batch, struct lp_err *err)
{
	struct samples *s = ctx;

	(void)source;
	(void)err;
	for (uint32_t i = batch && batch->carry ? 1 : 0; batch && i < batch->n_samples; i++) {
		assert_true(s->n < 8192);
		s->wall_us[s->n++] = batch->wall_us[i];
	}
	return 0;
}

static inline void samples_read(const char *path, struct samples *ret)
{
	struct lp_dataset *ds = NULL;
	struct lp_err err = {0};

	ret->n = 0;
	if (lp_dataset_open(&path, 1, NULL, NULL, NULL, &ds, &err) < 0)
		fail_msg("%s", err.text);
	if (lp_dataset_read(ds, NULL, samples_take, ret, &err) < 0)
		fail_msg("%s", err.text);
	lp_dataset_close(ds);
}

static inline int note_event(void *ctx, int64_t wall_us, const char *text)
{
	char *all = ctx;
	size_t len = strlen(all);

	(void)wall_us;
	snprintf(all + len, 2048 - len, "%s\n", text);
	return 0;
}

/* The remarks in an archive, one per line. */
static inline void events_read(const char *path, char ret[2048])
{
	struct lp_source *source = NULL;
	struct lp_err err = {0};

	ret[0] = '\0';
	assert_int_equal(lp_archive_open(path, NULL, NULL, &source, &err), 0);
	assert_int_equal(lp_archive_events(source, note_event, ret, &err), 0);
	lp_source_close(source);
}

static inline bool is_sealed(const char *path)
{
	struct lp_archive_report report;
	struct lp_err err = {0};

	if (lp_archive_check(path, NULL, NULL, &report, &err) < 0)
		fail_msg("%s", err.text);
	return report.sealed;
}

#endif
