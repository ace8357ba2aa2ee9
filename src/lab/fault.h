/* The shape of a fault: one file fault_NAME.c (dashes become underscores), which defines `const
 * struct fault fault_NAME`, and its name in meson.build. */
#ifndef LAB_FAULT_H
#define LAB_FAULT_H

#include "lab/lab.h"

struct fault {
	const char *name;	 /* "disk-hog" */
	const char *summary;	 /* for the help */
	const char *diagnosis;	 /* causes that are right, '|' between them: "disk-hog" */
	const char *strength;	 /* what the number is: "percent of packets"; NULL: takes none */
	double strength_default; /* 5 */
	double strength_min, strength_max;
	bool fatal; /* clients get errors from it, and its server may end */
	bool fresh; /* in experiments its server is started anew before, and work begins with it */

	/* Break `on`. What is left half done is healed by the caller. */
	int (*inject)(const struct lab *lab, const struct lab_node *on, double strength,
		struct lp_err *err);
	/* Is it really active (the rule is there, the process runs, the disk says so)? */
	int (*verify)(const struct lab *lab, const struct lab_node *on, struct lp_err *err);
	/* Undo all of it. Not there: 0. */
	int (*heal)(const struct lab *lab, const struct lab_node *on, struct lp_err *err);
};

extern const struct fault *const faults[]; /* NULL-terminated */
const struct fault *fault_find(const char *name);

/* A fault somewhere: "disk-hog", "slow-disk:4", "send-pktloss:5@s3". */
struct fault_spec {
	const struct fault *fault;
	double strength;
	char on[8]; /* "s3", or "" where the text does not say */
};
int fault_parse(const char *text, struct fault_spec *ret, struct lp_err *err);

/* The text that fault_parse() reads. Returns `buf`. */
#define FAULT_TEXT_MAX 64
const char *fault_format(const struct fault_spec *spec, char buf[FAULT_TEXT_MAX]);

/* Inject and verify (healed again if it does not hold), note it in DIR/run/NODE-NAME.fault. */
int fault_inject(const struct lab *lab, const struct fault_spec *spec, struct lp_err *err);
int fault_verify(const struct lab *lab, const struct fault_spec *spec, struct lp_err *err);
int fault_heal(const struct lab *lab, const struct fault_spec *spec, struct lp_err *err);
/* Heal every fault on every node, whatever was injected; goes on after an error. */
int fault_heal_all(const struct lab *lab, struct lp_err *err);

/* Faults that are noted as active, at most `max` of them; how many. */
#define FAULT_ACTIVE_MAX 64
unsigned fault_active(const struct lab *lab, struct fault_spec *ret, unsigned max);

#endif
