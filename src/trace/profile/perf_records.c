#include "trace/profile/perf_records.h"

#include <linux/perf_event.h>
#include <string.h>

/* The rest of a record. */
struct cursor {
	unsigned char *at, *end;
};

static uint64_t take(struct cursor *c, size_t size)
{
	uint64_t value = 0;

	if ((size_t)(c->end - c->at) < size) {
		c->at = c->end;
		return 0;
	}
	memcpy(&value, c->at, size); /* little-endian on all supported machines */
	c->at += size;
	return value;
}

/* The rest of a record as a text; NULL if it is empty. */
static const char *take_text(struct cursor *c)
{
	if (c->at >= c->end)
		return NULL;
	c->end[-1] = '\0';
	return (const char *)c->at;
}

/* Addresses with marks for the context of the following ones. */
static void stack_decode(struct cursor *c, struct perf_sample *s)
{
	uint64_t n = take(c, 8);
	bool kernel = false;

	while (n-- && c->at < c->end && s->n_stack < SAMPLER_STACK_MAX) {
		uint64_t address = take(c, 8);

		if (address >= (uint64_t)PERF_CONTEXT_MAX) {
			kernel = address == (uint64_t)PERF_CONTEXT_KERNEL;
			continue;
		}
		s->stack[s->n_stack++] = address;
		s->n_kernel_stack += kernel;
	}
}

static void sample_decode(struct cursor *c, bool stacks, struct perf_record *r)
{
	if (c->end - c->at < 16)
		return;
	r->what = PERF_SAW_SAMPLE;
	r->sample.address = take(c, 8);
	r->sample.pid = r->pid = (int)take(c, 4);
	r->tid = (int)take(c, 4);
	if (stacks)
		stack_decode(c, &r->sample);
}

static void mapping_decode(struct cursor *c, struct perf_record *r)
{
	uint64_t size;

	r->pid = (int)take(c, 4);
	r->tid = (int)take(c, 4);
	r->start = take(c, 8);
	size = take(c, 8);
	r->offset = take(c, 8);
	take(c, 8); /* the device */
	r->inode = take(c, 8);
	take(c, 8); /* the inode's generation */
	take(c, 8); /* protection and flags */
	r->path = take_text(c);
	r->end = r->start + size;
	if (r->path && r->end > r->start)
		r->what = PERF_SAW_MAPPING;
}

static void comm_decode(struct cursor *c, uint16_t misc, struct perf_record *r)
{
	r->pid = (int)take(c, 4);
	r->tid = (int)take(c, 4);
	r->path = take_text(c);
	r->executed = misc & PERF_RECORD_MISC_COMM_EXEC;
	if (r->path)
		r->what = PERF_SAW_COMM;
}

static void fork_decode(struct cursor *c, struct perf_record *r)
{
	if (c->end - c->at < 16)
		return;
	r->what = PERF_SAW_FORK;
	r->pid = (int)take(c, 4);
	r->parent = (int)take(c, 4);
	r->tid = (int)take(c, 4);
}

void perf_record_decode(void *bytes, size_t size, bool stacks, struct perf_record *ret)
{
	struct perf_event_header h;
	struct cursor c = {bytes, (unsigned char *)bytes + size};

	*ret = (struct perf_record){.path = ""};
	if (size < sizeof(h))
		return;
	memcpy(&h, bytes, sizeof(h));
	c.at += sizeof(h);
	switch (h.type) {
	case PERF_RECORD_SAMPLE:
		sample_decode(&c, stacks, ret);
		break;
	case PERF_RECORD_LOST:
		take(&c, 8); /* the id of the event */
		ret->n = take(&c, 8);
		ret->what = PERF_SAW_LOST;
		break;
	case PERF_RECORD_COMM:
		comm_decode(&c, h.misc, ret);
		break;
	case PERF_RECORD_FORK:
		fork_decode(&c, ret);
		break;
	case PERF_RECORD_MMAP2:
		mapping_decode(&c, ret);
		break;
	default:
		break;
	}
	if (!ret->path)
		ret->path = "";
}
