/* The inputs of an engine: the files that the options name, opened and parsed. */
#ifndef ENGINE_SETUP_H
#define ENGINE_SETUP_H

#include "detect/detect.h"
#include "model/hosts.h"
#include "model/inventory.h"
#include <limpet/diagnose.h>

struct setup {
	const struct lp_diagnose_options *opt;
	struct topology *topology;
	struct thresholds *trained;
	struct fixed_thresholds fixed;
	struct meanings meanings;
	struct inventory expected; /* observers that must deliver data */
	struct hosts hosts;
	struct detect_options detect; /* complete */
};

/* Open the inputs. `opt` must outlive `s`, and `s` must not move in memory. Release it even after a
 * failure. */
int setup_open(struct setup *s, const struct lp_diagnose_options *opt, struct lp_err *err);
void setup_release(struct setup *s);

/* Did the user choose how to compare? Then the plain definitions apply, not the horizons. */
bool options_are_plain(const struct lp_diagnose_options *opt);

/* The selection of tables, complete except for the step. */
struct lp_table_options setup_table(struct setup *s);

#endif
