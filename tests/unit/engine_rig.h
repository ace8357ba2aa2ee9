/* Simulated servers with disks, fed to an engine in pieces of any size and in any order. */
#ifndef ENGINE_RIG_H
#define ENGINE_RIG_H

#include "unit.h"

#include "printed.h"
#include "report/verdict_json.h"
#include <limpet/engine.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RIG_DISKS 2
#define RIG_START_S INT64_C(1300000000)
#define RIG_OBSERVERS_MAX 12

/* Nothing is written: these counters stay 0. */
enum { RD_IOS, RD_SEC, RD_TICKS, WR_IOS, WR_SEC, WR_TICKS, RIG_COLUMNS };

/* The data of one server: counters, a sample per second. */
struct rig_server {
	struct lp_source source;
	uint32_t ids[RIG_DISKS];
	int64_t (*cells)[RIG_DISKS][RIG_COLUMNS]; /* [sample] */
	uint32_t n_samples, fed;
	int64_t ahead_us; /* its clock is ahead by this, from sample `set_at` on */
	uint32_t set_at;
};

struct rig {
	struct rig_server servers[RIG_OBSERVERS_MAX];
	uint32_t n;
	int64_t start_s;
};

static inline uint64_t rig_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* 0 .. n - 1 */
static inline uint32_t rig_below(uint64_t *seed, uint32_t n)
{
	return n ? (uint32_t)(rig_random(seed) >> 11) % n : 0;
}

/* A disk of a server is `factor` times as slow in the seconds `from` .. `to - 1`; 0: it gets no
 * requests. With `every` it alternates: this many seconds slow, as many normal. */
struct rig_fault {
	uint32_t server, disk, from, to, factor, every;
};

static inline bool rig_is_bad(const struct rig_fault *f, uint32_t server, uint32_t disk, uint32_t i)
{
	return f && f->server == server && f->disk == disk && i >= f->from && i < f->to &&
		(!f->every || (i - f->from) / f->every % 2 == 0);
}

static inline void rig_fill(
	struct rig_server *s, uint32_t number, const struct rig_fault *f, uint64_t *seed)
{
	for (uint32_t i = 1; i < s->n_samples; i++) {
		for (uint32_t d = 0; d < RIG_DISKS; d++) {
			bool bad = rig_is_bad(f, number, d, i);
			int64_t ios = bad && !f->factor ? 0 : 50 + rig_below(seed, 20);
			int64_t ticks = ios * (4 + rig_below(seed, 3)) * (bad ? f->factor : 1);

			s->cells[i][d][RD_IOS] = s->cells[i - 1][d][RD_IOS] + ios;
			s->cells[i][d][RD_SEC] = s->cells[i - 1][d][RD_SEC] + 64 * ios;
			s->cells[i][d][RD_TICKS] = s->cells[i - 1][d][RD_TICKS] + ticks;
		}
	}
}

/* `n` servers for `n_samples` seconds; `f` may be NULL. The names of servers begin with `prefix`.
 */
static inline void rig_init_as(struct rig *r, const char *prefix, uint32_t n, uint32_t n_samples,
	const struct rig_fault *f, uint64_t seed)
{
	static const struct lp_column columns[] = {{"rd_ios", "requests", LP_COUNTER, 64},
		{"rd_sec", "sectors", LP_COUNTER, 64}, {"rd_ticks", "ms", LP_COUNTER, 64},
		{"wr_ios", "requests", LP_COUNTER, 64}, {"wr_sec", "sectors", LP_COUNTER, 64},
		{"wr_ticks", "ms", LP_COUNTER, 64}};
	static const struct lp_schema schema = {"disk", columns, RIG_COLUMNS};

	*r = (struct rig){.n = n, .start_s = RIG_START_S};
	for (uint32_t i = 0; i < n; i++) {
		struct rig_server *s = &r->servers[i];
		uint32_t number;
		char observer[32];

		snprintf(observer, sizeof(observer), "%s%u", prefix, i);
		s->source = (struct lp_source){.catalogue = lp_catalogue_new(),
			.path = (char *)"rig",
			.interval_us = 1000000};
		assert_non_null(s->source.catalogue);
		assert_int_equal(
			lp_catalogue_add_schema(s->source.catalogue, &schema, &number, NULL), 0);
		assert_int_equal(lp_catalogue_add_component(s->source.catalogue, number, observer,
					 "sda", "", &s->ids[0], NULL),
			0);
		assert_int_equal(lp_catalogue_add_component(s->source.catalogue, number, observer,
					 "sdb", "", &s->ids[1], NULL),
			0);
		s->n_samples = n_samples;
		s->cells = calloc(n_samples, sizeof(*s->cells));
		assert_non_null(s->cells);
		rig_fill(s, i, f, &seed);
	}
}

static inline void rig_init(
	struct rig *r, uint32_t n, uint32_t n_samples, const struct rig_fault *f, uint64_t seed)
{
	rig_init_as(r, "oss", n, n_samples, f, seed);
}

/* Create other servers for each round; rounds follow one another in time. */
static inline void rig_init_at(struct rig *r, uint32_t n, uint32_t n_samples, uint32_t round)
{
	char prefix[16];

	snprintf(prefix, sizeof(prefix), "r%u-", round);
	rig_init_as(r, prefix, n, n_samples, NULL, round + 1);
	r->start_s += (int64_t)round * n_samples;
}

static inline void rig_release(struct rig *r)
{
	for (uint32_t i = 0; i < r->n; i++) {
		lp_catalogue_free(r->servers[i].source.catalogue);
		free(r->servers[i].cells);
	}
}

/* The next `n` samples of a server, as a batch that carries the previous one. */
static inline struct lp_batch *rig_batch(const struct rig *r, uint32_t server, uint32_t n)
{
	const struct rig_server *s = &r->servers[server];
	uint32_t first = s->fed ? s->fed - 1 : 0;
	struct lp_batch *b = lp_batch_new(n + 1);
	struct lp_batch_kind *k;
	uint32_t row;

	assert_non_null(b);
	assert_int_equal(lp_batch_kind_get(b, 0, RIG_COLUMNS, NULL, &k), 0);
	for (uint32_t d = 0; d < RIG_DISKS; d++)
		assert_int_equal(lp_batch_add_component(b, k, s->ids[d], &row), 0);
	for (uint32_t i = first; i < s->fed + n; i++) {
		int64_t mono_us = (r->start_s + i) * 1000000 + 20000 + server * 1000;
		int64_t wall_us = mono_us + (i >= s->set_at ? s->ahead_us : 0);

		assert_int_equal(lp_batch_add_sample(b, wall_us, mono_us), 0);
		k = &b->kinds[0];
		for (uint32_t d = 0; d < RIG_DISKS; d++) {
			size_t at = (size_t)d * b->cap_samples + (i - first);

			k->state[at] = LP_PRESENT;
			for (uint32_t c = 0; c < RIG_COLUMNS; c++)
				k->columns[c][at] = s->cells[i][d][c];
		}
	}
	b->carry = s->fed > 0;
	return b;
}

/* Feed the next `n` samples of a server. */
static inline void rig_feed(struct rig *r, struct lp_engine *e, uint32_t server, uint32_t n)
{
	struct rig_server *s = &r->servers[server];
	struct lp_batch *b = rig_batch(r, server, n);
	struct lp_err err = {0};

	if (lp_engine_feed(e, &s->source, b, &err) != 0)
		fail_msg("%s", err.text);
	s->fed += n;
	lp_batch_free(b);
}

/* Feed everything up to second `end`, server by server. */
static inline void rig_feed_all(struct rig *r, struct lp_engine *e, uint32_t end)
{
	for (uint32_t i = 0; i < r->n; i++) {
		r->servers[i].fed = 0;
		rig_feed(r, e, i, end < r->servers[i].n_samples ? end : r->servers[i].n_samples);
	}
}

/* The time of a second, after all samples that belong to it. */
static inline int64_t rig_time(uint32_t second)
{
	return (RIG_START_S + second) * 1000000 + 500000;
}

static inline void rig_advance(struct lp_engine *e, uint32_t second)
{
	struct lp_err err = {0};

	if (lp_engine_advance(e, rig_time(second), &err) != 0)
		fail_msg("%s", err.text);
}

static inline struct lp_engine *rig_engine(const struct lp_diagnose_options *options)
{
	struct lp_engine *e = NULL;
	struct lp_err err = {0};

	if (lp_engine_new(options, 1000000, &e, &err) != 0)
		fail_msg("%s", err.text);
	return e;
}

static inline struct lp_verdict *rig_verdict_of(struct lp_engine *e)
{
	struct lp_verdict *v = NULL;
	struct lp_err err = {0};

	if (lp_engine_verdict(e, &v, &err) != 0)
		fail_msg("%s", err.text);
	return v;
}

/* The verdict of the engine, as JSON. */
static inline char *rig_says(struct lp_engine *e)
{
	struct lp_verdict *v = rig_verdict_of(e);
	struct printed p;

	assert_int_equal(verdict_print_json(printed_begin(&p), v), 0);
	lp_verdict_free(v);
	return printed_end(&p);
}

#endif
