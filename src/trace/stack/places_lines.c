/* Where lines of source files are: the line numbers in DWARF, read by libdw. */
#include "base/array.h"
#include "trace/stack/places.h"
#include <elfutils/libdw.h>
#include <errno.h>
#include <string.h>

/* "io.c" is any file of that name, "src/io.c" one in a directory of that name. */
static bool is_file(const char *path, const char *wanted)
{
	size_t n_path = strlen(path), n_wanted = strlen(wanted);

	return n_path >= n_wanted && !strcmp(path + n_path - n_wanted, wanted) &&
		(n_path == n_wanted || path[n_path - n_wanted - 1] == '/');
}

static int range_add(struct place_ranges *to, uint64_t first, uint64_t end)
{
	if (to->n && to->items[to->n - 1].end == first) {
		to->items[to->n - 1].end = end;
		return 0;
	}
	if (array_reserve(&to->items, &to->cap, to->n + 1, sizeof(*to->items)) < 0)
		return -ENOMEM;
	to->items[to->n++] = (struct place_range){first, end};
	return 0;
}

/* A row of the table of lines ends where the next one begins. */
static int unit_add(
	Dwarf_Die *unit, const char *file, uint32_t first, uint32_t last, struct place_ranges *ret)
{
	Dwarf_Lines *lines;
	size_t n;
	int r = 0;

	if (dwarf_getsrclines(unit, &lines, &n) != 0)
		return 0;
	for (size_t i = 0; i + 1 < n && r == 0; i++) {
		Dwarf_Line *line = dwarf_onesrcline(lines, i),
			   *next = dwarf_onesrcline(lines, i + 1);
		const char *path = dwarf_linesrc(line, NULL, NULL);
		Dwarf_Addr from, to;
		bool ends = true;
		int number;

		if (!path || !is_file(path, file) || dwarf_lineno(line, &number) != 0 ||
			number < (int64_t)first || number > (int64_t)last ||
			dwarf_lineendsequence(line, &ends) != 0 || ends ||
			dwarf_lineaddr(line, &from) != 0 || dwarf_lineaddr(next, &to) != 0)
			continue;
		if (to > from)
			r = range_add(ret, from, to);
	}
	return r;
}

int place_lines(int fd, const char *file, uint32_t first, uint32_t last, struct place_ranges *ret)
{
	Dwarf *dwarf = dwarf_begin(fd, DWARF_C_READ);
	Dwarf_Off at = 0, next;
	size_t header;
	int r = 0;

	while (dwarf && r == 0 && dwarf_nextcu(dwarf, at, &next, &header, NULL, NULL, NULL) == 0) {
		Dwarf_Die unit;

		if (dwarf_offdie(dwarf, at + header, &unit))
			r = unit_add(&unit, file, first, last, ret);
		at = next;
	}
	dwarf_end(dwarf);
	return r;
}
