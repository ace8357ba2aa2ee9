/* The interface of a fault: one file fault_NAME.c (dashes become underscores), which defines `const
 * struct fault fault_NAME`, and its name in meson.build. */
#ifndef LAB_FAULT_H
#define LAB_FAULT_H

#include "lab/lab.h"

struct fault {
	const char *name;      /* "disk-hog" */
	const char *summary;   /* for the help */
	const char *diagnosis; /* the right causes, separated by '|': "disk-hog" */
	const char
		*strength; /* the meaning of the number: "percent of packets"; NULL: takes none */
	double strength_default; /* 5 */
	double strength_min, strength_max;
	bool fatal; /* clients get errors because of it, and its server may end */
	bool fresh; /* in experiments its server is restarted before it, and the workload begins at
		     * the same time */

	/* Break `on`. After a failure the caller heals it. */
	int (*inject)(const struct lab *lab, const struct lab_node *on, double strength,
		struct lp_err *err);
	/* Is it really active (does the rule exist, does the process run, does the disk confirm
	 * it)? */
	int (*verify)(const struct lab *lab, const struct lab_node *on, struct lp_err *err);
	/* Undo it completely. 0 if it is not active. */
	int (*heal)(const struct lab *lab, const struct lab_node *on, struct lp_err *err);
};

extern const struct fault *const faults[]; /* NULL-terminated */
const struct fault *fault_find(const char *name);

/* A fault somewhere: "disk-hog", "slow-disk:4", "send-pktloss:5@s3". */
struct fault_spec {
	const struct fault *fault;
	double strength;
	char on[8]; /* "s3", or "" if the text names none */
};
int fault_parse(const char *text, struct fault_spec *ret, struct lp_err *err);

/* The text in the form of fault_parse(). Returns `buf`. */
#define FAULT_TEXT_MAX 64
const char *fault_format(const struct fault_spec *spec, char buf[FAULT_TEXT_MAX]);

/* Inject and verify (and heal again if that fails), and note it in DIR/run/NODE-NAME.fault. */
int fault_inject(const struct lab *lab, const struct fault_spec *spec, struct lp_err *err);
int fault_verify(const struct lab *lab, const struct fault_spec *spec, struct lp_err *err);
int fault_heal(const struct lab *lab, const struct fault_spec *spec, struct lp_err *err);
/* Heal every fault on every node, whatever was injected; continues after an error. */
int fault_heal_all(const struct lab *lab, struct lp_err *err);

/* Faults that are noted as active, at most `max` of them; returns their number. */
#define FAULT_ACTIVE_MAX 64
unsigned fault_active(const struct lab *lab, struct fault_spec *ret, unsigned max);

#endif
