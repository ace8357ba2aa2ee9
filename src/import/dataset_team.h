/* Reading a dataset with several processes (base/team.h): each reads a part of the files and hands
 * what it has read to the others, so that all have the same, file by file, as if each had read all.
 * Who reads which file depends on nothing but its place in the list.
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
	struct data_clock *clock; /* of the file; NULL: times are taken as they are */
	char **warnings;
	size_t n_warnings, cap_warnings;
	bool overflow; /* it is too large to be kept: read it again, into the whole */
	int r;	       /* how it ended, described in `err` */
	struct lp_err err;
};

/* Keep a warning until the file is joined. 0 or -ENOMEM. */
int part_keep_warning(struct file_part *p, const char *text);

/* Which process of `team` reads file number `i`? The first one asks remote sources. */
int dataset_owner(const struct lp_dataset *ds, const struct team *team, size_t i);

/* Does this process read it? */
bool dataset_mine(const struct lp_dataset *ds, size_t i);

/* From now on this process is one of a team, which has opened the same data: its files are asked
 * for their descriptions by all of them. Fails if the others see other files. `team` must outlive
 * `ds`, or dataset_leave() be called. */
int dataset_join(struct lp_dataset *ds, struct team *team, struct lp_err *err);

/* The rest is done alone. */
void dataset_leave(struct lp_dataset *ds);

/* Write a part for others, with the file's clock; and take it out, into a part whose builders are
 * empty. 0, -ENOMEM or -EBADMSG. */
void part_pack(const struct file_part *p, const struct data_clock *clock, struct strbuf *ret);
int part_unpack(struct file_part *p, struct data_clock *clock, struct cursor *from);

#endif
