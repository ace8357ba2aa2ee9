/* Runs one collector by itself and prints what it saw as CSV:
 *
 *     dump_collector NAME [--ports P,P-Q,...] [--tcp-max N] [--root DIR] [--step]
 *                    SAMPLES INTERVAL_MS
 *
 * "sample,component,column,value", a line a value, and "sample,component,fresh,0|1" for its state.
 * A missing value is empty. With --step it waits for a line of input before each sample, so that a
 * test can act between samples, and ends with the input.
 */
#include "base/cleanup.h"
#include "base/option.h"
#include "collect/collector.h"
#include <stdio.h>
#include <string.h>
#include <time.h>

struct dump_options {
	const char *ports, *root;
	bool step;
	uint64_t tcp_max;
};

static const struct option_def defs[] = {
	{"ports", 0, OPTION_STRING, offsetof(struct dump_options, ports), "LIST", "TCP ports"},
	{"root", 0, OPTION_STRING, offsetof(struct dump_options, root), "DIR", "recorded tree"},
	{"step", 0, OPTION_FLAG, offsetof(struct dump_options, step), NULL, "wait for input"},
	{"tcp-max", 0, OPTION_UINT, offsetof(struct dump_options, tcp_max), "N", "TCP remotes"},
	{NULL},
};

static void print_warning(void *ctx, const char *text)
{
	(void)ctx;
	fprintf(stderr, "warning: %s\n", text);
}

/* "3334,49152-49160" into `ports`; their number. */
static unsigned parse_ports(const char *text, uint16_t *ports, unsigned max)
{
	unsigned n = 0;

	while (text && *text) {
		char *end;
		unsigned long low = strtoul(text, &end, 10), high = low;

		if (*end == '-')
			high = strtoul(end + 1, &end, 10);
		for (; low <= high && low <= 65535 && n < max; low++)
			ports[n++] = (uint16_t)low;
		text = *end ? end + 1 : end;
	}
	return n;
}

static void print_value(const struct lp_column *column, int64_t cell)
{
	if (column->type == LP_REAL)
		printf("%.17g\n", lp_cell_to_real(cell));
	else if (cell == LP_MISSING)
		printf("\n");
	else
		printf("%lld\n", (long long)cell);
}

static void print_component(const struct lp_catalogue *catalogue, const struct lp_batch *b,
	const struct lp_batch_kind *k, uint32_t row, unsigned long sample)
{
	const struct lp_schema *schema = &catalogue->schemas[k->schema];
	size_t cell = (size_t)row * b->cap_samples + b->n_samples - 1;
	char name[512];

	if (!(k->state[cell] & LP_PRESENT))
		return;
	lp_component_name(catalogue, k->ids[row], name, sizeof(name));
	printf("%lu,%s,fresh,%d\n", sample, name, !!(k->state[cell] & LP_FRESH));
	for (uint32_t c = 0; c < k->n_columns; c++) {
		printf("%lu,%s,%s,", sample, name, schema->columns[c].name);
		print_value(&schema->columns[c], k->columns[c][cell]);
	}
}

static int take_sample(const struct collector *collector, void *state, struct collect_sink *sink,
	unsigned long sample, struct lp_err *err)
{
	struct lp_batch *b = sink->batch;
	int r;

	lp_batch_clear(b);
	lp_batch_add_sample(b, (int64_t)sample, (int64_t)sample);
	r = collector->sample(state, sink, err);
	for (uint32_t i = 0; r == 0 && i < b->n_kinds; i++) {
		for (uint32_t row = 0; row < b->kinds[i].n_components; row++)
			print_component(sink->catalogue, b, &b->kinds[i], row, sample);
	}
	printf("%lu,,,end\n", sample);
	fflush(stdout);
	return r;
}

static bool wait_for_next(const struct dump_options *options, unsigned long interval_ms)
{
	struct timespec pause = {
		(time_t)(interval_ms / 1000), (long)(interval_ms % 1000) * 1000000};
	int c = '\n';

	if (!options->step)
		return nanosleep(&pause, NULL) == 0;
	do
		c = getchar();
	while (c != '\n' && c != EOF);
	return c == '\n';
}

static int run(const struct collector *collector, const struct collect_config *config,
	const struct dump_options *options, char **counts, struct lp_err *err)
{
	unsigned long samples = strtoul(counts[0], NULL, 10);
	unsigned long interval_ms = strtoul(counts[1], NULL, 10);
	struct lp_warn warn = {.warn = print_warning};
	struct collect_sink sink = {
		.catalogue = lp_catalogue_new(), .batch = lp_batch_new(1), .warn = &warn};
	void *state = NULL;
	int r = collector->open(config, &state, err);

	for (unsigned long i = 0; r == 0 && i < samples; i++) {
		if ((i > 0 || options->step) && !wait_for_next(options, interval_ms))
			break;
		r = take_sample(collector, state, &sink, i, err);
	}
	collector->close(state);
	lp_batch_free(sink.batch);
	lp_catalogue_free(sink.catalogue);
	return r;
}

int main(int argc, char **argv)
{
	static uint16_t ports[65536];
	struct dump_options options = {.root = ""};
	struct option_table table = {defs, &options};
	struct proc_root root = {0};
	struct collect_config config = {.observer = "here", .root = &root, .ports = ports};
	struct lp_err err = {0};
	const struct collector *collector;
	int n_args = 0;

	if (option_parse(argc, argv, &table, 1, OPTION_ANYWHERE, &n_args, &err) < 0 ||
		n_args != 3) {
		fprintf(stderr, "%s\nusage: dump_collector NAME [OPTION...] SAMPLES INTERVAL_MS\n",
			err.text);
		return 2;
	}
	collector = collector_find(argv[0]);
	if (!collector) {
		fprintf(stderr, "no collector '%s'\n", argv[0]);
		return 2;
	}
	root.dir = options.root;
	config.tcp_max = (unsigned)options.tcp_max;
	config.n_ports = parse_ports(options.ports, ports, 65536);
	if (run(collector, &config, &options, argv + 1, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	return 0;
}
