#include "lab/server.h"

#include "lab/fs.h"
#include "lab/tool.h"
#include <errno.h>

pid_t server_pid(const struct lab *lab, const struct lab_node *on)
{
	char path[LAB_PATH_MAX];

	return tool_pid(lab_path(lab, path, "run/%s-fs.pid", on->name));
}

int server_need(
	const struct lab *lab, const struct lab_node *on, pid_t *ret_pid, struct lp_err *err)
{
	pid_t pid = server_pid(lab, on);

	if (!pid)
		return lp_err_set(
			err, -ESRCH, "the file system's server on %s is not running", on->name);
	*ret_pid = pid;
	return 0;
}

int server_stop(const struct lab *lab, const struct lab_node *on, struct lp_err *err)
{
	return fs_find(lab->config.fs)->server_stop(lab, on, err);
}

static unsigned servers_running(const struct lab *lab)
{
	unsigned n = 0;

	for (unsigned i = 0; i < lab->config.n_servers; i++)
		n += server_pid(lab, lab_server(lab, i)) > 0;
	return n;
}

int server_revive(const struct lab *lab, const struct lab_node *on, struct lp_err *err)
{
	const struct fs *fs = fs_find(lab->config.fs);
	unsigned n;
	int r;

	if (server_pid(lab, on))
		return 0;
	r = fs->server_start(lab, on, err);
	n = servers_running(lab);
	for (unsigned i = 0; r == 0 && fs->client_rejoin && i < lab->config.n_clients; i++) {
		const struct lab_node *client = lab_client(lab, i);

		if (server_pid(lab, client))
			r = fs->client_rejoin(lab, client, n, err);
	}
	return r;
}
