#include "detect/compare/measure.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#define X(name) extern const struct measure measure_##name;
#include "detect/compare/measures.inc"
#undef X

const struct measure *const measures[] = {
#define X(name) &measure_##name,
#include "detect/compare/measures.inc"
#undef X
	NULL,
};

const struct measure *measure_find(const char *name)
{
	for (const struct measure *const *m = measures; *m; m++) {
		if (!strcmp((*m)->name, name))
			return *m;
	}
	return NULL;
}

#define ALIGNMENT ((size_t)64)

struct measure_scratch *measure_scratch_new(void)
{
	return calloc(1, sizeof(struct measure_scratch));
}

void measure_scratch_free(struct measure_scratch *s)
{
	if (!s)
		return;
	for (unsigned i = 0; i < SCRATCH_N_BLOCKS; i++)
		free(s->blocks[i]);
	free(s);
}

void *scratch_get(struct measure_scratch *s, enum scratch_block block, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes) ||
		__builtin_add_overflow(bytes, ALIGNMENT, &bytes))
		return NULL;
	bytes -= bytes % ALIGNMENT;
	if (bytes <= s->bytes[block])
		return s->blocks[block];
	free(s->blocks[block]);
	s->bytes[block] = 0;
	s->blocks[block] = aligned_alloc(ALIGNMENT, bytes);
	if (s->blocks[block])
		s->bytes[block] = bytes;
	return s->blocks[block];
}

unsigned scratch_threads(uint32_t n)
{
	return n >= SCRATCH_MANY && !omp_in_parallel() ? (unsigned)omp_get_max_threads() : 1;
}
