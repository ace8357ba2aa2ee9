/* Marks in a program: the parts that `limpet stack run` shows separately.
 *
 *     lp_region mark = lp_region_begin("checkpoint");
 *     ...
 *     lp_region_end(mark);
 *
 * The program needs no library for them: if it is not traced, they do nothing. Regions may nest; a
 * region must end in the thread in which it began.
 */
#ifndef LIMPET_REGION_H
#define LIMPET_REGION_H

#ifdef __cplusplus
extern "C" {
#endif

/* Defined by the library that is loaded into a traced program. */
void *limpet_region_begin(const char *name) __attribute__((weak));
void limpet_region_end(void *mark) __attribute__((weak));

typedef void *lp_region;

static inline lp_region lp_region_begin(const char *name)
{
	return limpet_region_begin ? limpet_region_begin(name) : (lp_region)0;
}

static inline void lp_region_end(lp_region mark)
{
	if (limpet_region_end)
		limpet_region_end(mark);
}

#ifdef __cplusplus
}
#endif

#endif
