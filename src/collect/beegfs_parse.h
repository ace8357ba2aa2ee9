/* The output of beegfs-ctl --serverstats --perserver: a heading, and one line per server. */
#ifndef COLLECT_BEEGFS_PARSE_H
#define COLLECT_BEEGFS_PARSE_H

#include "collect/parse.h"
#include <stdbool.h>

enum { BEEGFS_WR_KIB, BEEGFS_RD_KIB, BEEGFS_REQUESTS, BEEGFS_QUEUED, BEEGFS_BUSY, BEEGFS_N };

#define BEEGFS_FIELDS_MAX 16

/* The meaning of each field of a line, from the heading. Zero-initialise it before the first
 * line. */
struct beegfs_heading {
	int8_t column[BEEGFS_FIELDS_MAX]; /* 1 + its column; 0: none; -1: the name */
	unsigned n;			  /* 0: no heading yet */
};

struct beegfs_server {
	char name[PARSE_NAME_MAX + 1]; /* its number, if names were not requested */
	int64_t values[BEEGFS_N];      /* LP_MISSING if the line does not have it */
};

/* The next server in the text; moves `*p` past it. False if there is none. */
bool beegfs_parse_server(const char **p, struct beegfs_heading *h, struct beegfs_server *ret);

#endif
