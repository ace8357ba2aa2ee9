#include "trace/bpf_section.h"

#include <bpf/libbpf.h>
#include <string.h>

struct bpf_map *bpf_section(const struct bpf_object *o, const char *suffix)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, o)
	{
		const char *dot = strrchr(bpf_map__name(map), '.');

		if (dot && !strcmp(dot, suffix))
			return map;
	}
	return NULL;
}
