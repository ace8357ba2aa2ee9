#include "trace/calls/calls_reading.h"

#include "base/file.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void calls_reading_release(struct calls_reading *r)
{
	free(r->modules);
	free(r->functions);
	free(r->totals);
	free(r->off);
	free(r->row);
	*r = (struct calls_reading){0};
}

/* Read all bytes, or -EBADMSG: the file was truncated. */
static int read_at(int fd, void *to, size_t size, size_t offset, struct lp_err *err)
{
	ssize_t n = file_pread_full(fd, to, size, (off_t)offset);

	if (n < 0)
		return lp_err_sys(err, (int)n, "cannot read a table of calls");
	if ((size_t)n < size)
		return lp_err_set(err, -EBADMSG, "a table of calls is cut off at byte %zu",
			offset + (size_t)n);
	return 0;
}

static int header_read(struct calls_header *header, int fd, struct lp_err *err)
{
	int r = read_at(fd, header, sizeof(*header), offsetof(struct calls_table, header), err);

	if (r < 0)
		return r;
	if (header->magic == 0)
		return lp_err_set(err, -EAGAIN, "a table of calls is not complete yet");
	if (header->magic != CALLS_MAGIC)
		return lp_err_set(err, -EBADMSG, "this is not a table of calls of this version");
	if (header->n_modules > CALLS_MAX_MODULES || header->n_functions > CALLS_MAX_FUNCTIONS ||
		header->n_threads > CALLS_MAX_THREADS || header->clock > CALLS_CLOCK_TSC)
		return lp_err_set(err, -EBADMSG,
			"a table of calls claims %u modules, %u functions and %u threads",
			header->n_modules, header->n_functions, header->n_threads);
	header->program[sizeof(header->program) - 1] = '\0';
	return 0;
}

static int make_room(struct calls_reading *r)
{
	if (r->totals)
		return 0;
	r->modules = calloc(CALLS_MAX_MODULES, sizeof(*r->modules));
	r->functions = calloc(CALLS_MAX_FUNCTIONS, sizeof(*r->functions));
	r->row = calloc(CALLS_MAX_FUNCTIONS, sizeof(*r->row));
	r->off = calloc(CALLS_MAX_FUNCTIONS, sizeof(*r->off));
	r->totals = calloc(CALLS_MAX_FUNCTIONS, sizeof(*r->totals));
	return r->modules && r->functions && r->row && r->off && r->totals ? 0 : -ENOMEM;
}

static int names_read(struct calls_reading *r, int fd, struct lp_err *err)
{
	int result = read_at(fd, r->modules, r->header.n_modules * sizeof(*r->modules),
		offsetof(struct calls_table, modules), err);

	if (result == 0)
		result = read_at(fd, r->functions, r->header.n_functions * sizeof(*r->functions),
			offsetof(struct calls_table, functions), err);
	if (result == 0)
		result = read_at(fd, r->off, r->header.n_functions * sizeof(*r->off),
			offsetof(struct calls_table, off), err);
	if (result < 0)
		return result;
	for (size_t i = 0; i < r->header.n_modules; i++) {
		struct calls_module *m = &r->modules[i];

		m->path[sizeof(m->path) - 1] = '\0';
		if (m->build_id_size > sizeof(m->build_id))
			m->build_id_size = 0;
	}
	for (size_t i = 0; i < r->header.n_functions; i++) {
		if (r->functions[i].module >= r->header.n_modules)
			r->functions[i].module = CALLS_NO_MODULE;
	}
	return 0;
}

static int totals_read(struct calls_reading *r, int fd, struct lp_err *err)
{
	size_t n = r->header.n_functions;

	memset(r->totals, 0, n * sizeof(*r->totals));
	for (size_t t = 0; t < r->header.n_threads; t++) {
		int result = read_at(fd, r->row, n * sizeof(*r->row),
			offsetof(struct calls_table, counters) +
				t * sizeof(struct calls_counter) * CALLS_MAX_FUNCTIONS,
			err);

		if (result < 0)
			return result;
		for (size_t i = 0; i < n; i++) {
			r->totals[i].count += r->row[i].count;
			r->totals[i].ticks += r->row[i].ticks;
		}
	}
	return 0;
}

int calls_reading_fill(struct calls_reading *r, int fd, struct lp_err *err)
{
	struct calls_header header;
	int result = header_read(&header, fd, err);

	if (result == 0 && make_room(r) < 0)
		result = lp_err_sys(err, -ENOMEM, "cannot read a table of calls");
	if (result < 0)
		return result;
	r->n_known = r->header.n_functions;
	r->header = header;
	result = names_read(r, fd, err);
	return result < 0 ? result : totals_read(r, fd, err);
}

int calls_reading_space(int fd, uint64_t *ret)
{
	struct calls_header header;
	int r = header_read(&header, fd, NULL);

	if (r == 0)
		*ret = header.pid_space;
	return r;
}

int calls_reading_switch(struct calls_reading *r, int fd, size_t function, bool off)
{
	uint8_t value = off;

	if (pwrite(fd, &value, 1, (off_t)(offsetof(struct calls_table, off) + function)) != 1)
		return errno ? -errno : -EIO;
	r->off[function] = value;
	return 0;
}
