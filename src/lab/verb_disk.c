#include "cli/command.h"

#include "lab/disk_serve.h"
#include <errno.h>
#include <stdio.h>

#define BANDWIDTH_DEFAULT (30 * UINT64_C(1000000))
#define SEEK_MIN_DEFAULT_US 2000
#define SEEK_MAX_DEFAULT_US 6000
#define SEEK_MOST_US 10000000

struct disk_options {
	const char *image, *mount, *control;
	uint64_t bandwidth_bytes, size_bytes, seed;
	int64_t seek_min_us, seek_max_us;
};

#define AT(member) offsetof(struct disk_options, member)

static const struct option_def options[] = {
	{"image", 0, OPTION_STRING, AT(image), "FILE",
		"file with the contents of the disk; created if it does not exist"},
	{"mount", 0, OPTION_STRING, AT(mount), "DIR", "where its file disk.img appears"},
	{"control", 0, OPTION_STRING, AT(control), "SOCKET", "socket for its commands"},
	{"size", 0, OPTION_BYTES, AT(size_bytes), "BYTES", "size of the disk"},
	{"bandwidth", 0, OPTION_BYTES, AT(bandwidth_bytes), "BYTES",
		"bandwidth in bytes per second [30000000]"},
	{"seek-min", 0, OPTION_SPAN, AT(seek_min_us), "SPAN", "shortest seek [2ms]"},
	{"seek-max", 0, OPTION_SPAN, AT(seek_max_us), "SPAN", "longest seek [6ms]"},
	{"seed", 0, OPTION_UINT, AT(seed), "N", "seed of its random numbers [0]"},
	{NULL},
};

static int check_options(int n_args, const struct disk_options *opt, struct lp_err *err)
{
	if (n_args > 0)
		return lp_err_set(err, -EINVAL, "lab disk takes only options");
	if (!opt->image || !opt->mount || !opt->control || !opt->size_bytes)
		return lp_err_set(
			err, -EINVAL, "lab disk needs --image, --mount, --control and --size");
	if (opt->seek_min_us < 0 || opt->seek_max_us > SEEK_MOST_US)
		return lp_err_set(err, -EINVAL, "a seek takes 0 to 10 seconds");
	return 0;
}

static int run(
	int n_args, char **args, void *values, const struct data_options *data, struct lp_err *err)
{
	struct disk_options *opt = values;
	struct disk_serve_config config;

	(void)args;
	(void)data;
	if (!opt->bandwidth_bytes)
		opt->bandwidth_bytes = BANDWIDTH_DEFAULT;
	if (!opt->seek_max_us) {
		opt->seek_max_us = SEEK_MAX_DEFAULT_US;
		if (!opt->seek_min_us)
			opt->seek_min_us = SEEK_MIN_DEFAULT_US;
	}
	if (check_options(n_args, opt, err) < 0)
		return EXIT_USAGE;
	config = (struct disk_serve_config){
		.image = opt->image,
		.mount = opt->mount,
		.control = opt->control,
		.params = {.size_bytes = opt->size_bytes,
			.bandwidth_bytes = opt->bandwidth_bytes,
			.seek_min_us = (uint32_t)opt->seek_min_us,
			.seek_max_us = (uint32_t)opt->seek_max_us,
			.seed = opt->seed},
	};
	return command_exit_code(disk_serve(&config, err));
}

static const struct example examples[] = {
	{"lab disk --image a.img --mount /mnt --control a.ctl --size 1G",
		"a disk /mnt/disk.img of 1 GiB; `echo show | nc -U a.ctl` prints its state"},
	{NULL, NULL},
};

extern const struct command lab_verb_disk;
const struct command lab_verb_disk = {
	.name = "lab disk",
	.internal = true,
	.summary = "serve one disk of a lab (used by lab up)",
	.usage = "--image FILE --mount DIR --control SOCKET --size BYTES [OPTION...]",
	.description = "Mounts a file system with one file, disk.img, that takes as long as a "
		       "disk would: it serves one request at a time, seeks if a request does "
		       "not follow the one before, and transfers data at a limited bandwidth. A "
		       "loop device with direct I/O on that file is a disk with realistic "
		       "statistics.\n\n"
		       "For each connection to the socket, it reads one line and answers with "
		       "one: \"slow FACTOR\", \"busy PERCENT\" (hidden competing load), \"stall "
		       "EVERY_MS FOR_MS\", \"show\", \"reset\". It runs until it gets a signal "
		       "or is unmounted.",
	.options = options,
	.options_size = sizeof(struct disk_options),
	.examples = examples,
	.run = run,
};
