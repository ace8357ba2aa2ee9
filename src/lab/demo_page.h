/* The collector and its page for a demo: `limpet serve` on the directory that the lab's recorders
 * write. */
#ifndef LAB_DEMO_PAGE_H
#define LAB_DEMO_PAGE_H

#include "lab/lab.h"
#include <stddef.h>

struct demo_page {
	char pid_file[LAB_PATH_MAX];
	char url[128]; /* "http://127.0.0.1:40123" */
};

/* Start `limpet` (the program's path) as a collector that reads `data`, and wait until it serves.
 * `listen` is "ADDRESS:PORT"; NULL: a free port of this machine. */
int demo_page_start(const struct lab *lab, const char *limpet, const char *data, const char *listen,
	struct demo_page *ret, struct lp_err *err);

/* Stop it. Does nothing if it is not running. */
void demo_page_stop(const struct demo_page *p);

/* The address in a line that the collector wrote ("serving http://127.0.0.1:40123, archives in
 * ..."); false if there is none. */
bool demo_page_find_url(const char *log_text, char *ret, size_t size);

#endif
