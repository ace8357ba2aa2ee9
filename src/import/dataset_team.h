/* Reading a dataset with several processes (base/team.h). Each reads some of the files and shares
 * the data, so that all processes have the same data, file by file, as if each had read everything.
 * Which process reads a file depends only on its place in the list.
 */
#ifndef IMPORT_DATASET_TEAM_H
#define IMPORT_DATASET_TEAM_H

#include "base/team.h"
#include "import/dataset.h"

/* One file, read by itself. */
struct file_part {
	struct lp_table_options opt[DATASET_BUILDERS_MAX];
	struct lp_table_builder *builders[DATASET_BUILDERS_MAX];
	uint32_t n_builders;
	struct data_clock *clock; /* of the file; NULL: times are not corrected */
	char **warnings;
	size_t n_warnings, cap_warnings;
	bool overflow; /* it is too large to keep: read it again, directly into the result */
	int r;	       /* the result, described in `err` */
	struct lp_err err;
};

/* Keep a warning until the file is joined. 0 or -ENOMEM. */
int part_keep_warning(struct file_part *p, const char *text);

/* The process of `team` that reads file number `i`. The first one reads remote sources. */
int dataset_owner(const struct lp_dataset *ds, const struct team *team, size_t i);

/* Does this process read file number `i`? */
bool dataset_mine(const struct lp_dataset *ds, size_t i);

/* Join a team of processes that have opened the same data. They share the work of reading the
 * descriptions of the files. Fails if the others have different files. `team` must outlive `ds`,
 * unless dataset_leave() is called. */
int dataset_join(struct lp_dataset *ds, struct team *team, struct lp_err *err);

/* Continue alone. */
void dataset_leave(struct lp_dataset *ds);

/* Pack a part for other processes, with the clock of the file; and unpack it, into a part with
 * empty builders. 0, -ENOMEM or -EBADMSG. */
void part_pack(const struct file_part *p, const struct data_clock *clock, struct strbuf *ret);
int part_unpack(struct file_part *p, struct data_clock *clock, struct cursor *from);

#endif
