/* The compiled programs, as part of ours: there is no file to find at run time. */
#include "trace/backend_bpf.h"

_Alignas(16) const char bpf_programs[] =
#include "trace/bpf/bpf_programs.h"
	;
const size_t bpf_programs_size = sizeof(bpf_programs) - 1;
