/* Putting events into the ring.
 *
 * The reader looks by itself several times a second and is woken only when much is waiting: a
 * wake-up costs more than the event.
 */
#ifndef TRACE_BPF_EMIT_H
#define TRACE_BPF_EMIT_H

#ifdef __bpf__

#include "trace/bpf/maps.bpf.h"

#define FEW_ARGS 3
#define LOOK_EVERY 64 /* events of a thread between two looks at how full the ring is */

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

/* Tell what was lost, at the place where it is missing: before the next that finds room. */
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

/* Whether this event should wake the reader. */
FORCE_INLINE uint64_t emit_flags(struct bpf_thread *thread)
{
	if (thread && ++thread->emitted % LOOK_EVERY)
		return BPF_RB_NO_WAKEUP;
	if (bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) < settings.wake_bytes)
		return BPF_RB_NO_WAKEUP;
	return BPF_RB_FORCE_WAKEUP;
}

/* An event without text. */
FORCE_INLINE void emit_plain(
	const struct bpf_record *record, const uint64_t args[TRACE_ARGS], struct bpf_thread *thread)
{
	uint64_t now_ns = record->start_ns + record->dur_ns;

	emit_gap(now_ns);
	if (record->n_args <= FEW_ARGS) {
		struct record_few *r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);

		if (!r) {
			emit_lost();
			return;
		}
		r->record = *record;
		r->record.n_args = FEW_ARGS;
		for (int i = 0; i < FEW_ARGS; i++)
			r->args[i] = args[i];
		bpf_ringbuf_submit(r, emit_flags(thread));
	} else {
		struct record_all *r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);

		if (!r) {
			emit_lost();
			return;
		}
		r->record = *record;
		r->record.n_args = TRACE_ARGS;
		for (int i = 0; i < TRACE_ARGS; i++)
			r->args[i] = args[i];
		bpf_ringbuf_submit(r, emit_flags(thread));
	}
}

/* The event in the scratch, with its text. */
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

/* An event of the current thread that is no call. */
FORCE_INLINE void emit_other(struct bpf_record *record, uint64_t arg)
{
	uint64_t args[TRACE_ARGS] = {arg}, id = bpf_get_current_pid_tgid();

	record->pid = id >> 32;
	record->tid = (uint32_t)id;
	record->start_ns = bpf_ktime_get_ns();
	record->seq = __sync_fetch_and_add(&shared.seq, 1);
	record->n_args = 1;
	emit_plain(record, args, NULL);
}

#endif
#endif
