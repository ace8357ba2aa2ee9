#include "lab/run.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/time.h"
#include "cli/program.h"
#include "lab/run_state.h"
#include "lab/tool.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#define SPARE_US (15 * US_PER_SEC) /* until it has been measured */
#define FAILURES_MAX 2

bool run_stopped(const struct plan_run *run)
{
	return run->config->stop && *run->config->stop;
}

int run_stopped_err(struct lp_err *err)
{
	return lp_err_set(err, -EINTR, "interrupted");
}

int64_t run_wall_us(void)
{
	return clock_us(CLOCK_REALTIME);
}

int64_t run_monotonic_us(void)
{
	return clock_us(CLOCK_MONOTONIC);
}

void run_tell(const struct plan_run *run, const char *phase, int64_t rest_us)
{
	const struct plan *p = run->plan;
	int64_t left_us = rest_us;

	if (!run->config->tell)
		return;
	for (unsigned i = run->at + 1; i < p->n_experiments; i++)
		left_us += experiment_us(&p->experiments[i]) + run->spare_us;
	run->config->tell(run->config->ctx,
		run->at < p->n_experiments ? p->experiments[run->at].name : "", phase, run->at,
		p->n_experiments, left_us);
}

static void __attribute__((format(printf, 2, 3)))
note(const struct plan_run *run, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	if (!run->config->note)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	run->config->note(run->config->ctx, text);
}

static void tell_lab(void *ctx, const char *what, double done)
{
	const struct plan_run *run = ctx;
	char text[128];

	(void)done;
	snprintf(text, sizeof(text), "building the lab: %.100s", what);
	run_tell(run, text, experiment_us(&run->plan->experiments[run->at]));
}

/* Lock the lab against other users. */
static int lab_claim(struct plan_run *run, struct lp_err *err)
{
	char path[LAB_PATH_MAX];
	_cleanup_close_ int fd = -1;

	/* A half-built lab may have no such directory yet. */
	mkdir(lab_path(&run->lab, path, "run"), 0755);
	fd = open(lab_path(&run->lab, path, "run/experiments.lock"), O_RDWR | O_CREAT | O_CLOEXEC,
		0644);
	if (fd < 0)
		return lp_err_sys(err, -errno, "cannot open %s", path);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return lp_err_set(err, -EBUSY,
			"experiments are already running in the lab '%s' (choose another with "
			"--name)",
			run->lab.config.name);
	run->lock_fd = TAKE_FD(fd);
	return 0;
}

static bool same_shape(const struct lab_config *a, const struct lab_config *b)
{
	return a->n_servers == b->n_servers && a->n_clients == b->n_clients &&
		!strcmp(a->fs, b->fs) && !strcmp(a->prefix, b->prefix);
}

static bool lab_is_well(const struct lab *lab)
{
	for (unsigned i = 0; i < lab->n_nodes; i++) {
		struct lab_health h;

		lab_health(lab, &lab->nodes[i], &h);
		if (!h.well)
			return false;
	}
	return true;
}

static int lab_build(struct plan_run *run, struct lp_err *err)
{
	int r = lab_init(&run->lab, &run->plan->lab, err);

	run->worn = false;
	if (r == 0)
		r = lab_up(&run->lab, tell_lab, run, err);
	if (r < 0)
		return r;
	run->lab_is_up = true;
	return lab_claim(run, err);
}

/* End everything that an earlier run left running in a reused lab. */
static int lab_clear(struct plan_run *run, struct lp_err *err)
{
	int r = fault_heal_all(&run->lab, err);

	if (r == 0)
		r = workload_stop(&run->lab, err);
	if (r == 0)
		r = run_trace_stop(run, err);
	if (r == 0)
		r = run_record_stop(run, err);
	return r;
}

static void lab_leave(struct plan_run *run)
{
	if (run->lock_fd >= 0)
		close(run->lock_fd);
	run->lock_fd = -1;
	run->lab_is_up = false;
}

static int lab_rebuild(struct plan_run *run, struct lp_err *err)
{
	int r;

	lab_leave(run);
	r = lab_down(run->plan->lab.name, err);
	return r < 0 ? r : lab_build(run, err);
}

/* The existing lab of this name, if it is healthy and of the same shape; otherwise a new one. */
static int lab_begin(struct plan_run *run, struct lp_err *err)
{
	const struct lab_config *want = &run->plan->lab;
	struct lp_err why = {0};
	int r = lab_load(want->name, &run->lab, &why);

	if (r == -ENOENT)
		return lab_build(run, err);
	if (r < 0)
		return lp_err_set(err, r, "%s", why.text);
	if (!same_shape(&run->lab.config, want))
		return lp_err_set(err, -EEXIST,
			"there is a lab '%s' with other servers, clients or file system: remove it "
			"with 'limpet lab down --name %s', or choose another --name",
			want->name, want->name);
	r = lab_claim(run, err);
	if (r < 0)
		return r;
	run->lab_is_up = true;
	if (!run->lab.complete || !lab_is_well(&run->lab) || lab_clear(run, &why) < 0)
		return lab_rebuild(run, err);
	return 0;
}

/* After a failure, rebuild the lab if a part of it is not running, or if files that clients could
 * not write or delete may be the reason. */
static int lab_mend(struct plan_run *run, struct lp_err *err)
{
	struct lp_err why = {0};

	if (!run->worn && lab_clear(run, &why) == 0 && lab_is_well(&run->lab))
		return 0;
	note(run, "the lab no longer works, and is rebuilt");
	return lab_rebuild(run, err);
}

static int lab_end(struct plan_run *run, struct lp_err *err)
{
	bool was_up = run->lab_is_up;

	lab_leave(run);
	if (!was_up || run->config->keep_lab)
		return 0;
	run->at = run->plan->n_experiments;
	run_tell(run, "removing the lab", 0);
	return lab_down(run->plan->lab.name, err);
}

/* OUT/NAME and the rest of a path. */
static char *out_path(const struct plan_run *run, const struct experiment *e, const char *suffix,
	char buf[PATH_MAX])
{
	snprintf(buf, PATH_MAX, "%s/%s%s", run->config->out, e->name, suffix);
	return buf;
}

/* Give the recording its name (`suffix` is "" or ".disturbed"), then mark it as complete. */
static int experiment_commit(const struct plan_run *run, const struct run_account *a,
	const char *suffix, struct lp_err *err)
{
	const struct experiment *e = a->experiment;
	char part[PATH_MAX], dir[PATH_MAX], json[PATH_MAX];
	int r = run_record_remove(out_path(run, e, suffix, dir), err);

	if (r < 0)
		return r;
	if (rename(out_path(run, e, ".part", part), dir) < 0)
		return lp_err_sys(err, -errno, "cannot rename %s", part);
	out_path(run, e, suffix, json);
	strncat(json, ".json", sizeof(json) - strlen(json) - 1);
	r = run_account_write(run, a, json, err);
	return r < 0 ? r : run_truth_write(run->config->out, err);
}

/* Remove an earlier disturbed recording, which has been replaced. */
static void forget_disturbed(const struct plan_run *run, const struct experiment *e)
{
	char path[PATH_MAX];

	run_record_remove(out_path(run, e, ".disturbed", path), NULL);
	unlink(out_path(run, e, ".disturbed.json", path));
}

static int experiment_done(struct plan_run *run, const struct run_account *a, struct lp_err *err)
{
	int r = experiment_commit(run, a, "", err);

	if (r < 0)
		return r;
	forget_disturbed(run, a->experiment);
	run->result.done++;
	run_tell(run, "recorded", 0);
	return 0;
}

static void note_disturbed(
	const struct plan_run *run, const struct run_account *a, const char *then)
{
	note(run,
		"%s: this machine was too busy (%.0f%% of its CPUs used; processes woken more than "
		"20 ms late %.0f%% of the time; requests to disks answered %.1f ms late; the file "
		"system waited %.1f times as long for a CPU as it had one); it %s",
		a->experiment->name, a->watch.cpu_share * 100, a->watch.late_share * 100,
		a->disk_late_ms, a->cpu_wait, then);
}

/* The experiment was disturbed. 1: repeat it. */
static int experiment_disturbed(struct plan_run *run, struct run_account *a, struct lp_err *err)
{
	int r;

	if (run->config->accept) {
		note_disturbed(run, a, "counts all the same");
		a->accepted = true;
		return experiment_done(run, a, err);
	}
	if (a->attempt < run->config->tries) {
		note_disturbed(run, a, "is repeated");
		return 1;
	}
	note_disturbed(run, a, "is kept as disturbed and does not count");
	r = experiment_commit(run, a, ".disturbed", err);
	if (r < 0)
		return r;
	run->result.disturbed++;
	run_tell(run, "disturbed", 0);
	return 0;
}

/* The experiment failed. 1: repeat it. */
static int experiment_failed(struct plan_run *run, const struct experiment *e, unsigned failures,
	const struct lp_err *why, struct lp_err *err)
{
	bool again = failures < FAILURES_MAX;
	int r;

	note(run, "%s failed%s: %s", e->name, again ? " and is repeated" : "", why->text);
	r = lab_mend(run, err);
	if (r < 0)
		return r;
	if (again)
		return 1;
	run->result.failed++;
	run_tell(run, "failed", 0);
	return 0;
}

static int experiment_attempts(struct plan_run *run, const struct experiment *e, struct lp_err *err)
{
	unsigned failures = 0, attempt = 1;
	char part[PATH_MAX];
	int r;

	out_path(run, e, ".part", part);
	do {
		int64_t begun_us = run_monotonic_us();
		struct lp_err why = {0};
		struct run_account a;

		r = run_experiment(run, e, part, &a, &why);
		run->worn = run->worn || experiment_fatal(e);
		if (r == -EINTR) {
			run_record_remove(part, NULL);
			return run_stopped_err(err);
		}
		if (r < 0) {
			r = experiment_failed(run, e, ++failures, &why, err);
			continue;
		}
		run->spare_us = run_monotonic_us() - begun_us - experiment_us(e);
		a.attempt = attempt++;
		r = a.disturbed ? experiment_disturbed(run, &a, err)
				: experiment_done(run, &a, err);
	} while (r == 1);
	run_record_remove(part, NULL);
	return r;
}

static int experiments_run(struct plan_run *run, struct lp_err *err)
{
	for (run->at = 0; run->at < run->plan->n_experiments; run->at++) {
		const struct experiment *e = &run->plan->experiments[run->at];
		int r = 0;

		if (run_stopped(run))
			return run_stopped_err(err);
		if (run_account_whole(run->config->out, e)) {
			run->result.skipped++;
			run_tell(run, "skipped", 0);
			continue;
		}
		if (!run->lab_is_up)
			r = lab_begin(run, err);
		if (r == 0)
			r = experiment_attempts(run, e, err);
		if (r < 0)
			return run_stopped(run) ? run_stopped_err(err) : r;
	}
	return 0;
}

static int programs_check(const struct plan_run *run, struct lp_err *err)
{
	const struct plan *p = run->plan;
	const struct workload *last = NULL;
	int r = lab_check(&p->lab, err);

	for (unsigned i = 0; r == 0 && i < p->n_experiments; i++) {
		const struct workload *w = p->experiments[i].workload;

		if (w != last)
			r = workload_check(w, err);
		last = w;
	}
	return r;
}

static int run_begin(struct plan_run *run, struct lp_err *err)
{
	int r;

	run->fs = fs_find(run->plan->lab.fs);
	if (!run->fs)
		return lab_fs_unknown(run->plan->lab.fs, err);
	if (strlen(run->config->out) + PLAN_NAME_MAX + 64 > PATH_MAX)
		return lp_err_sys(err, -ENAMETOOLONG, "cannot write to %.64s...", run->config->out);
	r = programs_check(run, err);
	if (r == 0)
		r = path_make_dirs(run->config->out, err);
	program_path("limpet", run->limpet);
	if (r == 0)
		r = watch_start(&run->watch, err);
	return r;
}

int run_plan(const struct plan *plan, const struct run_config *config, struct run_result *ret,
	struct lp_err *err)
{
	struct plan_run run = {.plan = plan, .config = config, .lock_fd = -1, .spare_us = SPARE_US};
	struct lp_err later = {0};
	int r = run_begin(&run, err), down;

	if (r == 0)
		r = experiments_run(&run, err);
	down = lab_end(&run, &later);
	if (down < 0 && r == 0) {
		*err = later;
		r = down;
	}
	if (r == 0 && run.result.skipped)
		r = run_truth_write(config->out, err);
	watch_free(run.watch);
	*ret = run.result;
	return r;
}
