/* Regions that are functions or lines of the program, as ranges of addresses that limpet found. A
 * call is inside such a region if a frame of its stack is.
 */
#include "runtime/spans.h"

#include <execinfo.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define RANGES_MAX 4096
#define REGIONS_MAX 64
#define FRAMES_MAX 64

static struct {
	uintptr_t first, end;
	uint32_t region;
} * ranges;
static size_t n_ranges;
static char (*names)[SPANS_FUNCTION];
static uint32_t n_names;

/* The program itself is the first one in the list. */
static int base_of(struct dl_phdr_info *info, size_t size, void *ctx)
{
	(void)size;
	*(uintptr_t *)ctx = info->dlpi_addr;
	return 1;
}

static bool is_program(const char *path, size_t len)
{
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self));

	return n == (ssize_t)len && !memcmp(self, path, len);
}

/* "lo-hi,lo-hi" */
static void ranges_read(const char *text, size_t len, uintptr_t base)
{
	const char *end = text + len;

	while (text < end && n_ranges < RANGES_MAX) {
		char *behind;
		uintptr_t first = strtoull(text, &behind, 16), last = 0;

		if (*behind == '-')
			last = strtoull(behind + 1, &behind, 16);
		if (last > first) {
			ranges[n_ranges].first = base + first;
			ranges[n_ranges].end = base + last;
			ranges[n_ranges++].region = n_names;
		}
		if (behind == text || *behind != ',')
			break;
		text = behind + 1;
	}
}

static bool room_make(void)
{
	size_t size = RANGES_MAX * sizeof(*ranges) + REGIONS_MAX * sizeof(*names);
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return false;
	ranges = memory;
	names = (void *)((char *)memory + RANGES_MAX * sizeof(*ranges));
	return true;
}

/* "PATH|NAME|lo-hi,...|NAME|lo-hi,..." */
void spans_ranges_start(const char *text)
{
	size_t len = text ? strcspn(text, "|") : 0;
	uintptr_t base = 0;
	void *frame[1];

	if (!len || !is_program(text, len) || !room_make())
		return;
	dl_iterate_phdr(base_of, &base);
	for (text += len; *text == '|' && n_names < REGIONS_MAX;) {
		const char *name = text + 1, *list = name + strcspn(name, "|");
		size_t n_name = (size_t)(list - name);

		if (*list != '|')
			break;
		list++;
		memcpy(names[n_names], name, n_name < SPANS_FUNCTION ? n_name : SPANS_FUNCTION - 1);
		len = strcspn(list, "|");
		ranges_read(list, len, base);
		n_names++;
		text = list + len;
	}
	backtrace(frame, 1); /* it loads a library the first time, which must not happen during a
			      * call */
}

bool spans_ranges_any(void)
{
	return n_ranges > 0;
}

const char *spans_ranges_here(void)
{
	void *frames[FRAMES_MAX];
	int n = n_ranges ? backtrace(frames, FRAMES_MAX) : 0;

	for (int i = 0; i < n; i++) {
		uintptr_t at =
			(uintptr_t)frames[i] - 1; /* the call, not the instruction after it */

		for (size_t k = 0; k < n_ranges; k++) {
			if (at >= ranges[k].first && at < ranges[k].end)
				return names[ranges[k].region];
		}
	}
	return NULL;
}
