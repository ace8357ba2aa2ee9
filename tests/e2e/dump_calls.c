/* dump_calls FILE...: a table of function calls as lines, one per function:
 * PROGRAM ENDED MODULE SYMBOL-ADDRESS COUNT NANOSECONDS, and what was lost. */
#include "trace/calls/calls_clock.h"
#include "trace/calls/calls_reading.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

static int dump(const char *path)
{
	struct calls_reading reading = {0};
	struct calls_clock clock = {0};
	struct lp_err err = {0};
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int r = calls_reading_fill(&reading, fd, &err);

	calls_clock_init(&clock);
	if (r < 0)
		fprintf(stderr, "%s: %s\n", path, err.text);
	for (size_t i = 0; r == 0 && i < reading.header.n_functions; i++) {
		const struct calls_function *f = &reading.functions[i];
		const struct calls_module *m =
			f->module == CALLS_NO_MODULE ? NULL : &reading.modules[f->module];

		printf("%s %u %s %" PRIx64 " %" PRIu64 " %" PRIu64 "\n", reading.header.program,
			reading.header.ended, m ? m->path : "-", f->address - (m ? m->bias : 0),
			reading.totals[i].count,
			calls_clock_ns(&clock, &reading.header, reading.totals[i].ticks));
	}
	if (r == 0)
		printf("lost %" PRIu64 " %" PRIu64 "\n", reading.header.lost_functions,
			reading.header.lost_threads);
	calls_reading_release(&reading);
	close(fd);
	return r < 0;
}

int main(int argc, char **argv)
{
	int bad = 0;

	for (int i = 1; i < argc; i++)
		bad |= dump(argv[i]);
	return bad;
}
