#include "lab/disk_model.h"

#include <math.h>

#define NS_PER_US 1000
#define NS_PER_MS INT64_C(1000000)
#define NS_PER_SEC 1e9

#define HIDDEN_MIN_BYTES (768U << 10) /* hidden reads have about 1 MiB, a quarter more or less */
#define HIDDEN_SPAN_BYTES (512U << 10)
#define SEEK_DISTANCE_PART 0.5		/* share of a seek that depends on distance, not rotation */
#define CATCH_UP_NS (NS_PER_MS * 10000) /* at most this much of an idle time is simulated */

/* splitmix64: small, and good for any seed, including 0. */
static uint64_t next_random(struct disk_model *m)
{
	uint64_t z = m->rng += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* 0 <= x < 1 */
static double next_share(struct disk_model *m)
{
	return (double)(next_random(m) >> 11) * 0x1p-53;
}

/* 0.5 <= x < 1.5: the jitter of "about". */
static double next_jitter(struct disk_model *m)
{
	return 0.5 + next_share(m);
}

static double seek_us(struct disk_model *m, uint64_t offset)
{
	uint64_t way = offset > m->head_bytes ? offset - m->head_bytes : m->head_bytes - offset;
	double range = (double)m->params.seek_max_us - (double)m->params.seek_min_us;
	double distance = fmin(1, (double)way / (double)m->params.size_bytes);

	if (way == 0)
		return 0;
	/* The square root: an arm accelerates half of the way. */
	return m->params.seek_min_us +
		range *
		(SEEK_DISTANCE_PART * sqrt(distance) + (1 - SEEK_DISTANCE_PART) * next_share(m));
}

/* The service time of a request; afterwards the head is at its end. */
static int64_t service_ns(struct disk_model *m, uint64_t offset, uint32_t size_bytes)
{
	double seek = seek_us(m, offset) * NS_PER_US;
	double transfer = size_bytes * NS_PER_SEC / (double)m->params.bandwidth_bytes;

	m->head_bytes = offset + size_bytes;
	return llround((seek + transfer) * m->trouble.slow);
}

static int64_t stall_end_ns(const struct disk_model *m)
{
	return m->stall_ns + (int64_t)m->trouble.stall_for_ms * NS_PER_MS;
}

static void plan_stall(struct disk_model *m, int64_t since_ns)
{
	int64_t every_ns = (int64_t)m->trouble.stall_every_ms * NS_PER_MS;

	m->stall_ns = since_ns + llround((double)every_ns * next_jitter(m));
}

/* When work of `work_ns` that could begin at `begin_ns` ends. The hidden load advances while it
 * waits: its initiator does not send more requests while none is answered. */
static int64_t work_through_stalls(struct disk_model *m, int64_t begin_ns, int64_t work_ns)
{
	int64_t done_ns = begin_ns + work_ns;

	if (m->trouble.stall_every_ms == 0)
		return done_ns;
	while (stall_end_ns(m) <= begin_ns) /* nobody noticed it */
		plan_stall(m, m->stall_ns);
	while (m->stall_ns < done_ns) {
		int64_t from_ns = m->stall_ns > begin_ns ? m->stall_ns : begin_ns;
		int64_t lost_ns = stall_end_ns(m) - from_ns;

		if (lost_ns > 0)
			done_ns += lost_ns;
		if (lost_ns > 0 && m->trouble.busy > 0)
			m->busy_ns += lost_ns;
		begin_ns = stall_end_ns(m) > begin_ns ? stall_end_ns(m) : begin_ns;
		plan_stall(m, m->stall_ns);
	}
	return done_ns;
}

/* A hidden request: about 1 MiB, somewhere in the half of the disk that is far from the head. */
static void serve_hidden(struct disk_model *m)
{
	uint32_t size_bytes = HIDDEN_MIN_BYTES + (uint32_t)(next_share(m) * HIDDEN_SPAN_BYTES);
	double away = 0.25 + 0.5 * next_share(m);
	uint64_t way = (uint64_t)(away * (double)m->params.size_bytes);
	uint64_t offset = (m->head_bytes + way) % m->params.size_bytes;
	int64_t begin_ns = m->busy_ns > m->free_ns ? m->busy_ns : m->free_ns;
	int64_t work_ns = service_ns(m, offset, size_bytes);

	m->busy_ns += llround((double)work_ns / m->trouble.busy * next_jitter(m));
	m->free_ns = work_through_stalls(m, begin_ns, work_ns);
}

/* Only the end of a long idle time matters: the rest cannot be observed. */
static void skip_idle(struct disk_model *m, int64_t now_ns)
{
	int64_t since_ns = now_ns - CATCH_UP_NS;

	if (m->free_ns >= since_ns)
		return;
	if (m->busy_ns < since_ns)
		m->busy_ns = since_ns;
	if (m->trouble.stall_every_ms > 0 && stall_end_ns(m) < since_ns)
		plan_stall(m, since_ns);
}

static int64_t start_ns(const struct disk_model *m, int64_t now_ns)
{
	return m->free_ns > now_ns ? m->free_ns : now_ns;
}

void disk_model_init(struct disk_model *m, const struct disk_params *p, int64_t now_ns)
{
	*m = (struct disk_model){
		.params = *p,
		.trouble = DISK_TROUBLE_NONE,
		.rng = p->seed,
		.free_ns = now_ns,
		.stall_ns = now_ns,
		.busy_ns = now_ns,
	};
}

void disk_model_set(struct disk_model *m, const struct disk_trouble *t, int64_t now_ns)
{
	struct disk_trouble old = m->trouble;
	int64_t from_ns = start_ns(m, now_ns);

	m->trouble = *t;
	if (t->busy > 0 && !(old.busy > 0))
		m->busy_ns = from_ns;
	if (t->stall_every_ms != old.stall_every_ms || t->stall_for_ms != old.stall_for_ms)
		plan_stall(m, from_ns);
}

int64_t disk_model_serve(struct disk_model *m, int64_t now_ns, uint64_t offset, uint32_t size_bytes)
{
	skip_idle(m, now_ns);
	/* Earlier requests of the other initiator come first. Its share is less than all of the
	 * time, so this ends. Requests that waited are caught up, so that its share does not depend
	 * on other work. */
	while (m->trouble.busy > 0 && m->busy_ns <= start_ns(m, now_ns))
		serve_hidden(m);
	m->free_ns = work_through_stalls(m, start_ns(m, now_ns), service_ns(m, offset, size_bytes));
	return m->free_ns;
}
