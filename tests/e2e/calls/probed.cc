// A program whose functions are left by exceptions. It does what lines say: "N" throws N of them.
#include <cstdio>
#include <cstdlib>

#define APART __attribute__((noinline))

volatile int sink;

APART void thrower(int n)
{
	if (n >= 0)
		throw n;
	sink = n;
}

APART void passes(int n)
{
	thrower(n);
	sink = n;
}

APART void catches(int n)
{
	try {
		passes(n);
	} catch (int) {
		sink = n;
	}
}

int main()
{
	char line[64];

	std::puts("ready");
	std::fflush(stdout);
	while (std::fgets(line, sizeof(line), stdin)) {
		for (int i = 0; i < std::atoi(line); i++)
			catches(i);
		std::puts("done");
		std::fflush(stdout);
	}
	return 0;
}
