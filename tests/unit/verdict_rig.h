/* A hand-made verdict, like that of detection and explanation: twelve hours of 24 disks on three
 * servers. One disk is slow from 04:00 on, one loses its path at 09:00, one with a hostile name
 * stutters and is acknowledged, one is faster than the others, one has more work, and one is
 * muted.
 */
#ifndef VERDICT_RIG_H
#define VERDICT_RIG_H

#include "model/verdict_own.h"
#include <assert.h>
#include <limpet/verdict.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RIG_START_US INT64_C(1302998400000000) /* 2011-04-17T00:00:00Z */
#define RIG_STEP_US INT64_C(15000000)
#define RIG_SLOTS 2880u
#define RIG_DISKS 24u
#define RIG_WINDOWS 95u
#define RIG_SLOW 11u
#define RIG_LOST 18u
#define RIG_HOSTILE 22u
#define RIG_FASTER 2u
#define RIG_HARDER 5u
#define RIG_MUTED 7u
#define RIG_HOSTILE_NAME "fs3/disk:<img src=x onerror=alert(1)>"

static inline void *rig_alloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	assert(p);
	return p;
}

static inline char *rig_text(const char *text)
{
	char *copy = strdup(text);

	assert(copy);
	return copy;
}

/* Noise between 0 and 1 that is the same everywhere. */
static inline double rig_noise(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return (*state >> 8) / 16777216.0;
}

static inline struct lp_identity *rig_disk(uint32_t disk)
{
	char name[64];

	snprintf(name, sizeof(name), "fs%u/disk:sd%c", disk / 8 + 1, (int)('a' + disk % 8));
	return lp_identity_parse(disk == RIG_HOSTILE ? RIG_HOSTILE_NAME : name);
}

/* The common load of all disks, 0 .. 1: jobs that come and go. */
static inline double rig_load(uint32_t slot)
{
	static const double jobs[] = {.35, .5, .8, .75, .45, .3, .6, .9, .7, .4, .55, .65, .35};
	double at = slot / 240.0, part = at - (unsigned)at;

	return jobs[(unsigned)at] * (1 - part) + jobs[(unsigned)at + 1] * part;
}

static inline bool rig_stutters(uint32_t slot)
{
	return (slot >= 600 && slot < 900) || (slot >= 1500 && slot < 1800);
}

/* Disks differ a little, 0.84 .. 1.16, and that changes slowly. */
static inline double rig_manner(uint32_t disk, uint32_t slot)
{
	uint32_t state = disk * 40503 + slot / 120 * 65537;
	double now, next, part = slot % 120 / 120.0;

	rig_noise(&state);
	now = rig_noise(&state);
	state = disk * 40503 + (slot / 120 + 1) * 65537;
	rig_noise(&state);
	next = rig_noise(&state);
	return .84 + .32 * (now * (1 - part) + next * part);
}

static inline double rig_await(uint32_t disk, uint32_t slot, double noise)
{
	double value = (5 + 8 * rig_load(slot)) * (.75 + .5 * noise) * rig_manner(disk, slot);

	if (disk == RIG_LOST && slot >= 2160)
		return NAN;
	if (disk == RIG_SLOW && slot >= 960)
		value *= 4.1;
	if (disk == RIG_HOSTILE && rig_stutters(slot))
		value *= 2.4;
	return disk == RIG_FASTER ? value * .4 : value;
}

static inline double rig_sectors(uint32_t disk, uint32_t slot, double noise)
{
	double value =
		(2000 + 60000 * rig_load(slot)) * (.7 + .6 * noise) * rig_manner(disk + 24, slot);

	if (disk == RIG_LOST && slot >= 2160)
		return 0;
	return disk == RIG_HARDER ? value * 1.9 : value;
}

/* Rows are in reverse order, so that code that forgets `row_of` is detected. */
static inline struct lp_table *rig_table(const struct lp_verdict *v, const char *metric,
	const char *unit, double (*value)(uint32_t, uint32_t, double))
{
	struct lp_table *t = rig_alloc(1, sizeof(*t));

	t->metric = rig_text(metric);
	t->unit = rig_text(unit);
	t->start_us = RIG_START_US + RIG_STEP_US;
	t->step_us = RIG_STEP_US;
	t->n_slots = RIG_SLOTS;
	t->n_components = RIG_DISKS;
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): this is an array of pointers */
	t->components = rig_alloc(RIG_DISKS, sizeof(*t->components));
	t->values = rig_alloc((size_t)RIG_DISKS * RIG_SLOTS, sizeof(*t->values));
	for (uint32_t d = 0; d < RIG_DISKS; d++) {
		uint32_t row = RIG_DISKS - 1 - d, noise = d * 7919 + (uint32_t)metric[0];

		t->components[row] = lp_identity_ref(v->components[d]);
		for (uint32_t s = 0; s < RIG_SLOTS; s++)
			t->values[(size_t)row * RIG_SLOTS + s] = value(d, s, rig_noise(&noise));
	}
	return t;
}

static inline int rig_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The median; sorts the values. NaN if there are none. */
static inline double rig_median(double *values, uint32_t n)
{
	qsort(values, n, sizeof(*values), rig_compare);
	return n ? (values[(n - 1) / 2] + values[n / 2]) / 2 : NAN;
}

static inline double rig_window_median(
	const struct lp_table *t, uint32_t row, uint32_t first, uint32_t last)
{
	double values[60];
	uint32_t n = 0;

	for (uint32_t s = first; s <= last; s++) {
		double x = t->values[(size_t)row * t->n_slots + s];

		if (!isnan(x))
			values[n++] = x;
	}
	return n >= 30 ? rig_median(values, n) : NAN;
}

static inline uint8_t rig_mark(double own, double ratio)
{
	if (isnan(own) || own == 0)
		return LP_MARK_ABSENT;
	return ratio > 1.5 ? LP_MARK_ABOVE : ratio < .6 ? LP_MARK_BELOW : LP_MARK_NORMAL;
}

/* Roughly what a measure would see. */
static inline float rig_distance(float ratio)
{
	return isfinite(ratio) ? 12 * fabsf(ratio - 1) : 60;
}

static inline void rig_judge_window(const struct lp_verdict *v, struct lp_series *s, uint32_t w)
{
	double own[RIG_DISKS], others[RIG_DISKS];

	for (uint32_t d = 0; d < RIG_DISKS; d++)
		own[d] = rig_window_median(
			v->tables[s->metric], v->row_of[s->metric][d], s->first[w], s->last[w]);
	for (uint32_t d = 0; d < RIG_DISKS; d++) {
		size_t at = (size_t)d * s->n_windows + w;
		uint32_t n = 0;

		for (uint32_t o = 0; o < RIG_DISKS; o++) {
			if (o != d && !isnan(own[o]))
				others[n++] = own[o];
		}
		s->ratios[at] = (float)(own[d] / rig_median(others, n));
		s->marks[at] = rig_mark(own[d], s->ratios[at]);
		s->distances[at] = rig_distance(s->ratios[at]);
	}
}

static inline struct lp_series rig_series(const struct lp_verdict *v, uint32_t metric)
{
	struct lp_series s = {.metric = metric, .n_windows = RIG_WINDOWS, .method = "cdf"};
	size_t n = (size_t)RIG_DISKS * RIG_WINDOWS;

	s.marks = rig_alloc(n, sizeof(*s.marks));
	s.ratios = rig_alloc(n, sizeof(*s.ratios));
	s.distances = rig_alloc(n, sizeof(*s.distances));
	s.thresholds = rig_alloc(RIG_DISKS, sizeof(*s.thresholds));
	s.first = rig_alloc(RIG_WINDOWS, sizeof(*s.first));
	s.last = rig_alloc(RIG_WINDOWS, sizeof(*s.last));
	for (uint32_t d = 0; d < RIG_DISKS; d++)
		s.thresholds[d] = 4;
	for (uint32_t w = 0; w < RIG_WINDOWS; w++) {
		s.first[w] = w * 30;
		s.last[w] = w * 30 + 59;
		rig_judge_window(v, &s, w);
	}
	return s;
}

static inline bool rig_anomalous(const struct lp_series *s, uint32_t disk, uint32_t w)
{
	return s->marks[(size_t)disk * s->n_windows + w] >= LP_MARK_ABOVE;
}

/* Count the problems of a disk in a series: persistence, times, when it was indicted. */
static inline void rig_count(
	const struct lp_verdict *v, const struct lp_series *s, struct lp_finding *f)
{
	const struct lp_table *t = v->tables[s->metric];
	uint32_t recent = 0;

	for (uint32_t w = 0; w < s->n_windows; w++) {
		bool bad = rig_anomalous(s, f->component, w);
		int64_t end_us = t->start_us + (int64_t)s->last[w] * t->step_us;

		recent = (recent << 1 | bad) & 31;
		f->persistence += bad ? 1 : f->persistence ? -1 : 0;
		f->peak = f->persistence > f->peak ? f->persistence : f->peak;
		if (!f->indicted_us && __builtin_popcount(recent) >= 3)
			f->indicted_us = end_us;
		if (!bad)
			continue;
		if (!f->n_anomalous++)
			f->first_us = t->start_us + ((int64_t)s->first[w] - 1) * t->step_us;
		f->last_us = end_us;
		f->direction = s->marks[(size_t)f->component * s->n_windows + w];
	}
}

static inline uint32_t rig_finding(struct lp_verdict *v, uint32_t disk, uint32_t series, double own,
	double peers, bool culprit)
{
	struct lp_finding *f = &v->findings[v->n_findings];

	f->component = f->member = disk;
	f->series = series;
	f->metric = v->series[series].metric;
	f->n_windows = RIG_WINDOWS;
	f->own = own;
	f->peers = peers;
	f->ratio = own / peers;
	f->distance = rig_distance((float)f->ratio);
	f->threshold = 4;
	f->load_ratio = NAN;
	f->culprit = culprit;
	rig_count(v, &v->series[series], f);
	return v->n_findings++;
}

/* A suspect with one finding. */
static inline struct lp_suspect rig_suspect(const struct lp_verdict *v, uint32_t finding,
	const char *cause, double severity, double confidence, const char *evidence,
	const char *advice)
{
	const struct lp_finding *f = &v->findings[finding];
	struct lp_suspect s = {.component = f->component,
		.n_findings = 1,
		.cause = cause,
		.persistence = f->persistence,
		.severity = severity,
		.confidence = confidence,
		.first_us = f->first_us,
		.last_us = f->last_us,
		.indicted_us = f->indicted_us,
		.measured = 1,
		.n_evidence = 1};

	s.findings[0] = finding;
	s.evidence = rig_alloc(1, sizeof(*s.evidence));
	s.evidence[0] = rig_text(evidence);
	s.advice = rig_text(advice);
	return s;
}

static inline void rig_add_suspects(struct lp_verdict *v)
{
	uint32_t lost;

	v->findings = rig_alloc(8, sizeof(*v->findings));
	v->suspects = rig_alloc(3, sizeof(*v->suspects));
	v->asymmetries = rig_alloc(2, sizeof(*v->asymmetries));
	v->suspects[v->n_suspects++] = rig_suspect(v, rig_finding(v, RIG_SLOW, 0, 41, 10, true),
		"disk-busy", 128.4, .97, "await 4.1x its peers (41 ms against 10 ms)",
		"Look at the disk's error counters and SMART data; replace it if they grow.");
	lost = rig_finding(v, RIG_LOST, 1, 0, 34000, true);
	v->suspects[v->n_suspects++] = rig_suspect(v, lost, "lost-path", 52.5, .9,
		"no reads at all where its peers read 17 MB/s (rd_sec 0 against 34000 sectors/s)",
		"Check the cable, the port and the multipath state of this path.");
	v->suspects[1].findings[1] = rig_finding(v, RIG_LOST, 0, NAN, 11, true);
	v->suspects[1].n_findings = 2;
	v->suspects[v->n_suspects++] = rig_suspect(v, rig_finding(v, RIG_HOSTILE, 0, 24, 10, true),
		"disk-busy", 12.2, .61, "await 2.4x its peers (24 ms against 10 ms)", "Watch it.");
	v->suspects[2].acknowledged = true;
	v->asymmetries[v->n_asymmetries++] =
		rig_suspect(v, rig_finding(v, RIG_FASTER, 0, 4, 10, false), "faster", 80, .9,
			"await 0.4x its peers", "Nothing to do.");
	v->asymmetries[v->n_asymmetries++] =
		rig_suspect(v, rig_finding(v, RIG_HARDER, 1, 64000, 34000, false), "imbalanced", 30,
			.9, "rd_sec 1.9x its peers", "Look at the striping.");
}

static inline void rig_add_incidents(struct lp_verdict *v)
{
	v->incidents = rig_alloc(v->n_suspects, sizeof(*v->incidents));
	for (; v->n_incidents < v->n_suspects; v->n_incidents++) {
		const struct lp_suspect *s = &v->suspects[v->n_incidents];
		struct lp_incident *in = &v->incidents[v->n_incidents];

		in->part = rig_text(v->components[s->component]->text);
		in->components = rig_alloc(1, sizeof(*in->components));
		in->components[0] = s->component;
		in->n_components = in->n_of_part = 1;
		in->cause = s->cause;
		in->severity = s->severity;
		in->confidence = s->confidence;
		in->persistence = s->persistence;
		in->first_us = s->first_us;
		in->last_us = s->last_us;
		in->indicted_us = s->indicted_us;
		in->summary = rig_text(s->evidence[0]);
		in->advice = rig_text(s->advice);
	}
}

static inline void rig_add_anomalies(struct lp_verdict *v)
{
	v->anomalies = rig_alloc((size_t)RIG_DISKS * RIG_WINDOWS * 2, sizeof(*v->anomalies));
	for (uint32_t w = 0; w < RIG_WINDOWS; w++) {
		for (uint32_t i = 0; i < RIG_DISKS * 2; i++) {
			const struct lp_series *s = &v->series[i / RIG_DISKS];
			size_t at = (size_t)(i % RIG_DISKS) * RIG_WINDOWS + w;
			int64_t start_us = RIG_START_US + (int64_t)w * 30 * RIG_STEP_US;

			if (s->marks[at] < LP_MARK_ABOVE)
				continue;
			v->anomalies[v->n_anomalies++] = (struct lp_anomaly){.window = w,
				.component = i % RIG_DISKS,
				.metric = s->metric,
				.start_us = start_us,
				.end_us = start_us + 60 * RIG_STEP_US,
				.direction = s->marks[at],
				.distance = s->distances[at],
				.threshold = 4};
		}
	}
}

/* The disks, their data and their marks; none is accused yet. */
static inline struct lp_verdict *rig_healthy(void)
{
	struct lp_verdict *v = rig_alloc(1, sizeof(*v));

	v->method = "cdf";
	v->params = (struct lp_params){15, 60, 30, 3, RIG_STEP_US};
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): this is an array of pointers */
	v->components = rig_alloc(RIG_DISKS, sizeof(*v->components));
	for (; v->n_components < RIG_DISKS; v->n_components++)
		v->components[v->n_components] = rig_disk(v->n_components);
	v->tables = rig_alloc(2, sizeof(void *));
	v->row_of = rig_alloc(2, sizeof(*v->row_of));
	v->tables[0] = rig_table(v, "await", "ms", rig_await);
	v->tables[1] = rig_table(v, "rd_sec", "sectors/s", rig_sectors);
	v->n_tables = 2;
	v->groups = rig_alloc(1, sizeof(*v->groups));
	v->groups[0].name = rig_text("disk");
	v->groups[0].members = rig_alloc(RIG_DISKS, sizeof(uint32_t));
	v->groups[0].n_members = RIG_DISKS;
	v->n_groups = 1;
	v->series = rig_alloc(2, sizeof(*v->series));
	for (uint32_t m = 0; m < 2; m++) {
		v->row_of[m] = rig_alloc(RIG_DISKS, sizeof(uint32_t));
		for (uint32_t d = 0; d < RIG_DISKS; d++) {
			v->row_of[m][d] = RIG_DISKS - 1 - d;
			v->groups[0].members[d] = d;
		}
		v->series[m] = rig_series(v, m);
	}
	v->n_series = 2;
	v->n_compared = RIG_WINDOWS;
	return v;
}

/* The whole verdict, freed by lp_verdict_free(). */
static inline struct lp_verdict *rig_verdict(void)
{
	struct lp_verdict *v = rig_healthy();

	rig_add_anomalies(v);
	rig_add_suspects(v);
	rig_add_incidents(v);
	verdict_mute(v, RIG_MUTED);
	v->status = LP_STATUS_SUSPECTS;
	lp_verdict_note(v, "fs2 was silent from 02:10 to 02:12.");
	return v;
}

#endif
