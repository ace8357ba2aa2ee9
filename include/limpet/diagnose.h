/* The whole engine in one call: from data to a verdict. `limpet diagnose` calls it and prints a
 * report. */
#ifndef LIMPET_DIAGNOSE_H
#define LIMPET_DIAGNOSE_H

#include <limpet/dataset.h>
#include <limpet/options.h>
#include <limpet/verdict.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/* Diagnose. On -EBADMSG some of the data is damaged (reported through the dataset's `warn`); the
 * verdict on the intact data is still returned, and its `unknown` mentions the damage. If nothing
 * can be compared there is a verdict, too, with the status LP_STATUS_UNKNOWN. The caller frees the
 * verdict with lp_verdict_free(). */
int lp_diagnose(struct lp_dataset *ds, const struct lp_diagnose_options *options,
	struct lp_verdict **ret, struct lp_err *err);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
