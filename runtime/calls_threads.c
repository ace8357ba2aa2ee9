/* Rows of the table for threads. A thread takes one at its first call, and returns it when it
 * ends. */
#include "runtime/calls.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>

static struct call_frame *frames[CALLS_MAX_THREADS]; /* of each row, never freed */
static pthread_key_t key; /* its destructor runs at the end of a thread */

static void give_back(void *thread)
{
	uint32_t row = ((const struct thread *)thread)->row;

	calls_unwind();
	calls_detached();
	if (calls_table)
		__atomic_store_n(&calls_table->threads[row].busy, 0, __ATOMIC_RELEASE);
}

bool calls_prepare_threads(void)
{
	return pthread_key_create(&key, give_back) == 0;
}

static bool take(uint32_t row)
{
	uint32_t no = 0;

	return __atomic_compare_exchange_n(
		&calls_table->threads[row].busy, &no, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* A free row, or CALLS_MAX_THREADS. */
static uint32_t free_row(void)
{
	for (uint32_t row = 0; row < CALLS_MAX_THREADS; row++) {
		if (__atomic_load_n(&calls_table->threads[row].busy, __ATOMIC_RELAXED) == 0 &&
			take(row))
			return row;
	}
	return CALLS_MAX_THREADS;
}

static bool set_up(struct thread *t, uint32_t row)
{
	if (!frames[row]) {
		void *map = mmap(NULL, (MAX_DEPTH + 2) * sizeof(struct call_frame),
			PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (map == MAP_FAILED)
			return false;
		frames[row] = map;
	}
	if (pthread_setspecific(key, t) != 0)
		return false;
	t->frames = frames[row];
	t->row = row;
	t->counters = calls_table->counters[row];
	t->ready = 0;
	calls_frames_clear(t);
	return true;
}

static void use(uint32_t row)
{
	uint32_t n = __atomic_load_n(&calls_table->header.n_threads, __ATOMIC_RELAXED);

	while (n <= row &&
		!__atomic_compare_exchange_n(&calls_table->header.n_threads, &n, row + 1, false,
			__ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

bool calls_attach(struct thread *t)
{
	int saved_errno = errno;
	uint32_t row = free_row();
	bool done = row < CALLS_MAX_THREADS && set_up(t, row);

	if (done)
		use(row);
	else
		__atomic_fetch_add(&calls_table->header.lost_threads, 1, __ATOMIC_RELAXED);
	errno = saved_errno;
	return done;
}
