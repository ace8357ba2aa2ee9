/* Lists the most persistently anomalous components per hour, like Figure 5.3 of the thesis.
 *
 * Each component has an accumulator in each metric: +1 for an anomalous window, -1 (not below 0)
 * for a normal one, unchanged if neither it nor its peers have data. A row shows the accumulators
 * at the end of an hour (UTC), the highest first; for each component the highest of its metrics
 * counts. Every anomaly counts, as in the thesis, except for those that the verdict does not accuse
 * (a faster disk, a greater load): windows in the direction of such a finding count as normal.
 * Hours in which no window ends have no row.
 */
#ifndef REPORT_VERDICT_HOURLY_H
#define REPORT_VERDICT_HOURLY_H

#include <limpet/verdict.h>
#include <stdio.h>

/* "20110417.05:   41 1:fs2/disk:sdd   22 1:fs3/disk:sdc": value, number of the group, component; at
 * most `top` (0: 4) in a row. A heading names the columns, a legend the groups. Returns 0, -ENOMEM
 * or -EIO. */
int verdict_print_hourly(FILE *out, const struct lp_verdict *v, uint32_t top);

/* {"limpet","method","hours":[{"hour","persistent":[{"value","group","component","metric"}]}]} */
int verdict_print_hourly_json(FILE *out, const struct lp_verdict *v, uint32_t top);

#endif
