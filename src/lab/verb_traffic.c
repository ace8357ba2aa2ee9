/* The two ends of a network hog. Faults start them in namespaces, not people. */
#include "cli/command.h"
#include "lab/traffic.h"
#include <errno.h>

struct traffic_options {
	uint64_t listen, connections;
	const char *send;
};

static const struct option_def options[] = {
	{"listen", 0, OPTION_UINT, offsetof(struct traffic_options, listen), "PORT",
		"discard data sent to this port"},
	{"send", 0, OPTION_STRING, offsetof(struct traffic_options, send), "ADDRESS:PORT",
		"send zeros there"},
	{"connections", 0, OPTION_UINT, offsetof(struct traffic_options, connections), "N",
		"number of connections [1]"},
	{NULL},
};

static int run(
	int n_args, char **args, void *values, const struct data_options *data, struct lp_err *err)
{
	const struct traffic_options *opt = values;
	struct traffic t = {.port = (uint16_t)opt->listen};
	char address[16];
	int r;

	(void)args;
	(void)data;
	t.connections = opt->connections ? (unsigned)opt->connections : 1;
	if (n_args || !opt->send == !opt->listen || opt->listen > UINT16_MAX ||
		opt->connections > TRAFFIC_CONNECTIONS_MAX)
		return command_exit_code(lp_err_set(err, -EINVAL,
			"want either --listen PORT or --send ADDRESS:PORT, and at most %d "
			"connections",
			TRAFFIC_CONNECTIONS_MAX));
	if (opt->listen)
		return command_exit_code(traffic_listen(&t, err));
	r = traffic_target_parse(opt->send, address, &t.port, err);
	t.address = address;
	return command_exit_code(r < 0 ? r : traffic_send(&t, err));
}

extern const struct command lab_verb_traffic;
const struct command lab_verb_traffic = {
	.name = "lab traffic",
	.summary = "one end of a network hog, used by faults",
	.usage = "--listen PORT | --send ADDRESS:PORT",
	.description = "Sends zeros over TCP as fast as it can, or receives them, until it is "
		       "killed. The faults write-network-hog and read-network-hog run it.",
	.options = options,
	.options_size = sizeof(struct traffic_options),
	.internal = true,
	.run = run,
};
