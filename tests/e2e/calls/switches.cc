// serves.c in C++: functions with namespaces and parameters.
#include <cstdio>
#include <cstdlib>

static volatile int sink;

namespace ns
{
__attribute__((noinline)) void often(int n, const char *text)
{
	sink += n + text[0];
}
} // namespace ns

int main()
{
	char line[64];

	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		for (int i = 0; i < atoi(line); i++)
			ns::often(i, line);
		puts("done");
		fflush(stdout);
	}
	return 0;
}
