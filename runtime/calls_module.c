/* Linked into each executable and shared library that counts its calls, to register it. */
#include <stdint.h>

void limpet_calls_list(const char *begin, const char *end);
void limpet_calls_open(const void *image);
void limpet_calls_close(const void *image);

/* Defined by the linker: the address of the ELF header of the image. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));

/* The list of functions that it was built with (`limpet cc --functions`), which the linker adds;
 * there may be none. */
extern const char limpet_calls_list_begin[] __attribute__((weak, visibility("hidden")));
extern const char limpet_calls_list_end[] __attribute__((weak, visibility("hidden")));

__attribute__((constructor(101), no_instrument_function)) static void module_open(void)
{
	if (limpet_calls_list_begin)
		limpet_calls_list(limpet_calls_list_begin, limpet_calls_list_end);
	limpet_calls_open(__ehdr_start);
}

__attribute__((destructor(101), no_instrument_function)) static void module_close(void)
{
	limpet_calls_close(__ehdr_start);
}
