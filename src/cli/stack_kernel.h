/* The common part of `limpet stack run` and `limpet stack attach`: choosing layers and daemons, the
 * plan, and missing data at the end.
 */
#ifndef CLI_STACK_KERNEL_H
#define CLI_STACK_KERNEL_H

#include "base/option.h"
#include "base/words.h"
#include "trace/stack/kernel_run.h"
#include <jansson.h>

/* The daemons to watch, as the user named them. */
struct stack_daemon_options {
	struct option_list pids, comms, ports;
	bool own_network;
};

/* Rows for a table of options of `type`, which has a member `daemons` of type struct
 * stack_daemon_options.
 */
#define STACK_DAEMON_OPTIONS(type)                                                                 \
	{"pid", 'p', OPTION_LIST, offsetof(type, daemons.pids), "PID",                             \
		"watch this daemon; separate several with commas, or repeat the option"},          \
		{"comm", 0, OPTION_LIST, offsetof(type, daemons.comms), "NAME",                    \
			"watch the daemons of this name, running or started later "                \
			"[glusterfsd, glusterfs, pvfs2-server, pvfs2fuse, pvfs2-client-core]"},    \
		{"port", 0, OPTION_LIST, offsetof(type, daemons.ports), "PORT",                    \
			"watch the daemons that listen on this TCP port"},                         \
	{                                                                                          \
		"own-network", 0, OPTION_FLAG, offsetof(type, daemons.own_network), NULL,          \
			"watch only daemons in limpet's own network namespace: one node of a "     \
			"lab, or one container"                                                    \
	}

/* The same in the form for the instrument, with the memory that it points to. Zero-initialise
 * it. */
struct stack_daemons {
	struct words pids_words, comms_words, ports_words;
	pid_t pids[WORDS_MAX];
	uint16_t ports[WORDS_MAX];
	struct daemons chosen;
};

int stack_daemons_choose(
	const struct stack_daemon_options *opt, struct stack_daemons *ret, struct lp_err *err);
void stack_daemons_release(struct stack_daemons *d);

/* -EINVAL, with the layer that was probably meant. */
int stack_layer_unknown(const char *name, struct lp_err *err);

/* Parse --layers; `*mask` does not change if the list is empty. */
int stack_layers_choose(const struct option_list *list, uint32_t *mask, struct lp_err *err);

/* The names of the layers. */
json_t *stack_layers_json(uint32_t mask);

/* Print what will be done in the kernel for these layers, and its cost. */
void stack_kernel_plan(uint32_t mask);
json_t *stack_kernel_plan_json(uint32_t mask);

/* Print which data of the layers in the kernel is missing, one sentence each, on standard error. */
void stack_kernel_gaps(uint32_t mask, const struct kernel_run_totals *t);

/* The part of the closing summary about the layers in the kernel. */
json_t *stack_kernel_json(const struct kernel_run_totals *t);

#endif
