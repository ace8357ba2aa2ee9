/* What sanitizers must know about the OpenMP runtime, which is not instrumented. Include it once in
 * each test that starts OpenMP threads. */
#ifndef OPENMP_H
#define OPENMP_H

/* It leaks a little memory when the number of threads changes, which only tests do. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libomp";
}

/* The sanitizer does not see OpenMP's own synchronisation; libarcher, which OpenMP loads by itself,
 * reports it.
 */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
	return "ignore_noninstrumented_modules=1";
}

#endif
