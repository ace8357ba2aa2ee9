/* A verdict as one JSON object, for programs. */
#ifndef REPORT_VERDICT_JSON_H
#define REPORT_VERDICT_JSON_H

#include <limpet/verdict.h>
#include <stdio.h>

/* Writes it incrementally, because there may be hundreds of thousands of anomalies. Numbers that
 * JSON lacks (infinite, missing) are null. Returns 0 or -EIO. */
int verdict_print_json(FILE *out, const struct lp_verdict *v);

#endif
