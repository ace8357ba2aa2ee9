/* What sanitizers must know about the OpenMP runtime, which is not instrumented. Included once by
 * each test that starts its threads. */
#ifndef OPENMP_H
#define OPENMP_H

/* It loses a little memory when the number of threads changes, as only tests do. */
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
