/* One experiment, from the preparation of its workload to sealed archives. */
#include "lab/run_state.h"

#include "base/time.h"
#include "lab/run_strain.h"
#include "lab/server.h"
#include <errno.h>
#include <sys/stat.h>
#include <time.h>

#define SLICE_US (US_PER_SEC / 5)

const char *const run_phase_names[RUN_PHASES] = {"warm-up", "clean", "fault", "recovery"};

/* Wait for `us` of a phase; `after_us` is the time after it. */
static int phase_wait(const struct plan_run *run, const char *phase, int64_t us, int64_t after_us,
	struct lp_err *err)
{
	int64_t end_us = run_monotonic_us() + us, left_us;

	while ((left_us = end_us - run_monotonic_us()) > 0) {
		int64_t nap_us = left_us < SLICE_US ? left_us : SLICE_US;
		struct timespec ts = {
			.tv_sec = nap_us / US_PER_SEC, .tv_nsec = nap_us % US_PER_SEC * 1000};

		if (run_stopped(run))
			return run_stopped_err(err);
		run_tell(run, phase, left_us + after_us);
		nanosleep(&ts, NULL);
	}
	return run_stopped(run) ? run_stopped_err(err) : 0;
}

/* A fault that causes errors for clients is recorded only up to its end: undoing it may require a
 * restart of the server, which is a disturbance, too. */
static bool phase_is_recorded(const struct experiment *e, unsigned phase)
{
	return phase != RUN_WARMUP && !(phase == RUN_RECOVERY && experiment_fatal(e));
}

/* Check that the workload continues, recorders run, and faults are active. */
static int phase_verify(
	const struct plan_run *run, const struct experiment *e, unsigned phase, struct lp_err *err)
{
	bool hurt = experiment_fatal(e) && phase >= RUN_FAULT;
	int r = hurt ? 0 : workload_verify(&run->lab, err);

	if (r == 0 && phase_is_recorded(e, phase))
		r = run_record_verify(run, err);
	if (r == 0 && phase_is_recorded(e, phase) && e->trace)
		r = run_trace_verify(run, hurt ? e : NULL, err);
	for (unsigned i = 0; r == 0 && phase == RUN_FAULT && i < e->n_faults; i++)
		r = fault_verify(&run->lab, &e->faults[i], err);
	return r;
}

static int64_t phase_us(const struct experiment *e, unsigned phase)
{
	const int64_t us[RUN_PHASES] = {e->warmup_us, e->clean_us, e->fault_us, e->recovery_us};

	return us[phase];
}

/* The time of the experiment after a phase. */
static int64_t after_us(const struct experiment *e, unsigned phase)
{
	int64_t us = 0;

	while (++phase < RUN_PHASES)
		us += phase_us(e, phase);
	return us;
}

static int phase_run(
	struct plan_run *run, struct run_account *a, unsigned phase, struct lp_err *err)
{
	const struct experiment *e = a->experiment;
	const char *name = run_phase_names[phase];
	int64_t half_us = phase_us(e, phase) / 2, later_us = after_us(e, phase);
	struct run_phase *p = &a->phases[phase];
	uint64_t before = 0, after = 0;
	int r = workload_bytes(&run->lab, &before, err);

	p->start_us = run_wall_us();
	if (r == 0)
		r = phase_wait(run, name, half_us, later_us + half_us, err);
	if (r == 0)
		r = phase_verify(run, e, phase, err);
	if (r == 0)
		r = phase_wait(run, name, phase_us(e, phase) - half_us, later_us, err);
	if (r == 0)
		r = phase_verify(run, e, phase, err);
	p->end_us = run_wall_us();
	if (r == 0)
		r = workload_bytes(&run->lab, &after, err);
	p->bytes = after - before;
	return r;
}

static int recording_start(struct plan_run *run, const struct experiment *e, const char *dir,
	struct strain *ret_before, struct lp_err *err)
{
	struct watch_report unused;
	int r = run_record_start(run, e->functions, dir, err);

	watch_report(run->watch, &unused);
	strain_read(&run->lab, ret_before);
	return r;
}

static int recording_stop(const struct plan_run *run, struct lp_err *err)
{
	int traced = run_trace_stop(run, err);
	int recorded = run_record_stop(run, traced < 0 ? NULL : err);

	return traced < 0 ? traced : recorded;
}

/* The state of this machine during the recording. */
static void recording_judge(
	const struct plan_run *run, struct run_account *a, const struct strain *before)
{
	struct strain after;

	watch_report(run->watch, &a->watch);
	strain_read(&run->lab, &after);
	a->disk_late_ms = strain_disk_late_ms(before, &after);
	a->cpu_wait = strain_cpu_wait(before, &after);
}

static int faults_inject(struct plan_run *run, struct run_account *a, struct lp_err *err)
{
	const struct experiment *e = a->experiment;
	int r = 0;

	a->fault_start_us = run_wall_us();
	for (unsigned i = 0; r == 0 && i < e->n_faults; i++)
		r = fault_inject(&run->lab, &e->faults[i], err);
	if (r == 0 && experiment_fresh(e))
		r = workload_release(&run->lab, err);
	return r;
}

static int faults_heal(struct plan_run *run, struct run_account *a, struct lp_err *err)
{
	const struct experiment *e = a->experiment;
	int r = 0;

	for (unsigned i = 0; r == 0 && i < e->n_faults; i++)
		r = fault_heal(&run->lab, &e->faults[i], err);
	a->fault_end_us = run_wall_us();
	return r;
}

/* All phases from the clean one on. */
static int recorded_phases(
	struct plan_run *run, struct run_account *a, const char *dir, struct lp_err *err)
{
	const struct experiment *e = a->experiment;
	bool recovers = phase_is_recorded(e, RUN_RECOVERY);
	struct strain before;
	int r = recording_start(run, e, dir, &before, err);

	if (r == 0)
		r = phase_run(run, a, RUN_CLEAN, err);
	if (r == 0)
		r = faults_inject(run, a, err);
	if (r == 0)
		r = phase_run(run, a, RUN_FAULT, err);
	if (r == 0 && !recovers) {
		recording_judge(run, a, &before);
		r = recording_stop(run, err);
	}
	if (r == 0)
		r = faults_heal(run, a, err);
	if (r == 0)
		r = phase_run(run, a, RUN_RECOVERY, err);
	if (r == 0 && recovers)
		recording_judge(run, a, &before);
	return r;
}

/* The recorded time. */
static int64_t recorded_us(const struct run_account *a)
{
	unsigned last = phase_is_recorded(a->experiment, RUN_RECOVERY) ? RUN_RECOVERY : RUN_FAULT;

	return a->phases[last].end_us - a->phases[RUN_CLEAN].start_us;
}

/* Restart the servers that need it. */
static int servers_refresh(
	const struct plan_run *run, const struct experiment *e, struct lp_err *err)
{
	int r = 0;

	for (unsigned i = 0; r == 0 && i < e->n_faults; i++) {
		const struct lab_node *node = lab_node(&run->lab, e->faults[i].on);

		if (!node || !e->faults[i].fault->fresh)
			continue;
		r = server_stop(&run->lab, node, err);
		if (r == 0)
			r = server_revive(&run->lab, node, err);
	}
	return r;
}

/* Programs are traced from their beginning: the workload waits for the tracers. */
static int work_begin(
	const struct plan_run *run, const struct experiment *e, const char *dir, struct lp_err *err)
{
	bool held = experiment_fresh(e) || e->trace;
	unsigned how = held ? WORKLOAD_HELD : experiment_fatal(e) ? WORKLOAD_STUBBORN : 0;
	int r = workload_start(&run->lab, e->workload, how, err);

	if (r == 0 && e->trace && mkdir(dir, 0700) < 0)
		r = lp_err_sys(err, -errno, "cannot make %s", dir);
	if (r == 0 && e->trace)
		r = run_trace_start(run, e->trace, dir, err);
	if (r == 0 && !experiment_fresh(e))
		r = workload_release(&run->lab, err);
	return r;
}

static int experiment_begin(
	struct plan_run *run, const struct experiment *e, const char *dir, struct lp_err *err)
{
	int r;

	run_tell(run, "preparing", experiment_us(e));
	r = workload_prepare(&run->lab, e->workload, run->config->stop, err);
	if (r == 0 && run_stopped(run))
		r = run_stopped_err(err);
	if (r == 0)
		r = servers_refresh(run, e, err);
	if (r == 0)
		r = work_begin(run, e, dir, err);
	return r;
}

/* Stop everything, even after a failure; the first error counts. */
static int experiment_end(const struct plan_run *run, int r, struct lp_err *err)
{
	struct lp_err later = {0};

	if (r < 0 && fault_heal_all(&run->lab, &later) < 0)
		lp_err_prefix(err, "%.200s, and healing failed", later.text);
	if (workload_stop(&run->lab, r < 0 ? &later : err) < 0 && r == 0)
		r = -EIO;
	if (recording_stop(run, r < 0 ? &later : err) < 0 && r == 0)
		r = -EIO;
	return r;
}

int run_experiment(struct plan_run *run, const struct experiment *e, const char *dir,
	struct run_account *ret, struct lp_err *err)
{
	struct run_account a = {.experiment = e};
	int r = run_record_remove(dir, err);

	if (r == 0)
		r = experiment_begin(run, e, dir, err);
	if (r == 0)
		r = phase_run(run, &a, RUN_WARMUP, err);
	if (r == 0)
		r = recorded_phases(run, &a, dir, err);
	if (r == 0)
		run_tell(run, "stopping", 0);
	r = experiment_end(run, r, err);
	if (run_stopped(run))
		return run_stopped_err(err);
	if (r == 0)
		r = run_record_check(run, dir, recorded_us(&a), &a.recorded_bytes, &a.samples, err);
	if (r < 0)
		return r;
	/* A disk that is this late looks like a disk with longer seeks. */
	a.disturbed = a.watch.saturated || a.cpu_wait > STRAIN_CPU_WAIT_MAX ||
		a.disk_late_ms > (double)run->lab.config.seek_min_us / 1e3;
	*ret = a;
	return 0;
}
