#include <stdio.h>

int main(void)
{
	puts("limpet " LIMPET_VERSION);
	return 0;
}
