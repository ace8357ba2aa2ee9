/* The result of training, for a person and as JSON. */
#ifndef REPORT_TRAIN_PRINT_H
#define REPORT_TRAIN_PRINT_H

#include "detect/train/train.h"
#include <stdio.h>

struct train_print_options {
	const char *file; /* the path of the thresholds */
	bool colour, utf8;
};

/* Both return 0 or -ENOMEM. */
int train_print_text(
	FILE *out, const struct train_result *r, const struct train_print_options *opt);
int train_print_json(
	FILE *out, const struct train_result *r, const struct train_print_options *opt);

#endif
