#include "trace/bpf_complaint.h"

#include <bpf/libbpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char complaint[256];

__attribute__((format(printf, 2, 0))) static int listen_to_libbpf(
	enum libbpf_print_level level, const char *fmt, va_list args)
{
	if (getenv("LIMPET_BPF_VERBOSE"))
		return vfprintf(stderr, fmt, args);
	if (level == LIBBPF_WARN && !complaint[0]) {
		vsnprintf(complaint, sizeof(complaint), fmt, args);
		complaint[strcspn(complaint, "\n")] = 0;
	}
	return 0;
}

void bpf_complaint_listen(void)
{
	complaint[0] = 0;
	libbpf_set_print(listen_to_libbpf);
}

const char *bpf_complaint(void)
{
	return complaint;
}
