/* Lists of functions: the checks of limpet, and what programs make of any text. */
#include "base/cleanup.h"
#include "fuzz.h"
#include "trace/calls/function_list.h"
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_close_ int fd = memfd_create("list", MFD_CLOEXEC);
	struct calls_list list = {0}, again = {0};
	char path[64];
	bool on;

	if (size > 4096 || fd < 0 || write(fd, data, size) != (ssize_t)size)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (calls_list_take((const char *)data, size, &list))
		calls_list_says(&list, "program:image:function", &on);
	if (function_list_read(path, &again, NULL) == 0 && again.n != list.n)
		__builtin_trap();
	calls_list_release(&list);
	calls_list_release(&again);
	return 0;
}
