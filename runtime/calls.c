/* The two functions that the compiler calls at the beginning and at the end of every other one. */
#include "runtime/calls.h"

#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

/* Stacks of different threads and coroutines are further apart than this. */
#define SAME_STACK (1U << 20)
/* How much higher the same function may call us from at another time. */
#define SLACK 128

/* Where the stack is in a hook, which is below everything of the function that it is about. */
#define HOOK_SP ((uintptr_t)__builtin_frame_address(0))

static _Thread_local struct thread *self __attribute__((tls_model("initial-exec")));

bool calls_use_tsc;

/* The program may be in the middle of one of our functions when a signal handler calls another:
 * keeps the compiler from moving what must stay in order. */
static inline void in_order(void)
{
	__asm__ volatile("" ::: "memory");
}

uint64_t calls_now(void)
{
	struct timespec now;

#if defined(__x86_64__)
	if (calls_use_tsc)
		return __rdtsc();
#endif
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static inline void count(struct thread *t, uint32_t id, uint64_t self_ticks)
{
	t->counters[id].count++;
	t->counters[id].ticks += self_ticks;
}

/* It has ended: count it, and take its time from that of its caller. */
static inline void finish(struct thread *t, const struct call_frame *frame, uint64_t now)
{
	uint64_t ticks = now - frame->begin;

	count(t, frame->id, ticks > frame->children ? ticks - frame->children : 0);
	if (frame > t->frames)
		t->frames[frame - t->frames - 1].children += ticks;
}

/* Left without a word, by longjmp(): its stack is already above it. */
static inline bool is_stale(const struct call_frame *frame, uintptr_t sp)
{
	return frame->sp + SLACK < sp && sp - frame->sp < SAME_STACK;
}

static inline void drop_stale(struct thread *t, uintptr_t sp, uint64_t now)
{
	while (t->depth > 0 && UNLIKELY(is_stale(&t->frames[t->depth - 1], sp))) {
		finish(t, &t->frames[t->depth - 1], now);
		t->depth--;
	}
}

/* A thread's counters are asked for by the page. */
static bool ready(struct thread *t, uint32_t id)
{
	enum { AT_ONCE = 4096 / sizeof(struct calls_counter) };
	uint32_t end = (id / AT_ONCE + 1) * AT_ONCE;

	if (!calls_reserve(t->counters + t->ready, (end - t->ready) * sizeof(*t->counters)))
		return false;
	t->ready = end;
	return true;
}

/* A function begins that is counted. Apart from the hook, which then needs no frame of its own. */
__attribute__((noinline)) static void enter(
	uintptr_t function, uintptr_t site, uintptr_t sp, uint32_t id)
{
	struct thread *t = self;
	struct call_frame *frame;
	uint32_t depth;
	uint64_t now;

	if (UNLIKELY(!t)) {
		t = self = calls_attach();
		if (!t)
			return;
	}
	if (UNLIKELY(id >= t->ready) && !ready(t, id))
		return;
	now = calls_now();
	drop_stale(t, sp, now);
	if (UNLIKELY(t->depth == MAX_DEPTH)) {
		t->beyond++;
		return;
	}
	/* First the place, then what is in it: a handler that comes now writes above. */
	depth = t->depth++;
	in_order();
	frame = &t->frames[depth];
	frame->function = function;
	frame->site = site;
	frame->sp = sp;
	frame->id = id;
	frame->children = 0;
	frame->begin = now;
	in_order();
}

__attribute__((noinline)) static void enter_unknown(
	uintptr_t function, uintptr_t site, uintptr_t sp)
{
	uint32_t id;

	if (calls_table && calls_find(function, &id) && !calls_off[id])
		enter(function, site, sp, id);
}

HOOK void __cyg_profile_func_enter(void *function, void *site);
HOOK void __cyg_profile_func_enter(void *function, void *site)
{
	uint32_t id = calls_known((uintptr_t)function);

	if (UNLIKELY(!id))
		enter_unknown((uintptr_t)function, (uintptr_t)site, HOOK_SP);
	else if (!calls_off[id - 1])
		enter((uintptr_t)function, (uintptr_t)site, HOOK_SP, id - 1);
}

/* A function ends that is not the last one entered. Those above it were left by longjmp() and have
 * ended, too, but for those of another stack (a coroutine), which go on later. */
static void exit_below(struct thread *t, uintptr_t function, uintptr_t site, uintptr_t sp)
{
	uint64_t now = calls_now();
	uint32_t at = t->depth, kept;

	while (at > 0 && (t->frames[at - 1].function != function || t->frames[at - 1].site != site))
		at--;
	if (at == 0)
		return; /* it was entered before we counted */
	for (uint32_t i = t->depth; i > at; i--) {
		if (is_stale(&t->frames[i - 1], sp + SLACK + 1))
			finish(t, &t->frames[i - 1], now);
	}
	finish(t, &t->frames[at - 1], now);
	kept = at - 1;
	for (uint32_t i = at; i < t->depth; i++) {
		if (!is_stale(&t->frames[i], sp + SLACK + 1))
			t->frames[kept++] = t->frames[i];
	}
	in_order();
	t->depth = kept;
}

/* Below MAX_DEPTH: the calls are counted, their time is their caller's. */
static void exit_beyond(struct thread *t, uintptr_t function)
{
	uint32_t id;

	if (calls_find(function, &id) && !calls_off[id] && id < t->ready) {
		count(t, id, 0);
		t->beyond--;
	}
}

/* Everything but the end of the function that was entered last. */
__attribute__((noinline)) static void exit_otherwise(
	uintptr_t function, uintptr_t site, uintptr_t sp)
{
	struct thread *t = self;
	struct call_frame *top;
	uint32_t id;

	if (!t || !t->depth)
		return;
	top = &t->frames[t->depth - 1];
	if (t->beyond) {
		if (sp < top->sp) {
			exit_beyond(t, function);
			return;
		}
		t->beyond = 0; /* they were left by longjmp() */
	}
	if (top->function == function) {
		finish(t, top, calls_now());
		in_order();
		t->depth--;
	} else if (calls_find(function, &id) && !calls_off[id]) {
		exit_below(t, function, site, sp);
	}
}

/* One that was switched off since it began ends nevertheless. */
HOOK void __cyg_profile_func_exit(void *function, void *site);
HOOK void __cyg_profile_func_exit(void *function, void *site)
{
	uint32_t id = calls_known((uintptr_t)function);
	struct thread *t = self;
	struct call_frame *top;

	if (t && t->depth) {
		top = &t->frames[t->depth - 1];
		if (top->function == (uintptr_t)function && !UNLIKELY(t->beyond)) {
			finish(t, top, calls_now());
			in_order();
			t->depth--;
			return;
		}
	}
	if (!id || !calls_off[id - 1])
		exit_otherwise((uintptr_t)function, (uintptr_t)site, HOOK_SP);
}

void calls_detached(void)
{
	self = NULL;
}

void calls_unwind(void)
{
	struct thread *t = self;
	uint64_t now = calls_now();

	while (t && t->depth > 0) {
		finish(t, &t->frames[t->depth - 1], now);
		t->depth--;
	}
}

void calls_keep_thread(void)
{
	struct thread *t = self;

	if (!t)
		return;
	/* Nothing of the new table was reserved, and the time so far is the parent's. */
	t->ready = 0;
	for (uint32_t i = 0; i < t->depth; i++) {
		if (t->frames[i].id >= t->ready && !ready(t, t->frames[i].id)) {
			self = NULL;
			return;
		}
		t->frames[i].begin = calls_now();
		t->frames[i].children = 0;
	}
	calls_table->threads[t->row].busy = 1;
	calls_table->header.n_threads = t->row + 1;
}
