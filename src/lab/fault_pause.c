#include "lab/fault.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "lab/hog.h"
#include "lab/tool.h"
#include <errno.h>
#include <signal.h>
#include <string.h>

#define STAT_MAX 4096
#define LOOK_MS 20
#define LOOKS 100

static pid_t server_pid(const struct lab *lab, const struct lab_node *on, char path[LAB_PATH_MAX])
{
	return tool_pid(lab_path(lab, path, "run/%s-fs.pid", on->name));
}

/* The letter of its state: what follows its name, which may contain anything. */
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

static int missing(const struct lab_node *on, struct lp_err *err)
{
	return lp_err_set(err, -ESRCH, "the file system's server on %s does not run", on->name);
}

static int inject(
	const struct lab *lab, const struct lab_node *on, double strength, struct lp_err *err)
{
	char path[LAB_PATH_MAX];

	(void)strength;
	if (!server_pid(lab, on, path))
		return missing(on, err);
	return tool_kill(path, SIGSTOP, 0, err);
}

static int verify(const struct lab *lab, const struct lab_node *on, struct lp_err *err)
{
	char path[LAB_PATH_MAX], state = 0;
	pid_t pid = server_pid(lab, on, path);

	if (!pid)
		return missing(on, err);
	/* A signal takes a moment to arrive. */
	for (unsigned i = 0; i < LOOKS; i++) {
		int r = state_of(pid, &state, err);

		if (r < 0 || state == 'T')
			return r;
		hog_wait(LOOK_MS);
	}
	return lp_err_set(err, -EIO, "the server goes on (state %c)", state);
}

static int heal(const struct lab *lab, const struct lab_node *on, struct lp_err *err)
{
	char path[LAB_PATH_MAX];

	return server_pid(lab, on, path) ? tool_kill(path, SIGCONT, 0, err) : 0;
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
