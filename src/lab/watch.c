#include "lab/watch.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/thread.h"
#include "base/time.h"
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct watch {
	struct watch_io io;
	bool running; /* the thread exists */
	atomic_bool stop;
	pthread_t thread;
	pthread_mutex_t lock; /* protects the following */
	uint64_t wakes;
	int64_t slept_us, late_us, late_sleeps_us, late_max_us;
	uint64_t cpu_used, cpu_all; /* at the last report */
};

static int64_t monotonic_us(void)
{
	return clock_us(CLOCK_MONOTONIC);
}

static int64_t system_sleep(void *ctx, int64_t us)
{
	struct timespec ts = {.tv_sec = us / US_PER_SEC, .tv_nsec = us % US_PER_SEC * 1000};
	int64_t begun_us = monotonic_us();

	(void)ctx;
	clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL);
	return monotonic_us() - begun_us;
}

/* user nice system idle iowait irq softirq steal. Processes at low priority (nice) give way to the
 * lab, so their time counts as free. Time of guests is part of user time. */
int watch_cpu_parse(const char *text, uint64_t *ret_used, uint64_t *ret_all)
{
	uint64_t t[8] = {0}, used, idle;
	unsigned n = 0;

	if (strncmp(text, "cpu ", 4) != 0)
		return -EINVAL;
	for (text += 4; n < 8; n++) {
		char *end;

		t[n] = strtoull(text, &end, 10);
		if (end == text)
			break;
		text = end;
	}
	if (n < 4)
		return -EINVAL;
	used = t[0] + t[2] + t[5] + t[6] + t[7];
	idle = t[1] + t[3] + t[4];
	*ret_used = used;
	*ret_all = used + idle;
	return 0;
}

static int system_cpu(void *ctx, uint64_t *ret_used, uint64_t *ret_all)
{
	_cleanup_fclose_ FILE *f = fopen("/proc/stat", "re");
	char line[512];

	(void)ctx;
	if (!f || !fgets(line, sizeof(line), f))
		return -EIO;
	return watch_cpu_parse(line, ret_used, ret_all);
}

int watch_new(const struct watch_io *io, struct watch **ret, struct lp_err *err)
{
	static const struct watch_io system_io = {.sleep = system_sleep, .cpu = system_cpu};
	struct watch *w = calloc(1, sizeof(*w));

	if (!w)
		return lp_err_sys(err, -ENOMEM, "cannot watch this machine");
	w->io = io ? *io : system_io;
	pthread_mutex_init(&w->lock, NULL);
	if (w->io.cpu(w->io.ctx, &w->cpu_used, &w->cpu_all) < 0)
		w->cpu_used = w->cpu_all = 0;
	*ret = w;
	return 0;
}

void watch_step(struct watch *w)
{
	int64_t took_us = w->io.sleep(w->io.ctx, WATCH_SLEEP_US);
	int64_t late_us = took_us - WATCH_SLEEP_US;

	if (late_us < 0)
		late_us = 0;
	pthread_mutex_lock(&w->lock);
	w->wakes++;
	w->slept_us += took_us;
	w->late_us += late_us;
	if (late_us > WATCH_LATE_US)
		w->late_sleeps_us += took_us;
	if (late_us > w->late_max_us)
		w->late_max_us = late_us;
	pthread_mutex_unlock(&w->lock);
}

static void *watch_thread(void *arg)
{
	struct watch *w = arg;

	while (!atomic_load(&w->stop))
		watch_step(w);
	return NULL;
}

int watch_start(struct watch **ret, struct lp_err *err)
{
	struct watch *w = NULL;
	int r = watch_new(NULL, &w, err);

	if (r < 0)
		return r;
	r = thread_start(&w->thread, watch_thread, w);
	if (r < 0) {
		watch_free(w);
		return lp_err_sys(err, r, "cannot start a thread that watches this machine");
	}
	w->running = true;
	*ret = w;
	return 0;
}

/* The share of CPU time since the last report. */
static double cpu_share(struct watch *w)
{
	uint64_t used, all;
	double share = 0;

	if (w->io.cpu(w->io.ctx, &used, &all) < 0)
		return 0;
	if (w->cpu_all && all > w->cpu_all && used >= w->cpu_used)
		share = (double)(used - w->cpu_used) / (double)(all - w->cpu_all);
	w->cpu_used = used;
	w->cpu_all = all;
	return share;
}

void watch_report(struct watch *w, struct watch_report *ret)
{
	struct watch_report r = {0};

	pthread_mutex_lock(&w->lock);
	r.wakes = w->wakes;
	if (w->slept_us > 0)
		r.late_share = (double)w->late_sleeps_us / (double)w->slept_us;
	if (w->wakes)
		r.late_mean_ms = (double)w->late_us / 1e3 / (double)w->wakes;
	r.late_max_ms = (double)w->late_max_us / 1e3;
	w->wakes = 0;
	w->slept_us = w->late_us = w->late_sleeps_us = w->late_max_us = 0;
	pthread_mutex_unlock(&w->lock);
	r.cpu_share = cpu_share(w);
	r.saturated = r.late_share > WATCH_LATE_SHARE_MAX || r.cpu_share > WATCH_CPU_SHARE_MAX;
	*ret = r;
}

void watch_free(struct watch *w)
{
	if (!w)
		return;
	atomic_store(&w->stop, true);
	if (w->running)
		pthread_join(w->thread, NULL);
	pthread_mutex_destroy(&w->lock);
	free(w);
}
