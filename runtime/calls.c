/* The beginning and the end of a counted function.
 *
 * Both handle the usual case without branches and without a stack frame. Functions that are never
 * inlined handle everything else. */
#include "runtime/calls.h"

#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

/* How much higher the stack pointer may be at another call of the same function. */
#define SLACK 128
/* The same where the stack pointer of a function that continues is known: not at all, unless hooks
 * have frames of different sizes. */
#if defined(__x86_64__)
#define LEFT_SLACK 0
#else
#define LEFT_SLACK SLACK
#endif
/* The stack pointer of a frame that cannot have been left. */
#define NEVER_LEFT (UINTPTR_MAX - SLACK)

#define SLOW __attribute__((noinline, cold))

static struct call_frame nobody = {.sp = NEVER_LEFT};
/* gcc does not keep the TLS model of the declaration. */
_Thread_local struct thread limpet_calls_thread_1
	__attribute__((tls_model("initial-exec"))) = {.top = &nobody};

bool calls_use_tsc;

/* A signal handler may interrupt one of these functions and call another one: this prevents
 * reordering by the compiler. */
static inline void in_order(void)
{
	__asm__ volatile("" ::: "memory");
}

/* Only if calls_use_tsc is set. */
static inline uint64_t tsc(void)
{
#if defined(__x86_64__)
	return __rdtsc();
#else
	return 0;
#endif
}

uint64_t calls_now(void)
{
	struct timespec now;

	if (calls_use_tsc)
		return tsc();
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static inline void count(const struct thread *t, uint32_t id, uint64_t self_ticks)
{
	t->counters[id].count++;
	t->counters[id].ticks += self_ticks;
}

/* A function has ended: count it, and subtract its time from that of its caller. */
static inline void finish(const struct thread *t, struct call_frame *frame, uint64_t now)
{
	uint64_t ticks = now - frame->begin;

	count(t, frame->id, ticks > frame->children ? ticks - frame->children : 0);
	frame[-1].children += ticks;
}

/* Remove the top frame. Until the next one is filled in, it must not look like a frame that was
 * left. */
static inline void pop(struct thread *t, struct call_frame *top)
{
	top->sp = NEVER_LEFT;
	in_order();
	t->top = top - 1;
}

/* First the place, then its contents: an interrupting handler writes above it. */
static inline void push(struct thread *t, uintptr_t function, uintptr_t site, uintptr_t sp,
	uint32_t id, uint64_t now)
{
	struct call_frame *frame = t->top + 1;

	t->top = frame;
	in_order();
	frame->function = function;
	frame->site = site;
	frame->sp = sp;
	frame->id = id;
	frame->children = 0;
	frame->begin = now;
	in_order();
}

/* Was it left by longjmp(), because the stack is already above it? */
static inline bool may_be_stale(const struct call_frame *frame, uintptr_t sp)
{
	return frame->sp + SLACK < sp;
}

static bool is_stale(const struct call_frame *frame, uintptr_t sp)
{
	return may_be_stale(frame, sp) && sp - frame->sp < CALLS_SAME_STACK;
}

/* There are no calls beyond the deepest frame any more. */
static void back_to_deepest(struct thread *t)
{
	t->beyond = 0;
	if (t->top > t->deepest)
		t->top = t->deepest;
}

static void drop_stale(struct thread *t, uintptr_t sp, uint64_t now)
{
	if (t->beyond && is_stale(t->deepest, sp))
		back_to_deepest(t);
	while (is_stale(t->top, sp)) {
		finish(t, t->top, now);
		pop(t, t->top);
	}
}

/* The counters of a thread are reserved page by page. */
static bool ready(struct thread *t, uint32_t id)
{
	enum { AT_ONCE = 4096 / sizeof(struct calls_counter) };
	uint32_t end = (id / AT_ONCE + 1) * AT_ONCE;

	if (!calls_reserve(t->counters + t->ready, (end - t->ready) * sizeof(*t->counters)))
		return false;
	t->ready = end;
	return true;
}

/* Above MAX_DEPTH frames there is one without a function, which never matches the end of a
 * function. */
static void go_beyond(struct thread *t)
{
	if (t->beyond++ == 0) {
		t->deepest[1].function = 0;
		t->deepest[1].sp = NEVER_LEFT;
		t->top = t->deepest + 1;
	}
}

/* The beginning of a function, in all other cases. */
SLOW static void enter_anyhow(uintptr_t function, uintptr_t site, uintptr_t sp, uint32_t known)
{
	struct thread *t = &limpet_calls_thread_1;
	uint32_t id = known - 1;
	uint64_t now;

	if (!known && (!calls_table || !calls_find(function, &id) || limpet_calls_off_1[id]))
		return;
	if (!t->frames && !calls_attach(t))
		return;
	if (id >= t->ready && !ready(t, id))
		return;
	now = calls_now();
	drop_stale(t, sp, now);
	if (t->top >= t->deepest)
		go_beyond(t);
	else
		push(t, function, site, sp, id, now);
}

void limpet_calls_enter_1(uintptr_t function, uintptr_t site, uintptr_t sp, uint32_t id)
{
	struct thread *t = &limpet_calls_thread_1;

	/* 0 - 1 is larger than any number. */
	if (UNLIKELY(id - 1 >= t->ready) || UNLIKELY(!calls_use_tsc) ||
		UNLIKELY(may_be_stale(t->top, sp)) || UNLIKELY(t->top >= t->deepest)) {
		enter_anyhow(function, site, sp, id);
		return;
	}
	push(t, function, site, sp, id - 1, tsc());
}

/* The end of a function that is not the last one entered. Those above it were left by longjmp() and
 * have ended, too, except for those on another stack (a coroutine), which continue later. */
static void exit_below(struct thread *t, uintptr_t function, uintptr_t site, uintptr_t sp)
{
	struct call_frame *at = t->top, *kept;
	uint64_t now = calls_now();

	while (at > t->frames && (at->function != function || at->site != site))
		at--;
	if (at == t->frames)
		return; /* it began before counting did */
	for (struct call_frame *f = t->top; f > at; f--) {
		if (is_stale(f, sp + SLACK + 1))
			finish(t, f, now);
	}
	finish(t, at, now);
	kept = at;
	for (struct call_frame *f = at + 1; f <= t->top; f++) {
		if (!is_stale(f, sp + SLACK + 1))
			*kept++ = *f;
	}
	in_order();
	t->top = kept - 1;
}

/* Beyond MAX_DEPTH calls are counted, but their time belongs to their caller. */
static void exit_beyond(struct thread *t, uintptr_t function)
{
	uint32_t id;

	if (!calls_find(function, &id) || limpet_calls_off_1[id] || id >= t->ready)
		return;
	count(t, id, 0);
	if (--t->beyond == 0)
		back_to_deepest(t);
}

/* Handles all ends except for that of the last function, and that one, too, with another clock. */
SLOW static void exit_otherwise(uintptr_t function, uintptr_t site, uintptr_t sp)
{
	struct thread *t = &limpet_calls_thread_1;
	uint32_t id;

	if (t->top == t->frames || !t->frames)
		return;
	if (t->beyond) {
		if (sp < t->deepest->sp) {
			exit_beyond(t, function);
			return;
		}
		back_to_deepest(t); /* they were left by longjmp() */
	}
	if (t->top->function == function) {
		finish(t, t->top, calls_now());
		pop(t, t->top);
	} else if (calls_find(function, &id) && !limpet_calls_off_1[id]) {
		exit_below(t, function, site, sp);
	}
}

void limpet_calls_exit_1(uintptr_t function, uintptr_t site, uintptr_t sp)
{
	struct thread *t = &limpet_calls_thread_1;
	struct call_frame *top = t->top;

	if (UNLIKELY(top->function != function) || UNLIKELY(!calls_use_tsc)) {
		exit_otherwise(function, site, sp);
		return;
	}
	finish(t, top, tsc());
	pop(t, top);
}

/* Is it the frame of a function that was left, and are the frames from here to the function that
 * continues on the same stack? */
static bool are_left(const struct call_frame *frame, uintptr_t sp)
{
	if (frame->sp >= sp)
		return false;
	for (; frame[-1].sp < sp; frame--) {
		uintptr_t up = frame[-1].sp - frame->sp, down = frame->sp - frame[-1].sp;

		if (up >= CALLS_SAME_STACK && down >= CALLS_SAME_STACK)
			return false;
	}
	return sp - frame->sp < CALLS_SAME_STACK;
}

void limpet_calls_left_1(uintptr_t sp)
{
	struct thread *t = &limpet_calls_thread_1;
	uint64_t now;

	sp -= LEFT_SLACK;
	if (!t->frames || !are_left(t->beyond ? t->deepest : t->top, sp))
		return;
	now = calls_now();
	back_to_deepest(t);
	while (t->top->sp < sp) {
		finish(t, t->top, now);
		pop(t, t->top);
	}
}

/* A signal handler in the middle of this finds a thread that has no counters ready, and no row. */
void calls_detached(void)
{
	struct thread *t = &limpet_calls_thread_1;

	t->ready = 0;
	in_order();
	t->frames = NULL;
	in_order();
	*t = (struct thread){.top = &nobody};
}

void calls_frames_clear(struct thread *t)
{
	t->frames[0] = nobody;
	t->top = t->frames;
	t->deepest = t->frames + MAX_DEPTH;
	t->beyond = 0;
}

void calls_unwind(void)
{
	struct thread *t = &limpet_calls_thread_1;
	uint64_t now = calls_now();

	if (!t->frames)
		return;
	back_to_deepest(t);
	while (t->top > t->frames) {
		finish(t, t->top, now);
		pop(t, t->top);
	}
}

void calls_keep_thread(void)
{
	struct thread *t = &limpet_calls_thread_1;

	if (!t->frames)
		return;
	/* No memory of the new table is reserved, and the time so far belongs to the parent. */
	t->ready = 0;
	for (struct call_frame *f = t->frames + 1; f <= t->top; f++) {
		if (f->id >= t->ready && !ready(t, f->id)) {
			calls_detached();
			return;
		}
		f->begin = calls_now();
		f->children = 0;
	}
	calls_table->threads[t->row].busy = 1;
	calls_table->header.n_threads = t->row + 1;
}
