/* Headers and records of sysstat's old formats: 0x2171, which sysstat 9.1.6 to 10.2 write (RHEL 7),
 * and 0x2173, of 10.3 to 11.6 (Ubuntu 18.04, Debian 9).
 *
 * Their structures are the same on machines of any word size: a long is in a place of 8 bytes, and
 * the header says how many of them it has. The number of items is the same in all records; only
 * that of a few activities (those of CPUs) changes at a restart, whose record in format 0x2173 has
 * the new numbers. Lists of disks and interfaces end with items that are not in use.
 */
#ifndef IMPORT_SYSSTAT_OLD_H
#define IMPORT_SYSSTAT_OLD_H

#include "import/sysstat_file.h"

/* Is it one of these formats? */
bool sysstat_old_format(unsigned format);

/* Read everything before the first record, except the version. */
int sysstat_old_start(struct sysstat_file *f, struct lp_err *err);

/* Read the record at `rec->at`. Records must be read in order, because of what a restart changes;
 * the first one begins anew. */
int sysstat_old_record(struct sysstat_file *f, struct sysstat_record *rec, struct lp_err *err);

#endif
