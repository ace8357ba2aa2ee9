/* A simulated storage system like Intrepid's, the one of the thesis' chapter 5.
 *
 * 16 arrays (ddn6 .. ddn21) of 72 LUNs each, 48 of them old and 24 new. An array has two
 * controllers, a and b, and eight servers; servers 0, 1, 4, 5 of an array are behind controller a
 * and the others behind b (so say the events of the thesis' Table 5.4). All eight servers have all
 * LUNs of their array: LUN l has server (l + p - 1) mod 8 in place p of its priorities. Clients use
 * the first server that offers the LUN.
 */
#ifndef BENCH_INTREPID_H
#define BENCH_INTREPID_H

#include <limpet/err.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARRAYS_MAX 200 /* 115,200 attachments */
#define FIRST_ARRAY 6
#define SERVERS 8 /* of an array, and so priorities of a LUN */
#define LUNS 72	  /* of an array */
#define OLD_LUNS 48

/* Random numbers: the same on every machine. */
struct rng {
	uint64_t state;
};

struct rng rng_make(uint64_t seed, uint64_t stream);
double rng_uniform(struct rng *r); /* [0, 1) */
double rng_normal(struct rng *r);
double rng_lognormal(struct rng *r, double median, double sigma);
unsigned rng_poisson(struct rng *r, double mean);
unsigned rng_below(struct rng *r, unsigned n);

enum event_kind {
	CONTROLLER_FAILED,
	SERVER_DOWN,
	SERVER_BAD_STATE,
	LOST_COHERENCY,
	MISSING_ON_SERVERS,
	DRAWER_ERRORS,
	SLOW_LUN,
	SLOW_LUN_LOAD,
	SLOW_LUN_IDLE,
	N_EVENT_KINDS,
};

/* What is known of a kind of event. */
struct event_def {
	const char *name;
	const char *diagnosis;	    /* causes that are right, with | between them */
	double latest_h, soonest_h; /* the thesis' own latencies of diagnosis, Tables 5.3 to 5.6 */
	const char *help;
};
extern const struct event_def event_defs[N_EVENT_KINDS];

/* A planted event, all of it in one array. */
struct event {
	enum event_kind kind;
	char part[64];		       /* as it was named */
	int64_t start_us, duration_us; /* after the beginning */
	unsigned array;
	uint8_t servers; /* bits: those that are affected */
	bool luns[LUNS]; /* those that are affected */
	double factor;
};

/* Work that a server does by itself, a little on each of its LUNs. */
struct server_work {
	unsigned server;
	int64_t first, end; /* steps */
	double rate, await_ms;
};

struct intrepid {
	const char *dir;
	unsigned n_arrays;
	int64_t start_us, step_us;
	int64_t n_days, steps_a_day;
	uint64_t seed;
	bool all_columns;
	bool quiet; /* nothing transient */
	struct event *events;
	size_t n_events, cap_events;
	struct server_work *work;
	size_t n_work, cap_work;
	float *reads[2], *writes[2]; /* [old, new][step] requests a second of a LUN */
};

/* Read "KIND@START+DURATION:PART[:KEY=VALUE,...]". */
int event_parse(struct intrepid *sys, const char *text, struct lp_err *err);
int events_read(struct intrepid *sys, const char *path, struct lp_err *err);

/* Is the event under way in that step? */
bool event_active(const struct intrepid *sys, const struct event *e, int64_t step);

/* How all LUNs are used: jobs that start and stop, checkpoints, quiet hours. And which servers do
 * work of their own. */
int load_make(struct intrepid *sys, struct lp_err *err);

/* The files that say what the system is and what was done to it. */
int layout_write(const struct intrepid *sys, struct lp_err *err);

/* Simulate an array and write the archives of its servers. */
int array_simulate(const struct intrepid *sys, unsigned array, struct lp_err *err);

static inline unsigned server_of(unsigned lun, unsigned priority) /* priority from 0 on */
{
	return (lun + priority) % SERVERS;
}

static inline char controller_of(unsigned server)
{
	return server & 2 ? 'b' : 'a';
}

/* "fs17/disk:8.00" */
void attachment_name(char *buf, size_t size, unsigned array, unsigned server, unsigned lun);

#endif
