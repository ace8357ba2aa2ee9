/* Sentences about calls, processes and servers; findings and notes made of these. */
#ifndef EXPLAIN_SEMANTIC_TELL_H
#define EXPLAIN_SEMANTIC_TELL_H

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "explain/cause.h"
#include "explain/semantic.h"

/* Add a finding about a component, and take ownership of the component. NULL: out of memory. */
struct semantic_finding *tell_accuse(struct semantic *s, struct lp_identity *component,
	const struct cause *cause, double confidence);

/* Add the contents of `sb` as a sentence of a finding, or as a note, and empty it. */
int tell_sentence(struct semantic_finding *f, struct strbuf *sb);
int tell_note(struct semantic *s, struct strbuf *sb);

/* Extend a finding to include these times. */
void tell_extend(struct semantic_finding *f, int64_t first_ns, int64_t last_ns);

/* The component of a server: its program if it is known, else its port. NULL: out of memory. */
struct lp_identity *tell_component(
	const struct traces *t, uint32_t host, uint32_t program, uint16_t port);

DEFINE_CLEANUP(struct lp_identity *, lp_identity_unref);

/* "2026-11-15T15:00:01.250Z" */
void tell_time(struct strbuf *sb, int64_t at_ns);
/* "dd (pid 812) on c1" */
void tell_process(struct strbuf *sb, const struct traces *t, uint32_t process);
/* "pwrite64 on /data/brick/x", "mmap" */
void tell_call(struct strbuf *sb, uint16_t nr, bool compat, const char *name, int32_t fd);
/* The same in words: "write to /data/x", "read from tcp ...", "openat on /data/x" */
void tell_call_to(struct strbuf *sb, uint16_t nr, bool compat, const char *name, int32_t fd);
/* "glusterfsd (pid 812) on s3: pwrite64 on /data/brick/x failed with ENOSPC at ..." */
void tell_failure(struct strbuf *sb, const struct traces *t, const struct traced_failure *f);
/* "thread 813 of glusterfsd (pid 812) on s3 has been in fsync on /data/brick/x since ... (35s)" */
void tell_slow(struct strbuf *sb, const struct traces *t, const struct traced_slow *s);

/* Add a call to those behind a finding: one that failed, one that took long. 0 or -ENOMEM. */
int tell_failed_call(
	struct semantic_finding *f, const struct traces *t, const struct traced_failure *call);
int tell_slow_call(
	struct semantic_finding *f, const struct traces *t, const struct traced_slow *call);

/* The advice about an errno and a signal (0: none) of a process. NULL: out of memory. */
char *tell_advice(
	const struct traces *t, uint32_t process, int error, int signal, const struct cause *cause);

/* The last failure of a process that is not normal, from `from_ns` to `to_ns`; TRACES_NONE:
 * none. */
uint32_t tell_last_failure(const struct traces *t, const struct semantic_options *options,
	uint32_t process, int64_t from_ns, int64_t to_ns);

#endif
