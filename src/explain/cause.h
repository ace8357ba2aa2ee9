/* The cause: the resource at fault, by the checklist of docs/causes.md. */
#ifndef EXPLAIN_CAUSE_H
#define EXPLAIN_CAUSE_H

#include "explain/context.h"

struct cause {
	const char *name;   /* "disk-busy" */
	const char *is;	    /* "is slow without more work to do" */
	const char *advice; /* what an operator should do, one sentence */
};

extern const struct cause cause_disk_hog, cause_disk_busy, cause_disk_errors, cause_network_hog,
	cause_packet_loss, cause_cpu_hog, cause_server_hung, cause_bad_link, cause_slow_link,
	cause_slow_network, cause_lost_path, cause_server_down, cause_unknown, cause_imbalanced,
	cause_less_idle, cause_faster, cause_less_loaded, cause_server_workload,
	cause_propagated_error, cause_crash, cause_resource_exhausted, cause_rogue_process,
	cause_behaviour;

/* All causes, NULL-terminated. */
extern const struct cause *const causes[];
/* The cause with this name; cause_unknown if there is none. */
const struct cause *cause_find(const char *name);

/* Give every suspect of ctx->v its cause, and fill in ctx->follows. Symptoms of one resource of an
 * observer may be the consequence of trouble in another one. */
int cause_assign(struct explain_context *ctx, struct lp_err *err);

/* The cause for a component that is mildly slow. */
const struct cause *cause_of_warning(const struct explain_context *ctx, const struct lp_suspect *s);

/* Why a component that is not a suspect differs from its peers. */
const struct cause *cause_of_asymmetry(
	const struct explain_context *ctx, const struct lp_suspect *s);

/* Does the cause mean that something is missing? */
bool cause_is_absence(const char *cause);

/* Is it the network? */
bool cause_is_network(const char *cause);

/* Is the finding about what the cause names? Such findings are the most important. */
bool cause_matches(const struct explain_context *ctx, const char *cause, uint32_t finding);

#endif
