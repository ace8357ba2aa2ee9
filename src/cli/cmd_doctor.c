#include "cli/command.h"
#include "cli/terminal.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "collect/collector.h"
#include "report/flow.h"
#include "report/json.h"
#include "trace/backend.h"
#include "trace/profile/sampler.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>
#include <unistd.h>

#define WIDTH_DEFAULT 80
#define INDENT 10
#define DATA_DIR "/var/lib/limpet"
#define FILE_BYTES_MAX (4 << 20)

struct doctor_options {
	const char *colour;
	bool json, verbose;
};

#define AT(member) offsetof(struct doctor_options, member)

static const struct option_def options[] = {
	{"json", 0, OPTION_FLAG, AT(json), NULL, "print JSON"},
	{"verbose", 'v', OPTION_FLAG, AT(verbose), NULL,
		"also list what this host does not have, such as other file systems"},
	COLOUR_OPTION(AT(colour)),
	{NULL},
};

enum rating {
	RATING_OK,
	RATING_LIMITED, /* it works partly, or for another user */
	RATING_MISSING, /* it does not work, and there is a remedy */
	RATING_ABSENT,	/* this host does not have it */
};

static const char *const rating_names[] = {"OK", "LIMITED", "MISSING", "absent"};

struct check {
	const char *area; /* "record", "trace", "compare" */
	char name[32];
	enum rating rating;
	char *found;	    /* the finding */
	const char *remedy; /* what to do; NULL: nothing to do */
};

struct doctor {
	struct check *checks;
	size_t n, cap;
	bool failed; /* out of memory */
};

static void doctor_release(struct doctor *d)
{
	for (size_t i = 0; i < d->n; i++)
		free(d->checks[i].found);
	free(d->checks);
}

static void add(struct doctor *d, const char *area, const char *name, enum rating rating,
	const char *found, const char *remedy)
{
	struct check *c;

	if (array_reserve(&d->checks, &d->cap, d->n + 1, sizeof(*d->checks)) < 0) {
		d->failed = true;
		return;
	}
	c = &d->checks[d->n++];
	*c = (struct check){
		.area = area, .rating = rating, .found = strdup(found), .remedy = remedy};
	snprintf(c->name, sizeof(c->name), "%s", name);
	d->failed |= !c->found;
}

/* Can each collector open its files? */
static void check_collectors(struct doctor *d)
{
	const struct proc_root root = {.dir = ""};
	const struct collect_config config = {.observer = "doctor", .root = &root};

	for (const struct collector *const *c = collectors; *c; c++) {
		struct lp_err err = {0};
		void *state = NULL;
		int r;

		if ((*c)->on_request)
			continue;
		r = (*c)->open(&config, &state, &err);
		if (r >= 0)
			add(d, "record", (*c)->name, RATING_OK, (*c)->summary, NULL);
		else if ((*c)->if_present || r == -ENOENT || r == -EOPNOTSUPP)
			add(d, "record", (*c)->name, RATING_ABSENT, err.text, NULL);
		else
			add(d, "record", (*c)->name, RATING_MISSING, err.text,
				r == -EACCES || r == -EPERM ? "Run the recorder as root, or as the "
							      "unit does: systemctl "
							      "start limpet-record."
							    : NULL);
		if (r >= 0)
			(*c)->close(state);
	}
}

static void check_pressure(struct doctor *d)
{
	if (access("/proc/pressure/cpu", R_OK) == 0)
		add(d, "record", "pressure", RATING_OK,
			"the kernel counts how long tasks wait for CPU, memory and I/O", NULL);
	else
		add(d, "record", "pressure", RATING_LIMITED,
			"the kernel does not count stalls (PSI): a server short of CPU is harder "
			"to "
			"see",
			"Boot with psi=1, on a kernel of version 4.20 or later.");
}

static void check_directory(struct doctor *d)
{
	if (access(DATA_DIR, W_OK) == 0)
		add(d, "record", "directory", RATING_OK, DATA_DIR " can be written to", NULL);
	else if (access(DATA_DIR, F_OK) == 0)
		add(d, "record", "directory", RATING_LIMITED,
			DATA_DIR " belongs to the service; this user cannot write to it",
			"Record elsewhere: limpet record -o DIR.");
	else
		add(d, "record", "directory", RATING_LIMITED, DATA_DIR " does not exist",
			"systemctl enable --now limpet-record makes it; or limpet record -o DIR.");
}

static void check_tracers(struct doctor *d)
{
	for (const struct trace_backend *const *b = trace_backends; *b; b++) {
		struct lp_err err = {0};
		bool bpf = !strcmp((*b)->name, "bpf");

		if ((*b)->probe(&err) == 0)
			add(d, "trace", (*b)->name, RATING_OK, (*b)->summary, NULL);
		else
			add(d, "trace", (*b)->name, bpf ? RATING_MISSING : RATING_LIMITED, err.text,
				bpf ? "Run 'limpet trace' as root, on a kernel with BTF "
				      "(/sys/kernel/btf/vmlinux). Without it, ptrace is used, "
				      "which "
				      "slows the program down."
				    : "Trace your own processes, run as root, or set "
				      "kernel.yama.ptrace_scope to 0 or 1.");
	}
}

static void check_samplers(struct doctor *d)
{
	const struct sampler_config config = {.hz = SAMPLER_HZ_DEFAULT, .interval_us = 1000000};
	const struct sampler *sampler = NULL;
	struct lp_err err = {0};
	void *state = NULL;

	if (sampler_open(NULL, &config, &sampler, &state, NULL, &err) < 0) {
		add(d, "trace", "functions", RATING_MISSING, err.text,
			"Run as root, or set kernel.perf_event_paranoid to 0.");
		return;
	}
	add(d, "trace", "functions", RATING_OK, sampler->summary, NULL);
	sampler->close(state);
}

static void check_clock(struct doctor *d)
{
	struct timex t = {0};
	int r = adjtimex(&t);

	if (r < 0 || (t.status & STA_UNSYNC))
		add(d, "compare", "clock", RATING_MISSING,
			"the clock is not synchronised: samples of different servers do not line "
			"up",
			"Start chronyd, ntpd or systemd-timesyncd. In a container, do so on its "
			"host.");
	else
		add(d, "compare", "clock", RATING_OK, "the clock is synchronised", NULL);
}

/* Ports of servers of parallel file systems. */
static const struct {
	uint16_t port;
	const char *fs;
} known_ports[] = {{988, "Lustre (LNet)"}, {1191, "IBM Storage Scale (GPFS)"}, {2049, "NFS"},
	{3334, "OrangeFS"}, {6789, "Ceph monitor"}, {3300, "Ceph monitor"}, {6800, "Ceph OSD"},
	{8003, "BeeGFS storage"}, {8005, "BeeGFS metadata"}, {8008, "BeeGFS management"},
	{9420, "MooseFS master"}, {9422, "MooseFS chunk server"}, {24007, "GlusterFS"},
	{49152, "GlusterFS brick"}};

/* Does /proc/net/tcp (or tcp6) list a socket that listens on the port? */
static bool is_listening(const char *table, uint16_t port)
{
	char want[8];

	snprintf(want, sizeof(want), ":%04" PRIX16 " ", port);
	for (const char *line = table; line; line = strchr(line, '\n')) {
		const char *at = strstr(++line, want), *end = strchr(line, '\n');

		/* "0: 00000000:03DC 00000000:0000 0A ..": the local address, and listening. */
		if (at && end && at < end && at < line + 50 && strstr(at, " 0A ") &&
			strstr(at, " 0A ") < end && !strncmp(at + strlen(want), "0000", 4))
			return true;
	}
	return false;
}

static void check_file_systems(struct doctor *d)
{
	_cleanup_free_ char *four = NULL, *six = NULL;
	_cleanup_(strbuf_release) struct strbuf sb = {0};
	size_t size;
	struct lp_err ignored = {0};

	file_slurp("/proc/net/tcp", FILE_BYTES_MAX, &four, &size, &ignored);
	file_slurp("/proc/net/tcp6", FILE_BYTES_MAX, &six, &size, &ignored);
	for (size_t i = 0; i < ARRAY_SIZE(known_ports); i++) {
		if ((four && is_listening(four, known_ports[i].port)) ||
			(six && is_listening(six, known_ports[i].port)))
			strbuf_printf(&sb, "%s%s on port %u", sb.len ? ", " : "", known_ports[i].fs,
				known_ports[i].port);
	}
	if (sb.text)
		add(d, "compare", "file systems", RATING_OK, sb.text,
			"limpet record --ports PORT records only its connections.");
	else
		add(d, "compare", "file systems", RATING_ABSENT,
			"no server of a known file system listens here", NULL);
}

/* With three disks, a single host can be judged. */
static void check_disks(struct doctor *d)
{
	_cleanup_free_ char *text = NULL;
	size_t size, n = 0;
	struct lp_err ignored = {0};
	char found[96];

	file_slurp("/proc/partitions", FILE_BYTES_MAX, &text, &size, &ignored);
	for (char *save = NULL, *line = strtok_r(text ? text : (char[1]){0}, "\n", &save); line;
		line = strtok_r(NULL, "\n", &save)) {
		char name[64], path[128];

		if (sscanf(line, "%*u %*u %*u %63s", name) != 1)
			continue;
		snprintf(path, sizeof(path), "/sys/block/%s/device", name);
		n += access(path, F_OK) == 0;
	}
	snprintf(found, sizeof(found), "%zu disk%s on this host", n, n == 1 ? "" : "s");
	add(d, "compare", "disks", n >= 3 ? RATING_OK : RATING_LIMITED, found,
		n >= 3 ? "They can be compared with each other (limpet diagnose --split-by "
			 "observer)."
		       : "A comparison needs three: record several servers, or give limpet this "
			 "host's own past.");
}

static const char *rating_colour(enum rating r)
{
	return r == RATING_OK	      ? "\033[1;32m"
		: r == RATING_MISSING ? "\033[1;31m"
		: r == RATING_LIMITED ? "\033[1;33m"
				      : "\033[2m";
}

static void check_print(const struct check *c, unsigned width, bool colour)
{
	struct flow f = {.out = stdout, .width = width, .indent = INDENT};

	printf("%s%s%s", colour ? rating_colour(c->rating) : "", rating_names[c->rating],
		colour ? "\033[0m" : "");
	f.column = strlen(rating_names[c->rating]);
	flow_addf(&f, "%s: %s", c->name, c->found);
	flow_end(&f);
	if (c->remedy) {
		flow_add(&f, c->remedy);
		flow_end(&f);
	}
}

static void text_print(const struct doctor *d, const struct doctor_options *opt, bool colour)
{
	unsigned width = terminal_width() ? terminal_width() : WIDTH_DEFAULT, hidden = 0;
	const char *area = "";

	for (size_t i = 0; i < d->n; i++) {
		const struct check *c = &d->checks[i];

		if (c->rating == RATING_ABSENT && !opt->verbose) {
			hidden++;
			continue;
		}
		if (strcmp(area, c->area) != 0)
			printf("%sTo %s:\n", *area ? "\n" : "", c->area);
		area = c->area;
		check_print(c, width, colour);
	}
	if (hidden)
		printf("\nThis host lacks %u other things that limpet can record (-v lists "
		       "them).\n",
			hidden);
}

static int json_report(const struct doctor *d)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < d->n; i++) {
		const struct check *c = &d->checks[i];

		json_array_append_new(list,
			json_pack("{s:s, s:s, s:s, s:s, s:s?}", "to", c->area, "check", c->name,
				"rating", rating_names[c->rating], "found", c->found, "remedy",
				c->remedy));
	}
	return json_print(stdout, json_pack("{s:o}", "checks", list));
}

static int run(
	int n_args, char **args, void *values, const struct data_options *data, struct lp_err *err)
{
	const struct doctor_options *opt = values;
	_cleanup_(doctor_release) struct doctor d = {0};
	bool colour;
	int r = terminal_colour(opt->colour, &colour, err);

	(void)args;
	(void)data;
	if (r == 0 && n_args)
		r = lp_err_set(err, -EINVAL, "it takes no arguments");
	if (r < 0)
		return EXIT_USAGE;
	check_collectors(&d);
	check_pressure(&d);
	check_directory(&d);
	check_tracers(&d);
	check_samplers(&d);
	check_clock(&d);
	check_file_systems(&d);
	check_disks(&d);
	if (d.failed)
		return command_exit_code(lp_err_sys(err, -ENOMEM, "cannot look"));
	if (!opt->json)
		text_print(&d, opt, colour);
	else if (json_report(&d) < 0)
		return command_exit_code(lp_err_sys(err, -ENOMEM, "cannot print"));
	return EXIT_HEALTHY;
}

static const struct example examples[] = {
	{"doctor", "what this user can do here"},
	{"doctor -v", "also what this host does not have"},
	{"doctor --json", "for a script"},
	{NULL, NULL},
};

extern const struct command command_doctor;
const struct command command_doctor = {
	.name = "doctor",
	.summary = "check what can be recorded, traced and compared here",
	.usage = "[OPTION...]",
	.description =
		"Tries, as this user and on this host, everything that limpet needs: the files "
		"that collectors read, tracing by BPF and ptrace, samples of functions, pressure "
		"counters, the clock, servers of known file systems, and disks to compare. Each "
		"line says whether it works, and if not, what to do.\n\n"
		"It changes nothing, and the exit status is 0 whatever it finds.",
	.options = options,
	.options_size = sizeof(struct doctor_options),
	.examples = examples,
	.run = run,
};
