#include "cli/cc_arguments.h"

#include "base/array.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Options with the next argument as their value, which is not an input. */
static const char *const with_value[] = {"-o", "-x", "-I", "-L", "-D", "-U", "-l", "-include",
	"-imacros", "-isystem", "-idirafter", "-iquote", "-iprefix", "-isysroot", "-MF", "-MT",
	"-MQ", "-Xlinker", "-Xassembler", "-Xpreprocessor", "-Xclang", "-u", "-T", "-z", "-e", "-A",
	"-B", "--param", "-aux-info", "-arch", "-target", "-specs"};

/* Options that stop before linking. */
static const char *const no_link[] = {"-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "-r"};

/* There is no C library to count with, unless it is named (-lc), as libtool does for C++. */
static const char *const bare[] = {"-nostdlib", "-nolibc", "-nodefaultlibs"};

/* Inputs that are compiled for later use, and never linked. */
static const char *const headers[] = {".h", ".hh", ".hp", ".hxx", ".hpp", ".HPP", ".H", ".h++"};

static bool is_one_of(const char *arg, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(arg, list[i]))
			return true;
	}
	return false;
}
#define IS_ONE_OF(arg, list) is_one_of(arg, list, ARRAY_SIZE(list))

/* "c-header", "c++-header": a language of -x. */
static bool is_header_language(const char *name)
{
	const char *dash = strrchr(name, '-');

	return dash && !strcmp(dash, "-header");
}

static bool is_header(const char *arg)
{
	const char *dot = strrchr(arg, '.');

	return dot && IS_ONE_OF(dot, headers);
}

struct cc_plan cc_plan(char *const *args)
{
	struct cc_plan plan = {.links = true};
	bool is_bare = false, has_libc = false;

	for (size_t i = 1; args[i]; i++) {
		const char *arg = args[i];

		if (!strcmp(arg, "-ffreestanding"))
			return (struct cc_plan){0};
		if (IS_ONE_OF(arg, no_link) || (!strncmp(arg, "-x", 2) && is_header_language(arg)))
			plan.links = false;
		else if (IS_ONE_OF(arg, with_value) && args[i + 1])
			plan.links &= !is_header_language(args[++i]) || strcmp(arg, "-x") != 0;
		else if (arg[0] != '-' || !strcmp(arg, "-")) {
			plan.compiles = true;
			plan.links &= !is_header(arg);
		}
		plan.is_static |= !strcmp(arg, "-static") || !strcmp(arg, "-static-pie");
		plan.has_cxx_library |= plan.is_static || !strcmp(arg, "-static-libstdc++");
		is_bare |= IS_ONE_OF(arg, bare);
		has_libc |= !strcmp(arg, "-lc");
	}
	if (is_bare && !has_libc)
		return (struct cc_plan){0};
	plan.links &= plan.compiles;
	return plan;
}

static bool is_clang(const char *compiler)
{
	const char *slash = strrchr(compiler, '/');

	return strstr(slash ? slash + 1 : compiler, "clang") != NULL;
}

/* Append the library at the end, after everything that needs it, and regardless of the language of
 * -x. */
static void add_link_options(const struct cc_command *c, const struct cc_functions *functions,
	struct cc_plan plan, const char **to)
{
	const char *list[] = {functions->define, "-x", "assembler-with-cpp", c->list};
	/* A static program that has a path for libraries does not start (-static-pie). */
	const char *options[] = {"-x", "none", c->search, plan.is_static ? c->search : c->rpath,
		"-Wl,--push-state,--no-as-needed,--whole-archive", "-llimpet-calls-module",
		"-Wl,--no-whole-archive", "-llimpet-calls-left", "-llimpet-calls", "-lpthread",
		"-Wl,--pop-state",
		"-Wl,--wrap=longjmp,--wrap=_longjmp,--wrap=siglongjmp,--wrap=__longjmp_chk",
		"-Wl,--wrap=__cxa_begin_catch"};
	size_t n = ARRAY_SIZE(options);

	/* The library of C++ is linked after these. If it becomes part of the program, its own
	 * calls would not find what catches exceptions. */
	if (plan.has_cxx_library)
		n--;
	if (functions->define) {
		memcpy(to, list, sizeof(list));
		to += ARRAY_SIZE(list);
	}
	memcpy(to, options, n * sizeof(*options));
}

enum { EXTRA = 32 }; /* room for additional arguments and the end */

static int cc_command_fill(struct cc_command *c, char *const *args,
	const struct cc_functions *functions, struct cc_plan plan)
{
	size_t n = 1, to = 0; /* the compiler is the first one */

	while (args[n])
		n++;
	c->args = calloc(n + EXTRA, sizeof(*c->args));
	if (!c->args)
		return -ENOMEM;
	c->args[to++] = args[0];
	if (plan.compiles) {
		/* At the beginning, so that -fno-instrument-functions of the build comes later and
		 * takes effect. */
		c->args[to++] = "-finstrument-functions";
		if (!is_clang(args[0]))
			c->args[to++] = "-finstrument-functions-exclude-file-list=/usr/include,"
					"/usr/lib/gcc";
		if (!is_clang(args[0]) && functions->exclude)
			c->args[to++] = functions->exclude;
	}
	for (size_t i = 1; i < n; i++)
		c->args[to++] = args[i];
	if (plan.links)
		add_link_options(c, functions, plan, c->args + to);
	return 0;
}

int cc_command_make(char *const *args, const char *runtime, const struct cc_functions *functions,
	struct cc_command *ret)
{
	struct cc_command c = {0};
	int r = 0;

	if (asprintf(&c.search, "-L%s", runtime) < 0)
		c.search = NULL;
	if (asprintf(&c.rpath, "-Wl,-rpath,%s", runtime) < 0)
		c.rpath = NULL;
	if (asprintf(&c.list, "%s/calls_list.S", runtime) < 0)
		c.list = NULL;
	r = c.search && c.rpath && c.list ? cc_command_fill(&c, args, functions, cc_plan(args))
					  : -ENOMEM;
	if (r < 0) {
		cc_command_release(&c);
		return r;
	}
	*ret = c;
	return 0;
}

void cc_command_release(struct cc_command *c)
{
	free(c->args);
	free(c->search);
	free(c->rpath);
	free(c->list);
	*c = (struct cc_command){0};
}
