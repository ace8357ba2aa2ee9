/* Where functions and lines of a program are in its file: for regions that are not marks. */
#ifndef TRACE_STACK_PLACES_H
#define TRACE_STACK_PLACES_H

#include "base/strbuf.h"
#include "trace/stack/stack_config.h"

/* Find the regions of a configuration that are functions or lines, in the program that `command`
 * runs: that which is called like the application, or else the first one that has them. Appended to
 * `ret` is what runtime/spans_file.h says for SPANS_RANGES_VARIABLE; nothing if there are none
 * such. -ENOENT and a sentence with the line of the configuration: one is not in it. */
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
 * -ENOTSUP: limpet was built without what it takes. */
int place_function(int fd, const char *function, struct place_ranges *ret);
int place_lines(int fd, const char *file, uint32_t first, uint32_t last, struct place_ranges *ret);

#endif
