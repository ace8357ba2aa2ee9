/* Included before each file that clang-tidy reads, never by a build. The analyser sees one file at
 * a time and so cannot know that the functions of err.c return what they are given, and that it is
 * negative: it would follow every `return lp_err_set(...)` as if it were a success.
 */
#include <errno.h>
#include <limpet/err.h>

static inline int analyser_negative(int code)
{
	if (code >= 0)
		__builtin_unreachable();
	return code;
}

#define lp_err_set(err, code, ...)                                                                 \
	((void)(lp_err_set)(err, code, __VA_ARGS__), analyser_negative(code))
#define lp_err_sys(err, code, ...)                                                                 \
	((void)(lp_err_sys)(err, code, __VA_ARGS__), analyser_negative(code))
#define lp_err_prefix(err, ...) analyser_negative((lp_err_prefix)(err, __VA_ARGS__))
