#include "lab/fault.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "lab/hog.h"
#include "lab/server.h"
#include "lab/tool.h"
#include <errno.h>
#include <signal.h>
#include <string.h>

#define STAT_MAX 4096
#define LOOK_MS 20
#define LOOKS 100

/* The letter of its state, after its name, which may contain any characters. */
static int state_of(pid_t pid, char *ret, struct lp_err *err)
{
	_cleanup_free_ char *text = NULL;
	const char *name_end;
	char path[32];
	size_t size;
	int r;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	r = file_slurp(path, STAT_MAX, &text, &size, err);
	if (r < 0)
		return r;
	name_end = strrchr(text, ')');
	if (!name_end || strlen(name_end) < 3)
		return lp_err_set(err, -EBADMSG, "cannot read %s", path);
	*ret = name_end[2];
	return 0;
}

/* Send a signal to it and all its children. */
static int tell(const struct lab *lab, const struct lab_node *on, int signal, struct lp_err *err)
{
	char path[LAB_PATH_MAX];

	return tool_kill(lab_path(lab, path, "run/%s-fs.pid", on->name), signal, 0, err);
}

static int inject(
	const struct lab *lab, const struct lab_node *on, double strength, struct lp_err *err)
{
	pid_t pid = 0;
	int r = server_need(lab, on, &pid, err);

	(void)strength;
	return r < 0 ? r : tell(lab, on, SIGSTOP, err);
}

static int verify(const struct lab *lab, const struct lab_node *on, struct lp_err *err)
{
	char state = 0;
	pid_t pid = 0;
	int r = server_need(lab, on, &pid, err);

	/* A signal takes a moment to arrive. */
	for (unsigned i = 0; r == 0 && i < LOOKS; i++) {
		r = state_of(pid, &state, err);
		if (r < 0 || state == 'T')
			return r;
		hog_wait(LOOK_MS);
	}
	return r < 0 ? r : lp_err_set(err, -EIO, "the server continues (state %c)", state);
}

static int heal(const struct lab *lab, const struct lab_node *on, struct lp_err *err)
{
	return server_pid(lab, on) ? tell(lab, on, SIGCONT, err) : 0;
}

extern const struct fault fault_pause;
const struct fault fault_pause = {
	.name = "pause",
	.summary = "the file system's server is stopped",
	.diagnosis = "server-hung|server-down",
	.inject = inject,
	.verify = verify,
	.heal = heal,
};
