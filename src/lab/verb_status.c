#include "cli/command.h"
#include "lab/lab.h"
#include "report/grid.h"
#include "report/json.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct status_options {
	const char *name;
	bool json;
};

#define AT(member) offsetof(struct status_options, member)

static const struct option_def options[] = {
	{"name", 'n', OPTION_STRING, AT(name), "NAME", "show only this lab [all]"},
	{"json", 'j', OPTION_FLAG, AT(json), NULL, "print JSON"},
	{NULL},
};

static const char *const roles[] = {
	[LAB_SERVER] = "server", [LAB_CLIENT] = "client", [LAB_OTHER] = "third party"};

static const char *word(bool applies, bool is)
{
	return !applies ? "-" : is ? "up" : "down";
}

static bool print_text(const struct lab *lab)
{
	static const char *const heading[] = {"node", "address", "network", "disk", "brick",
		"file system", "workload", "recording", "faults"};
	bool well = lab->complete;
	struct grid g;

	printf("lab '%s': %s, %u servers, %u clients%s, in %s\n", lab->config.name, lab->config.fs,
		lab->config.n_servers, lab->config.n_clients,
		lab->complete ? "" : ", not completely built", lab->dir);
	grid_init(&g, sizeof(heading) / sizeof(heading[0]));
	for (size_t i = 0; i < sizeof(heading) / sizeof(heading[0]); i++)
		grid_add(&g, heading[i]);
	for (unsigned i = 0; i < lab->n_nodes; i++) {
		const struct lab_node *n = &lab->nodes[i];
		bool server = n->role == LAB_SERVER, other = n->role == LAB_OTHER;
		struct lab_health h;

		lab_health(lab, n, &h);
		well &= h.well;
		grid_add(&g, n->name);
		grid_add(&g, n->address);
		grid_add(&g, word(true, h.netns));
		grid_add(&g, word(server, h.disk));
		grid_add(&g, word(server, h.brick));
		grid_add(&g, word(!other, h.fs));
		grid_add(&g, h.work ? "runs" : "-");
		grid_add(&g, h.record ? "runs" : "-");
		grid_add(&g, *h.faults ? h.faults : "-");
	}
	grid_print(&g, stdout, isatty(STDOUT_FILENO));
	grid_release(&g);
	return well;
}

static json_t *node_json(const struct lab_node *n, const struct lab_health *h)
{
	json_t *o = json_pack("{s:s,s:s,s:s,s:s,s:b,s:b,s:b,s:b,s:o}", "name", n->name, "role",
		roles[n->role], "netns", n->netns, "address", n->address, "network", h->netns,
		"workload", h->work, "recording", h->record, "well", h->well, "faults",
		json_text(h->faults));

	if (n->role != LAB_OTHER)
		json_object_set_new(o, "fs", json_boolean(h->fs));
	if (n->role == LAB_SERVER) {
		json_object_set_new(o, "disk", json_boolean(h->disk));
		json_object_set_new(o, "brick", json_boolean(h->brick));
		json_object_set_new(o, "loop", json_text(n->loop));
		json_object_set_new(o, "cgroup", json_text(n->cgroup));
	}
	return o;
}

static json_t *lab_json(const struct lab *lab, bool *well)
{
	const struct lab_config *c = &lab->config;
	json_t *nodes = json_array();

	*well = lab->complete;
	for (unsigned i = 0; i < lab->n_nodes; i++) {
		struct lab_health h;

		lab_health(lab, &lab->nodes[i], &h);
		*well &= h.well;
		json_array_append_new(nodes, node_json(&lab->nodes[i], &h));
	}
	return json_pack("{s:s,s:s,s:s,s:b,s:b,s:I,s:I,s:o}", "name", c->name, "fs", c->fs, "dir",
		lab->dir, "complete", lab->complete, "well", *well, "servers",
		(json_int_t)c->n_servers, "clients", (json_int_t)c->n_clients, "nodes", nodes);
}

/* What to show, and what has been shown. */
struct shown {
	json_t *labs; /* or NULL: text */
	bool well;
};

static int show(const char *name, void *ctx, struct lp_err *err)
{
	struct shown *s = ctx;
	bool well;
	struct lab lab;
	int r = lab_load(name, &lab, err);

	if (r < 0)
		return r;
	if (s->labs)
		json_array_append_new(s->labs, lab_json(&lab, &well));
	else
		well = print_text(&lab);
	s->well &= well;
	return 0;
}

static int show_all(struct shown *s, struct lp_err *err)
{
	unsigned n = 0;
	int r = lab_each(show, s, &n, err);

	if (r == 0 && !n && !s->labs)
		printf("no lab is up\n");
	return r;
}

static int run(
	int n_args, char **args, void *values, const struct data_options *data, struct lp_err *err)
{
	const struct status_options *opt = values;
	json_auto_t *root = NULL;
	struct shown shown = {.well = true};
	int r;

	(void)data;
	if (n_args)
		return command_exit_code(lp_err_set(err, -EINVAL,
			"unexpected argument '%s' (see 'limpet help lab status')", args[0]));
	if (opt->json) {
		shown.labs = json_array();
		root = json_pack("{s:s,s:o}", "limpet", LIMPET_VERSION, "labs", shown.labs);
		if (!root)
			return command_exit_code(lp_err_sys(err, -ENOMEM, "cannot begin"));
	}
	r = opt->name ? show(opt->name, &shown, err) : show_all(&shown, err);
	if (root && (r == 0 || json_array_size(shown.labs))) {
		json_dumpf(root, stdout, JSON_INDENT(2));
		putchar('\n');
	}
	if (r < 0)
		return command_exit_code(r);
	return shown.well ? EXIT_HEALTHY : EXIT_SUSPECTS;
}

static const struct example examples[] = {
	{"lab status", "show all labs"},
	{"lab status --name lab --json", "print one lab as JSON, for programs"},
	{NULL, NULL},
};

extern const struct command lab_verb_status;
const struct command lab_verb_status = {
	.name = "lab status",
	.summary = "show labs and their state",
	.usage = "[OPTION...]",
	.description =
		"Shows what each node of a lab has and whether it runs: its network, a server's "
		"disk, the file system on it (brick), the parallel file system's daemon or "
		"mount, the workload, the recording, and the faults that were injected. A "
		"server that is stopped by the fault 'pause' counts as up.\n\n"
		"The exit status is 0 if everything that should be up is up, 1 if something is "
		"down, and 2 if there is no lab of that name or its description is damaged.",
	.options = options,
	.options_size = sizeof(struct status_options),
	.examples = examples,
	.run = run,
};
