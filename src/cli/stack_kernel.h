/* What `limpet stack run` and `limpet stack attach` have in common: choosing layers and daemons,
 * the plan, and what is missing at the end.
 */
#ifndef CLI_STACK_KERNEL_H
#define CLI_STACK_KERNEL_H

#include "base/option.h"
#include "base/words.h"
#include "trace/stack/kernel_run.h"
#include <jansson.h>

/* Which daemons are watched, as the user says it. */
struct stack_daemon_options {
	struct option_list pids, comms, ports;
	bool own_network;
};

/* Rows for a table of options of `type`, whose member `daemons` is a struct stack_daemon_options.
 */
#define STACK_DAEMON_OPTIONS(type)                                                                 \
	{"pid", 'p', OPTION_LIST, offsetof(type, daemons.pids), "PID",                             \
		"watch this daemon (several: commas, or the option again)"},                       \
		{"comm", 0, OPTION_LIST, offsetof(type, daemons.comms), "NAME",                    \
			"watch the daemons of this name, those that are there and those to come "  \
			"[glusterfsd, glusterfs, pvfs2-server, pvfs2fuse, pvfs2-client-core]"},    \
		{"port", 0, OPTION_LIST, offsetof(type, daemons.ports), "PORT",                    \
			"watch the daemons that listen on this TCP port"},                         \
	{                                                                                          \
		"own-network", 0, OPTION_FLAG, offsetof(type, daemons.own_network), NULL,          \
			"only daemons in limpet's own network namespace: one node of a lab, or "   \
			"one "                                                                     \
			"container"                                                                \
	}

/* The same, as the instrument wants it; it keeps what that points to. Zero-initialise it. */
struct stack_daemons {
	struct words pids_words, comms_words, ports_words;
	pid_t pids[WORDS_MAX];
	uint16_t ports[WORDS_MAX];
	struct daemons chosen;
};

int stack_daemons_choose(
	const struct stack_daemon_options *opt, struct stack_daemons *ret, struct lp_err *err);
void stack_daemons_release(struct stack_daemons *d);

/* --layers: leave `*mask` as it is where the list is empty. */
int stack_layers_choose(const struct option_list *list, uint32_t *mask, struct lp_err *err);

/* Their names. */
json_t *stack_layers_json(uint32_t mask);

/* What is done in the kernel for these layers, and what that costs. */
void stack_kernel_plan(uint32_t mask);
json_t *stack_kernel_plan_json(uint32_t mask);

/* What is missing of the layers in the kernel, one sentence each, on standard error. */
void stack_kernel_gaps(uint32_t mask, const struct kernel_run_totals *t);

/* The closing summary's part about them. */
json_t *stack_kernel_json(const struct kernel_run_totals *t);

#endif
