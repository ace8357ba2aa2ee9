/* Catches the messages that libbpf would print to standard error. */
#ifndef TRACE_BPF_COMPLAINT_H
#define TRACE_BPF_COMPLAINT_H

/* Start to catch them, and forget earlier ones. If LIMPET_BPF_VERBOSE is set in the environment,
 * they are printed as well. */
void bpf_complaint_listen(void);

/* The first message, which is the most useful; "" if there is none. */
const char *bpf_complaint(void);

#endif
