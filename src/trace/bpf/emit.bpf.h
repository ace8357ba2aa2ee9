/* Writes events to the ring.
 *
 * The reader polls several times per second, and is woken only when much data is waiting: a wake-up
 * costs more than the event.
 */
#ifndef TRACE_BPF_EMIT_H
#define TRACE_BPF_EMIT_H

#ifdef __bpf__

#include "trace/bpf/maps.bpf.h"

#define FEW_ARGS 3
#define LOOK_EVERY 64 /* events of a thread between two checks of the ring */

struct record_bare {
	struct bpf_record record;
};

struct record_few {
	struct bpf_record record;
	uint64_t args[FEW_ARGS];
};

struct record_all {
	struct bpf_record record;
	uint64_t args[TRACE_ARGS];
};

FORCE_INLINE void emit_lost(void)
{
	__sync_fetch_and_add(&shared.lost, 1);
	__sync_fetch_and_add(&shared.lost_unsaid, 1);
}

/* Report lost events at the place where they are missing: before the next event that fits. */
FORCE_INLINE void emit_gap(uint64_t now_ns)
{
	struct record_bare *r;

	if (!*(volatile uint64_t *)&shared.lost_unsaid)
		return;
	r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);
	if (!r)
		return;
	__builtin_memset(r, 0, sizeof(*r));
	r->record.what = TRACE_LOST;
	r->record.start_ns = now_ns;
	r->record.ret = (int64_t)__sync_lock_test_and_set(&shared.lost_unsaid, 0);
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
}

/* Should this event wake the reader? */
FORCE_INLINE uint64_t emit_flags(struct bpf_thread *thread)
{
	if (thread && ++thread->emitted % LOOK_EVERY)
		return BPF_RB_NO_WAKEUP;
	if (bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) < settings.wake_bytes)
		return BPF_RB_NO_WAKEUP;
	return BPF_RB_FORCE_WAKEUP;
}

/* Write an event without text. One copying call is cheaper than to reserve, fill in and submit. */
FORCE_INLINE void emit_plain(struct record_all *r, struct bpf_thread *thread)
{
	emit_gap(r->record.start_ns + r->record.dur_ns);
	r->record.n_args = r->record.n_args <= FEW_ARGS ? FEW_ARGS : TRACE_ARGS;
	if (bpf_ringbuf_output(&ring, r,
		    r->record.n_args == FEW_ARGS ? sizeof(struct record_few) : sizeof(*r),
		    emit_flags(thread)))
		emit_lost();
}

/* Write the event in the scratch, with its text. */
FORCE_INLINE void emit_text(struct scratch *s, struct bpf_thread *thread)
{
	uint32_t len = s->record.text_len;

	if (len > TRACE_TEXT_MAX)
		len = TRACE_TEXT_MAX;
	emit_gap(s->record.start_ns + s->record.dur_ns);
	if (bpf_ringbuf_output(
		    &ring, s, __builtin_offsetof(struct scratch, text) + len, emit_flags(thread)))
		emit_lost();
}

FORCE_INLINE struct scratch *scratch_get(void)
{
	uint32_t zero = 0;

	return bpf_map_lookup_elem(&scratches, &zero);
}

/* An event of the current thread that is not a call. */
FORCE_INLINE void emit_other(unsigned what, uint16_t nr, int64_t ret, uint64_t arg)
{
	uint64_t id = bpf_get_current_pid_tgid();
	struct record_all r = {};

	r.record.what = (uint8_t)what;
	r.record.nr = nr;
	r.record.ret = ret;
	r.record.pid = id >> 32;
	r.record.tid = (uint32_t)id;
	r.record.start_ns = bpf_ktime_get_ns();
	r.record.seq = __sync_fetch_and_add(&shared.seq, 1);
	r.args[0] = arg;
	emit_plain(&r, NULL);
}

#endif
#endif
