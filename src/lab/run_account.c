/* Accounts of experiments, OUT/NAME.json. */
#include "lab/run_state.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "base/time.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

static json_t *time_json(int64_t wall_us)
{
	char text[TIME_TEXT_MAX];

	return json_string(time_format(wall_us, text));
}

static json_t *faults_json(const struct run_account *a)
{
	json_t *all = json_array();

	for (unsigned i = 0; i < a->experiment->n_faults; i++) {
		const struct fault_spec *f = &a->experiment->faults[i];
		json_t *one = json_pack("{s:s, s:s, s:s, s:o, s:o, s:I, s:I}", "fault",
			f->fault->name, "server", f->on, "diagnosis", f->fault->diagnosis, "start",
			time_json(a->fault_start_us), "end", time_json(a->fault_end_us), "start_us",
			(json_int_t)a->fault_start_us, "end_us", (json_int_t)a->fault_end_us);

		if (f->fault->strength) {
			json_object_set_new(one, "strength", json_real(f->strength));
			json_object_set_new(one, "usual",
				json_boolean(f->strength == f->fault->strength_default));
		}
		json_array_append_new(all, one);
	}
	return all;
}

static json_t *phases_json(const struct run_account *a)
{
	json_t *all = json_array();

	for (unsigned i = 0; i < RUN_PHASES; i++) {
		const struct run_phase *p = &a->phases[i];
		double seconds = (double)(p->end_us - p->start_us) / 1e6;

		json_array_append_new(all,
			json_pack("{s:s, s:o, s:o, s:I, s:I, s:I, s:f}", "phase",
				run_phase_names[i], "start", time_json(p->start_us), "end",
				time_json(p->end_us), "start_us", (json_int_t)p->start_us, "end_us",
				(json_int_t)p->end_us, "bytes", (json_int_t)p->bytes, "bytes_per_s",
				seconds > 0 ? (double)p->bytes / seconds : 0.0));
	}
	return all;
}

static json_t *watch_json(const struct run_account *a)
{
	const struct watch_report *w = &a->watch;

	return json_pack("{s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:b}", "wakes", (json_int_t)w->wakes,
		"late_share", w->late_share, "late_max_ms", w->late_max_ms, "late_mean_ms",
		w->late_mean_ms, "cpu_share", w->cpu_share, "disk_late_ms", a->disk_late_ms,
		"cpu_wait", a->cpu_wait, "saturated", w->saturated);
}

static json_t *lab_json(const struct lab_config *c)
{
	return json_pack("{s:s, s:s, s:i, s:i, s:I, s:I, s:i, s:i, s:i, s:i}", "name", c->name,
		"fs", c->fs, "servers", (int)c->n_servers, "clients", (int)c->n_clients, "seed",
		(json_int_t)c->seed, "bandwidth_bytes", (json_int_t)c->bandwidth_bytes,
		"seek_min_us", (int)c->seek_min_us, "seek_max_us", (int)c->seek_max_us, "link_kbit",
		(int)c->link_kbit, "cpu_percent", (int)c->cpu_percent);
}

static json_t *account_json(const struct plan_run *run, const struct run_account *a)
{
	const struct experiment *e = a->experiment;
	struct utsname u = {0};

	uname(&u);
	return json_pack(
		"{s:s, s:s, s:s, s:s, s:b, s:s, s:s, s:o, s:o, s:o, s:o, s:i, s:b, s:b, s:I, s:i}",
		"limpet", LIMPET_VERSION, "kernel", u.release, "name", e->name, "workload",
		e->workload->name, "train", e->train, "trace", plan_trace_names[e->trace],
		"functions", plan_functions_names[e->functions], "lab", lab_json(&run->lab.config),
		"faults", faults_json(a), "phases", phases_json(a), "watch", watch_json(a),
		"attempt", (int)a->attempt, "disturbed", a->disturbed, "accepted", a->accepted,
		"recorded_bytes", (json_int_t)a->recorded_bytes, "samples", (int)a->samples);
}

int run_account_write(const struct plan_run *run, const struct run_account *a, const char *path,
	struct lp_err *err)
{
	json_auto_t *json = account_json(run, a);
	_cleanup_free_ char *text =
		json ? json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) : NULL;
	_cleanup_(strbuf_release) struct strbuf line = {0};

	if (!text)
		return lp_err_sys(err, -ENOMEM, "cannot write %s", path);
	strbuf_printf(&line, "%s\n", text);
	if (line.failed)
		return lp_err_sys(err, -ENOMEM, "cannot write %s", path);
	return run_file_write(path, line.text, line.len, err);
}

int run_file_write(const char *path, const void *data, size_t size, struct lp_err *err)
{
	_cleanup_close_ int fd = -1;
	char half[PATH_MAX];
	int r;

	if (snprintf(half, sizeof(half), "%s.%d.tmp", path, (int)getpid()) >= (int)sizeof(half))
		return lp_err_sys(err, -ENAMETOOLONG, "cannot write %s", path);
	fd = open(half, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return lp_err_sys(err, -errno, "cannot write %s", half);
	r = file_pwrite_full(fd, data, size, 0);
	if (r == 0 && (fsync(fd) < 0 || rename(half, path) < 0))
		r = -errno;
	if (r < 0) {
		unlink(half);
		return lp_err_sys(err, r, "cannot write %s", path);
	}
	file_sync_dir_of(path);
	return 0;
}

bool run_account_counts(const json_t *account)
{
	return !json_is_true(json_object_get(account, "disturbed")) ||
		json_is_true(json_object_get(account, "accepted"));
}

bool run_account_whole(const char *out, const struct experiment *e)
{
	json_auto_t *json = NULL;
	char path[PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s.json", out, e->name);
	json = json_load_file(path, 0, NULL);
	if (!json || !run_account_counts(json))
		return false;
	snprintf(path, sizeof(path), "%s/%s", out, e->name);
	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}
