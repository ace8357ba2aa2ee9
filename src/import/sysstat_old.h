/* Headers and records of sysstat's old formats: 0x2171, which sysstat 9.1.6 to 10.2 write (RHEL 7),
 * and 0x2173, which 10.3 to 11.6 write (Ubuntu 18.04, Debian 9).
 *
 * Their structures are the same on machines of any word size: a long takes 8 bytes, and the header
 * says how many of these are used. The number of items is the same in all records, except for a few
 * activities (those of CPUs), where it changes at a restart; in format 0x2173 the record of the
 * restart has the new numbers. Lists of disks and interfaces end with items that are not in use.
 */
#ifndef IMPORT_SYSSTAT_OLD_H
#define IMPORT_SYSSTAT_OLD_H

#include "import/sysstat_file.h"

/* Is it one of these formats? */
bool sysstat_old_format(unsigned format);

/* Read everything before the first record, except the version. */
int sysstat_old_start(struct sysstat_file *f, struct lp_err *err);

/* Read the record at `rec->at`. Records must be read in order, because a restart changes the
 * numbers of items; reading the first record resets them. */
int sysstat_old_record(struct sysstat_file *f, struct sysstat_record *rec, struct lp_err *err);

#endif
