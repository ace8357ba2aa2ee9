/* The compiled programs are part of this program, so no file is needed at run time. */
#include "trace/backend_bpf.h"

_Alignas(16) const char bpf_programs[] =
#include "trace/bpf/bpf_programs.h"
	;
const size_t bpf_programs_size = sizeof(bpf_programs) - 1;
