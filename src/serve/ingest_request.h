/* The parameters of a server's request. */
#ifndef SERVE_INGEST_REQUEST_H
#define SERVE_INGEST_REQUEST_H

#include "serve/ingest.h"

/* "OBSERVER/FILE" or "OBSERVER", after /api/v1/ingest/. */
struct ingest_target {
	char observer[INGEST_NAME_MAX];
	const char *file; /* NULL: none */
};

/* False: it is neither. ingest_put() checks whether FILE is a valid name. */
bool ingest_target_parse(const char *rest, struct ingest_target *ret);

/* Parse the numbers in ?from=FRAMES&sum=HEX. Any of them may be NULL. */
bool ingest_numbers_parse(const char *from, const char *sum, struct ingest_put *ret);

#endif
