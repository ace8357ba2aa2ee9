/* Ownership helpers: `_cleanup_(fn)` frees at the end of the scope, TAKE_PTR() passes ownership
 * on. */
#ifndef BASE_CLEANUP_H
#define BASE_CLEANUP_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(fn) __attribute__((cleanup(fn)))

/* NOLINTBEGIN(bugprone-macro-parentheses): a type cannot stand in parentheses. */
/* Define `NAMEp(TYPE *p)` that calls `FN(*p)`, as _cleanup_() needs it. */
#define DEFINE_CLEANUP(type, fn)                                                                   \
	static inline void fn##p(type *p)                                                          \
	{                                                                                          \
		fn(*p);                                                                            \
	}                                                                                          \
	struct cleanup_needs_a_semicolon
/* NOLINTEND(bugprone-macro-parentheses) */

#define TAKE_PTR(ptr)                                                                              \
	({                                                                                         \
		__typeof__(ptr) taken_ = (ptr);                                                    \
		(ptr) = NULL;                                                                      \
		taken_;                                                                            \
	})

#define TAKE_FD(fd)                                                                                \
	({                                                                                         \
		int taken_ = (fd);                                                                 \
		(fd) = -1;                                                                         \
		taken_;                                                                            \
	})

static inline void cleanup_freep(void *p)
{
	free(*(void **)p);
}

static inline void cleanup_closep(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void cleanup_fclosep(FILE **f)
{
	if (*f)
		fclose(*f);
}

static inline void cleanup_closedirp(DIR **d)
{
	if (*d)
		closedir(*d);
}

#define _cleanup_free_ _cleanup_(cleanup_freep)
#define _cleanup_close_ _cleanup_(cleanup_closep)
#define _cleanup_fclose_ _cleanup_(cleanup_fclosep)
#define _cleanup_closedir_ _cleanup_(cleanup_closedirp)

#endif
