/* What `limpet lab inject` and `limpet lab heal` share. */
#ifndef CLI_LAB_FAULTS_H
#define CLI_LAB_FAULTS_H

#include "lab/fault.h"

struct lab_fault_options {
	const char *on, *name;
	bool list, json;
};

#define LAB_FAULT_AT(member) offsetof(struct lab_fault_options, member)
#define LAB_FAULT_OPTIONS                                                                          \
	{"name", 0, OPTION_STRING, LAB_FAULT_AT(name), "LAB", "which lab [lab]"},                  \
	{                                                                                          \
		"json", 0, OPTION_FLAG, LAB_FAULT_AT(json), NULL,                                  \
			"print what is active afterwards as JSON"                                  \
	}

/* The lab that the options name. */
int lab_faults_load(const struct lab_fault_options *opt, struct lab *ret, struct lp_err *err);

/* "disk-hog:1@s3", or "disk-hog" and --on; `ret->on` is "" where neither says where. */
int lab_faults_spec(const char *text, const struct lab_fault_options *opt, struct fault_spec *ret,
	struct lp_err *err);

/* What is active now. */
int lab_faults_print_json(const struct lab *lab, struct lp_err *err);

#endif
