// Exceptions leave functions that do not return: thrower 10, passes 10, catches 10; after the last one 0.2 s of
// catches.
#include <unistd.h>

#define APART __attribute__((noinline))

volatile int sink;

APART void thrower(int n)
{
	if (n >= 0)
		throw n;
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
	if (n == 9)
		usleep(200000);
}

int main()
{
	for (int i = 0; i < 10; i++)
		catches(i);
	return 0;
}
