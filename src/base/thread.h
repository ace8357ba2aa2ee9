/* Starts threads. */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <pthread.h>

/* pthread_create() with all signals blocked in the new thread: only the main thread handles
 * signals. 0 or a negative errno. */
int thread_start(pthread_t *ret_thread, void *(*fn)(void *arg), void *arg);

#endif
