/* Linked into each executable and shared library that counts its calls: says where it is. */
#include <stdint.h>

void limpet_calls_open(const void *image);
void limpet_calls_close(const void *image);

/* The linker defines it: where the image's own ELF header is mapped. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));

__attribute__((constructor(101), no_instrument_function)) static void module_open(void)
{
	limpet_calls_open(__ehdr_start);
}

__attribute__((destructor(101), no_instrument_function)) static void module_close(void)
{
	limpet_calls_close(__ehdr_start);
}
