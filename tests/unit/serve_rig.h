/* The servers of engine_rig.h as archives in a directory, which grow. */
#ifndef SERVE_RIG_H
#define SERVE_RIG_H

#include "engine_rig.h"
#include "temp_dir.h"
#include <limpet/archive.h>
#include <limpet/dataset.h>

struct serve_rig {
	struct rig rig;
	struct lp_archive_writer *writers[RIG_OBSERVERS_MAX];
	char dir[TEMP_PATH_MAX];
};

static inline void serve_rig_init(struct serve_rig *r, const char *name, uint32_t n,
	uint32_t n_samples, const struct rig_fault *f)
{
	rig_init(&r->rig, n, n_samples, f, 1);
	snprintf(r->dir, sizeof(r->dir), "%s", temp_path(name));
	temp_mkdir(name);
	for (uint32_t i = 0; i < n; i++) {
		char path[TEMP_PATH_MAX + 32], observer[32];
		struct lp_archive_meta meta = {.observer = observer, .interval_us = 1000000};
		struct lp_err err = {0};

		snprintf(observer, sizeof(observer), "oss%u", i);
		snprintf(path, sizeof(path), "%s/oss%u-20110313T070640Z.lpa", r->dir, i);
		if (lp_archive_create(path, &meta, &r->writers[i], &err) < 0)
			fail_msg("%s", err.text);
	}
}

static inline void serve_rig_release(struct serve_rig *r)
{
	for (uint32_t i = 0; i < r->rig.n; i++)
		lp_archive_abandon(r->writers[i]);
	rig_release(&r->rig);
}

/* Record `n` more seconds of a server. */
static inline void serve_rig_write(struct serve_rig *r, uint32_t server, uint32_t n)
{
	struct rig_server *s = &r->rig.servers[server];
	struct lp_batch *b;
	struct lp_err err = {0};

	n = s->fed + n > s->n_samples ? s->n_samples - s->fed : n;
	if (!n)
		return;
	b = rig_batch(&r->rig, server, n);
	if (lp_archive_write(r->writers[server], s->source.catalogue, b, LP_ARCHIVE_LOOSE, &err) <
		0)
		fail_msg("%s", err.text);
	s->fed += n;
	lp_batch_free(b);
}

/* Record all servers up to that second, in pieces of ten. */
static inline void serve_rig_write_all(struct serve_rig *r, uint32_t end)
{
	for (uint32_t i = 0; i < r->rig.n; i++) {
		while (r->rig.servers[i].fed < end) {
			uint32_t left = end - r->rig.servers[i].fed;

			serve_rig_write(r, i, left < 10 ? left : 10);
		}
	}
}

static inline struct lp_dataset *serve_rig_dataset(const struct serve_rig *r)
{
	const char *path = r->dir;
	struct lp_dataset *ds = NULL;
	struct lp_err err = {0};

	if (lp_dataset_open(&path, 1, NULL, NULL, NULL, &ds, &err) < 0)
		fail_msg("%s", err.text);
	return ds;
}

#endif
