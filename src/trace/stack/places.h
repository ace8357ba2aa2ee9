/* Where functions and lines of a program are in its file: for regions that are not marks. */
#ifndef TRACE_STACK_PLACES_H
#define TRACE_STACK_PLACES_H

#include "base/strbuf.h"
#include "trace/stack/stack_config.h"

/* Find the regions of a configuration that are functions or lines, in the program that `command`
 * runs: the one with the name of the application, or else the first one that has all of them.
 * Appends to `ret` the value of SPANS_RANGES_VARIABLE (runtime/spans_file.h); nothing if there are
 * no such regions. -ENOENT: one is not in the program; the error has the line of the configuration.
 */
int places_find(
	const struct stack_config *c, char *const *command, struct strbuf *ret, struct lp_err *err);

/* Ranges of addresses, as they are in the file. */
struct place_ranges {
	struct place_range {
		uint64_t first, end;
	} * items;
	size_t n, cap;
};

/* Add those of a function, or of lines, of an ELF file. 0 (also if there are none), -ENOMEM,
 * -ENOTSUP: limpet was built without libdw. */
int place_function(int fd, const char *function, struct place_ranges *ret);
int place_lines(int fd, const char *file, uint32_t first, uint32_t last, struct place_ranges *ret);

#endif
