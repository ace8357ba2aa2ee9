/* A verdict for scripts and for monitoring: one line per incident, or the output of a Nagios
 * plugin. */
#ifndef REPORT_VERDICT_LINES_H
#define REPORT_VERDICT_LINES_H

#include <limpet/verdict.h>
#include <stdio.h>

/* Print one line per incident and warning, with fields separated by tabs: state, component or part,
 * cause, since (ISO 8601, UTC), until ("-": still so), confidence in percent, and the sentence.
 * Without incidents one line says "OK" or "UNKNOWN", with "-" in the other fields. Returns 0 or an
 * error.
 */
int verdict_print_lines(FILE *out, const struct lp_verdict *v);

/* "LIMPET CRITICAL - oss5: disk sdb is slow, ... | incidents=1 ...", then a line per incident, for
 * Nagios, Icinga and similar systems. Returns 0 or an error. */
int verdict_print_nagios(FILE *out, const struct lp_verdict *v);

/* The exit status for it: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN. */
int verdict_nagios_status(const struct lp_verdict *v);

#endif
