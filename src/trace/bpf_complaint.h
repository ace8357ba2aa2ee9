/* Catches the messages of libbpf, which it would print to standard error. */
#ifndef TRACE_BPF_COMPLAINT_H
#define TRACE_BPF_COMPLAINT_H

/* Start to catch them, and forget earlier ones. With LIMPET_BPF_VERBOSE in the environment they are
 * printed, too. */
void bpf_complaint_listen(void);

/* The first message, which is the most useful; "" if there is none. */
const char *bpf_complaint(void);

#endif
