#include "cli/stack_kernel.h"

#include "base/meant.h"
#include "trace/netns.h"
#include "trace/stack/gaps.h"
#include "trace/stack/kernel_watch.h"
#include "trace/stack/layer.h"
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void stack_daemons_release(struct stack_daemons *d)
{
	words_release(&d->pids_words);
	words_release(&d->comms_words);
	words_release(&d->ports_words);
}

/* Parse a whole number from 1 to `max`. */
static int number(const char *option, const char *text, long max, long *ret, struct lp_err *err)
{
	char *end;

	errno = 0;
	*ret = strtol(text, &end, 10);
	if (end == text || *end || errno || *ret < 1 || *ret > max)
		return lp_err_set(
			err, -EINVAL, "%s: '%s' is not a number from 1 to %ld", option, text, max);
	return 0;
}

int stack_daemons_choose(
	const struct stack_daemon_options *opt, struct stack_daemons *ret, struct lp_err *err)
{
	int r = words_split(&opt->pids, &ret->pids_words, err);
	long n = 0;

	if (r == 0)
		r = words_split(&opt->comms, &ret->comms_words, err);
	if (r == 0)
		r = words_split(&opt->ports, &ret->ports_words, err);
	for (unsigned i = 0; r == 0 && i < ret->pids_words.n; i++) {
		r = number("--pid", ret->pids_words.items[i], INT_MAX, &n, err);
		ret->pids[i] = (pid_t)n;
	}
	for (unsigned i = 0; r == 0 && i < ret->ports_words.n; i++) {
		r = number("--port", ret->ports_words.items[i], UINT16_MAX, &n, err);
		ret->ports[i] = (uint16_t)n;
	}
	ret->chosen = (struct daemons){.pids = ret->pids,
		.n_pids = ret->pids_words.n,
		.comms = ret->comms_words.items,
		.n_comms = ret->comms_words.n,
		.ports = ret->ports,
		.n_ports = ret->ports_words.n};
	if (r == 0 && opt->own_network && !netns_of("/proc", 0, &ret->chosen.netns))
		r = lp_err_sys(err, -errno, "--own-network");
	return r;
}

int stack_layer_unknown(const char *name, struct lp_err *err)
{
	struct meant m = {.word = name};

	for (unsigned i = 0; i < layers_n; i++)
		meant_consider(&m, layers[i].name);
	return lp_err_set(err, -EINVAL,
		"there is no layer '%.64s'%s ('limpet stack layers' lists them)", name,
		meant_question(&m));
}

int stack_layers_choose(const struct option_list *list, uint32_t *mask, struct lp_err *err)
{
	struct words words = {0};
	int r = words_split(list, &words, err);
	uint32_t chosen = 0;

	for (unsigned i = 0; r == 0 && i < words.n; i++) {
		int at = layer_find(words.items[i]);

		if (at < 0)
			r = stack_layer_unknown(words.items[i], err);
		else
			chosen |= 1u << at;
	}
	if (r == 0 && words.n)
		*mask = chosen;
	words_release(&words);
	return r;
}

json_t *stack_layers_json(uint32_t mask)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < layers_n; i++) {
		if (mask >> i & 1)
			json_array_append_new(list, json_string(layers[i].name));
	}
	return list;
}

void stack_kernel_plan(uint32_t mask)
{
	const char *points[KERNEL_WATCH_POINTS_MAX];
	size_t n = kernel_watch_points(mask & LAYERS_IN_KERNEL, points);

	if (!n)
		return;
	puts("These layers of the file system's daemons and of disks are recorded in the "
	     "kernel:");
	for (unsigned i = 0; i < layers_n; i++) {
		if (mask & LAYERS_IN_KERNEL & 1u << i)
			printf("  %-9s %s\n", layers[i].name, layers[i].boundary);
	}
	printf("by programs at %zu of the kernel's tracepoints:", n);
	for (size_t i = 0; i < n; i++)
		printf("%s %s", i ? "," : "", points[i]);
	puts("\nA request takes some 1 to 5 us longer in each of these layers, and 104 to 144 "
	     "bytes of "
	     "the ring (a message 416) until it is read. System calls for files of watched "
	     "programs take 0.3 us longer, those of other processes about 0.1 us.");
}

json_t *stack_kernel_plan_json(uint32_t mask)
{
	const char *points[KERNEL_WATCH_POINTS_MAX];
	size_t n = kernel_watch_points(mask & LAYERS_IN_KERNEL, points);
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, json_string(points[i]));
	return json_pack("{s:o, s:o, s:i}", "layers", stack_layers_json(mask & LAYERS_IN_KERNEL),
		"tracepoints", list, "ns_per_request", 5000);
}

/* The layers of servers are visible only on servers. */
static void never_served(uint32_t missing)
{
	char list[128] = "";

	for (unsigned i = STACK_SERVER; i < layers_n; i++) {
		if (missing >> i & 1)
			snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s",
				*list ? ", " : "", layers[i].name);
	}
	if (*list)
		fprintf(stderr,
			"nothing was seen on this host in these layers: %s; 'limpet stack attach' "
			"records them on the servers\n",
			list);
}

static void never_called(uint32_t missing, bool daemons)
{
	for (unsigned i = STACK_FUSE; i < STACK_SERVER; i++) {
		if (missing >> i & 1)
			fprintf(stderr, "nothing was seen in the layer %s%s\n", layers[i].name,
				daemons ? ""
					: ": there was no daemon to watch (--pid, --comm, --port)");
	}
	never_served(missing);
}

void stack_kernel_gaps(uint32_t mask, const struct kernel_run_totals *t)
{
	never_called(mask & LAYERS_IN_KERNEL & (uint32_t)~t->spans.called, t->daemons > 0);
	if (t->lost)
		fprintf(stderr,
			"%" PRIu64
			" events of the kernel were lost: they came faster than limpet could read "
			"them (--ring gives them more room)\n",
			t->lost);
	stack_gaps_print_daemons(stderr, t->gone, t->late);
	if (t->spans.open)
		fprintf(stderr, "%" PRIu64 " %s had not ended\n", t->spans.open,
			t->spans.open == 1 ? "request" : "requests");
	if (t->spans.unanswered)
		fprintf(stderr, "%" PRIu64 " answers belong to requests that were not seen\n",
			t->spans.unanswered);
	if (t->unframed)
		fprintf(stderr,
			"%" PRIu64
			" pieces of sent and received data were of an unknown protocol, or of "
			"messages that had begun before the recording\n",
			t->unframed);
	if (t->spans.damaged)
		fprintf(stderr, "%" PRIu64 " events are invalid and are left out\n",
			t->spans.damaged);
}

json_t *stack_kernel_json(const struct kernel_run_totals *t)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "spans",
		(json_int_t)t->spans.spans, "daemons", (json_int_t)t->daemons, "daemons_ended",
		(json_int_t)t->gone, "daemons_late", (json_int_t)t->late, "lost",
		(json_int_t)t->lost, "open", (json_int_t)t->spans.open, "unanswered",
		(json_int_t)t->spans.unanswered, "unframed", (json_int_t)t->unframed, "damaged",
		(json_int_t)t->spans.damaged, "called",
		stack_layers_json((uint32_t)t->spans.called));
}
