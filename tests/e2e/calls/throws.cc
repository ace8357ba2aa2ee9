// Exceptions leave functions that do not return: thrower 10, passes 10, catches 10.
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
}

int main()
{
	for (int i = 0; i < 10; i++)
		catches(i);
	return 0;
}
