#include "cli/command.h"
#include "lab/fs.h"
#include "report/progress.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

struct up_options {
	const char *name, *fs, *prefix;
	uint64_t servers, clients, seed, disk, hog, bandwidth, link, cpu_limit;
	int64_t seek_min, seek_max;
	bool no_cpu_limit;
};

#define AT(member) offsetof(struct up_options, member)

static const struct option_def options[] = {
	{"name", 'n', OPTION_STRING, AT(name), "NAME",
		"name of the lab (letters and digits); labs with different names do not disturb "
		"each other [lab]"},
	{"fs", 'f', OPTION_STRING, AT(fs), "NAME",
		"the parallel file system, one of those above [gluster]"},
	{"prefix", 0, OPTION_STRING, AT(prefix), "DIR",
		"use the file system that is installed there (for example one built with "
		"'limpet cc') instead of the one in $PATH"},
	{"servers", 's', OPTION_UINT, AT(servers), "N", "number of servers, s1, s2, ... [6]"},
	{"clients", 'c', OPTION_UINT, AT(clients), "N", "number of clients, c1, c2, ... [6]"},
	{"disk", 0, OPTION_BYTES, AT(disk), "BYTES",
		"size of the file system on a server's disk; it takes memory as it fills [1536M]"},
	{"hog-disk", 0, OPTION_BYTES, AT(hog), "BYTES",
		"size of a disk's second partition, which the fault disk-hog reads [256M]"},
	{"bandwidth", 0, OPTION_UINT, AT(bandwidth), "BYTES",
		"bandwidth of a disk in bytes per second, not counting seeks [30000000]"},
	{"seek-min", 0, OPTION_SPAN, AT(seek_min), "SPAN", "a disk's shortest seek [2ms]"},
	{"seek-max", 0, OPTION_SPAN, AT(seek_max), "SPAN", "a disk's longest seek [6ms]"},
	{"link", 0, OPTION_UINT, AT(link), "KBIT",
		"speed of each link in kbit per second, in each direction [100000]"},
	{"cpu-limit", 0, OPTION_UINT, AT(cpu_limit), "PERCENT",
		"limit the processes of a server together to this share of one CPU [50]"},
	{"no-cpu-limit", 0, OPTION_FLAG, AT(no_cpu_limit), NULL,
		"let servers use all CPUs; the fault cpu-hog cannot be injected then"},
	{"seed", 0, OPTION_UINT, AT(seed), "N",
		"seed of all random choices: the disks' service times, the order of the "
		"workloads [1]"},
	{NULL},
};

static int set_text(char *to, size_t size, const char *from, const char *what, struct lp_err *err)
{
	if (!from)
		return 0;
	if (strlen(from) >= size)
		return lp_err_set(err, -EINVAL, "%s '%s' is too long", what, from);
	memcpy(to, from, strlen(from) + 1);
	return 0;
}

static int set_small(uint32_t *to, uint64_t from, const char *what, struct lp_err *err)
{
	if (from > UINT32_MAX)
		return lp_err_set(err, -EINVAL, "--%s is too large", what);
	if (from)
		*to = (uint32_t)from;
	return 0;
}

static int set_sizes(struct lab_config *c, const struct up_options *opt, struct lp_err *err)
{
	int r = set_small(&c->n_servers, opt->servers, "servers", err);

	if (r == 0)
		r = set_small(&c->n_clients, opt->clients, "clients", err);
	if (r == 0)
		r = set_small(&c->link_kbit, opt->link, "link", err);
	if (r == 0)
		r = set_small(&c->cpu_percent, opt->cpu_limit, "cpu-limit", err);
	if (r == 0)
		r = set_small(&c->seek_min_us, (uint64_t)opt->seek_min, "seek-min", err);
	if (r == 0)
		r = set_small(&c->seek_max_us, (uint64_t)opt->seek_max, "seek-max", err);
	return r;
}

static int configure(struct lab_config *c, const struct up_options *opt, struct lp_err *err)
{
	int r;

	lab_config_init(c);
	r = set_text(c->name, sizeof(c->name), opt->name, "the name", err);
	if (r == 0)
		r = set_text(c->fs, sizeof(c->fs), opt->fs, "the file system", err);
	if (r == 0 && opt->prefix)
		r = lab_prefix_set(c, opt->prefix, err);
	if (r == 0)
		r = set_sizes(c, opt, err);
	if (r < 0)
		return r;
	c->seed = opt->seed ? opt->seed : c->seed;
	c->disk_bytes = opt->disk ? opt->disk : c->disk_bytes;
	c->hog_bytes = opt->hog ? opt->hog : c->hog_bytes;
	c->bandwidth_bytes = opt->bandwidth ? opt->bandwidth : c->bandwidth_bytes;
	if (opt->no_cpu_limit)
		c->cpu_percent = 0;
	return 0;
}

static int run(
	int n_args, char **args, void *values, const struct data_options *data, struct lp_err *err)
{
	struct lab_config c;
	struct progress p;
	struct lab lab;
	int r = n_args ? lp_err_set(err, -EINVAL,
				 "unexpected argument '%s' (see 'limpet help lab up')", args[0])
		       : configure(&c, values, err);

	(void)data;
	if (r == 0)
		r = lab_init(&lab, &c, err);
	if (r < 0)
		return command_exit_code(r);
	progress_begin(&p, stderr);
	r = lab_up(&lab, progress_tell, &p, err);
	progress_clear(&p);
	if (r == 0)
		printf("lab '%s' is up: %s with %u servers and %u clients, mounted on %s/c1/mnt "
		       "and so on\n",
			c.name, c.fs, c.n_servers, c.n_clients, lab.dir);
	return command_exit_code(r);
}

static bool fs_choice(size_t i, struct command_choice *ret)
{
	if (file_systems[i])
		*ret = (struct command_choice){file_systems[i]->name, file_systems[i]->summary};
	return file_systems[i];
}

static const struct example examples[] = {
	{"lab up", "build six servers and six clients with GlusterFS"},
	{"lab up --name small --servers 3 --clients 2 --disk 256M",
		"build a small lab, in addition to the other"},
	{NULL, NULL},
};

extern const struct command lab_verb_up;
const struct command lab_verb_up = {
	.name = "lab up",
	.summary = "build a lab",
	.usage = "[OPTION...]",
	.description =
		"Builds a cluster on this machine and returns when all clients have mounted its "
		"file system, on /run/limpet/lab/NAME/c1/mnt and so on ($LIMPET_LAB_DIR "
		"replaces /run/limpet/lab). If something fails or the command is interrupted, "
		"it removes what it has built.\n\n"
		"A server sN is the network namespace limpet-NAME-sN with the address "
		"10.91.1.N, a disk (a loop device on an image in memory, with the service times "
		"of a real disk) and, where the kernel supports them, a CPU control group. "
		"Clients have the addresses 10.91.2.N; x1, with 10.91.3.1, is a third party for "
		"network faults. A bridge in a namespace of its own connects all of them; the "
		"machine itself gets no interface and no address.\n\n"
		"The exit status is 0 if the lab is up, and 2 if it is not; then a message says "
		"what is missing or went wrong.",
	.options = options,
	.options_size = sizeof(struct up_options),
	.choices = "file systems",
	.choice = fs_choice,
	.examples = examples,
	.run = run,
};
