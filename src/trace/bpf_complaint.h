/* What libbpf says when something is wrong. It would print it to standard error. */
#ifndef TRACE_BPF_COMPLAINT_H
#define TRACE_BPF_COMPLAINT_H

/* Listen from now on, and forget what was heard. With LIMPET_BPF_VERBOSE in the environment it
 * prints all the same. */
void bpf_complaint_listen(void);

/* The first thing that it complained of, which says most; "" if of nothing. */
const char *bpf_complaint(void);

#endif
