/* The status of a verdict: fine, suspects, or unknown. It is decided only here. docs/detection.md
 * has the rules. */
#ifndef EXPLAIN_STATUS_H
#define EXPLAIN_STATUS_H

#include "import/dataset.h"
#include "model/inventory.h"
#include "model/meaning.h"
#include <limpet/options.h>
#include <limpet/verdict.h>

/* Facts besides the verdict itself. */
struct status_grounds {
	const struct lp_diagnose_options *options;
	struct lp_dataset *data;		/* what could not be read; may be NULL */
	const struct meanings *meanings;	/* of metrics, as the user gave them; may be NULL */
	const struct inventory *inventories[2]; /* observers that must be there; may be NULL */
};

/* Fill in `unknown`, `n_compared` and `status`; suspects must be known. Observers that no inventory
 * lists become a note. */
int status_judge(struct lp_verdict *v, const struct status_grounds *g, struct lp_err *err);

#endif
