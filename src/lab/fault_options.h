/* The common part of `limpet lab inject` and `limpet lab heal`. */
#ifndef LAB_FAULT_OPTIONS_H
#define LAB_FAULT_OPTIONS_H

#include "lab/fault.h"

struct fault_options {
	const char *on, *name;
	bool list, json;
};

#define FAULT_OPTIONS_AT(member) offsetof(struct fault_options, member)
#define FAULT_OPTIONS                                                                              \
	{"name", 0, OPTION_STRING, FAULT_OPTIONS_AT(name), "LAB", "name of the lab [lab]"},        \
	{                                                                                          \
		"json", 0, OPTION_FLAG, FAULT_OPTIONS_AT(json), NULL,                              \
			"print the faults that are active afterwards as JSON"                      \
	}

/* The lab that the options name. */
int fault_options_load(const struct fault_options *opt, struct lab *ret, struct lp_err *err);

/* "disk-hog:4@s3", or "disk-hog" and --on; `ret->on` is "" if neither names a server. */
int fault_options_spec(const char *text, const struct fault_options *opt, struct fault_spec *ret,
	struct lp_err *err);

/* The active faults. */
int fault_options_print_json(const struct lab *lab, struct lp_err *err);

#endif
