/* Changes a compiler's command line so that the program counts its function calls. */
#ifndef CLI_CC_ARGUMENTS_H
#define CLI_CC_ARGUMENTS_H

#include "cli/cc_functions.h"
#include <stdbool.h>

/* The purpose of a command line. */
struct cc_plan {
	bool compiles;	      /* it has something to compile or to link */
	bool links;	      /* it makes an executable or a shared library */
	bool is_static;	      /* one that loads nothing when it starts */
	bool has_cxx_library; /* the library of C++ becomes part of it, if it needs one */
};

/* `args` is the compiler and its arguments, ended by NULL. For programs without a C library
 * (`-nostdlib`, `-ffreestanding`), and for queries to the compiler itself, no member is
 * set. */
struct cc_plan cc_plan(char *const *args);

/* The changed command line, ended by NULL; free only the array. The runtime is in the directory
 * `runtime`; `functions` lists functions that are not counted. Both must outlive the command. 0 or
 * -ENOMEM. */
struct cc_command {
	const char **args;
	char *search, *rpath, *list; /* additional arguments */
};
int cc_command_make(char *const *args, const char *runtime, const struct cc_functions *functions,
	struct cc_command *ret);
void cc_command_release(struct cc_command *c);

#endif
