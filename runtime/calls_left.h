/* Functions that are left without returning: by longjmp() or by a C++ exception. The linker sends
 * the calls of an image that counts here (`limpet cc`, --wrap), so that its functions end at that
 * moment. Calls from elsewhere are noticed later, by the stack pointers of other functions. */
#ifndef RUNTIME_CALLS_LEFT_H
#define RUNTIME_CALLS_LEFT_H

#include "runtime/calls_hooks.h"

/* In the image, for the linker only. */
#define WRAPPED __attribute__((visibility("hidden"), no_instrument_function))

#endif
