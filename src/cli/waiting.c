#include "cli/waiting.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#define POLICY "OMP_WAIT_POLICY"
#define SPINS "GOMP_SPINCOUNT"

void waiting_be_calm(char **argv)
{
	char path[PATH_MAX];
	ssize_t n;

	if (getenv(POLICY) || getenv(SPINS))
		return;
	/* Use its real path: a process executed as /proc/self/exe has the name "exe" in process
	 * lists.
	 */
	n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	if (n <= 0 || setenv(POLICY, "passive", 1) < 0)
		return;
	path[n] = 0;
	execv(path, argv);
}
