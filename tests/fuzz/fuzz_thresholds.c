/* The file of thresholds from arbitrary bytes: accepted ones are written, and read back the
 * same. */
#include "base/cleanup.h"
#include "detect/train/thresholds.h"
#include "fuzz.h"
#include <stdlib.h>
#include <string.h>

DEFINE_CLEANUP(struct thresholds *, thresholds_free);

static void check_rows(const struct thresholds *t)
{
	struct lp_identity *other = lp_identity_parse("oss3/disk:sdb");
	const struct threshold_row *rows;
	double value;
	size_t n;

	rows = thresholds_rows(t, &n);
	for (size_t i = 0; i < n; i++) {
		struct lp_identity *own = lp_identity_parse(rows[i].component);

		if (!thresholds_get(t, rows[i].metric, own, &value) || value != rows[i].value ||
			!(value >= 0))
			abort();
		thresholds_get(t, rows[i].metric, other, &value);
		lp_identity_unref(own);
	}
	lp_identity_unref(other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(thresholds_freep) struct thresholds *t = NULL, *u = NULL;
	_cleanup_free_ char *one = NULL, *two = NULL;
	struct lp_err err = {0};

	if (thresholds_parse((const char *)data, size, "fuzz", &t, &err) < 0) {
		if (!*err.text)
			abort();
		return 0;
	}
	check_rows(t);
	one = thresholds_text(t);
	if (!one || thresholds_parse(one, strlen(one), "fuzz", &u, &err) < 0)
		abort();
	two = thresholds_text(u);
	if (!two || strcmp(one, two))
		abort();
	return 0;
}
