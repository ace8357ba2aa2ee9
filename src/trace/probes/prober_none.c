/* limpet was built without BPF. */
#include "trace/probes/prober.h"

#include <errno.h>

#define NAME(name, whose) [FUNCTIONS_TP_##name] = #name,
const char *const prober_tracepoints[FUNCTIONS_FIRST] = {FUNCTIONS_TRACEPOINTS(NAME)};

int prober_open(
	uint32_t n, bool tracepoints, uint64_t netns, struct prober **ret, struct lp_err *err)
{
	(void)n;
	(void)tracepoints;
	(void)netns;
	(void)ret;
	return lp_err_set(err, -EOPNOTSUPP,
		"limpet was built without BPF, which needs libbpf and clang (meson "
		"-Dtrace=enabled says what is missing)");
}

void prober_close(struct prober *p)
{
	(void)p;
}

int prober_add_tracepoint(struct prober *p, uint32_t at)
{
	(void)p;
	(void)at;
	return -EOPNOTSUPP;
}

int prober_add_function(struct prober *p, uint32_t at, const struct prober_place *place)
{
	(void)p;
	(void)at;
	(void)place;
	return -EOPNOTSUPP;
}

int prober_add_kernel(struct prober *p, uint32_t at, const char *function)
{
	(void)p;
	(void)at;
	(void)function;
	return -EOPNOTSUPP;
}

size_t prober_trampolines(const struct prober *p)
{
	(void)p;
	return 0;
}

void prober_remove(struct prober *p, uint32_t at)
{
	(void)p;
	(void)at;
}

struct functions_counter prober_count(const struct prober *p, uint32_t at)
{
	(void)p;
	(void)at;
	return (struct functions_counter){0};
}
