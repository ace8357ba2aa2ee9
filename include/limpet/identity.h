/* The identity of a component: the observer that measured it, its kind, its name, and its labels.
 *
 * An identity is created where a component first appears, and stays with it from the batch to the
 * report. Only this module composes its text "observer/kind:name"; code that needs a part of it
 * uses the field, and does not parse the text. An identity never changes, so many holders can share
 * it: each has a reference.
 */
#ifndef LIMPET_IDENTITY_H
#define LIMPET_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

struct lp_identity {
	const char *observer; /* "oss3"; "" if unknown */
	const char *kind;     /* "disk" */
	const char *name;     /* "sdb" */
	const char *labels;   /* "key=value" lines, for instance "stable=wwn-0x5000"; "" if none */
	const char *text;     /* "oss3/disk:sdb": printed in reports, and the key for lookups */
};

/* Make an identity. `labels` may be NULL: none. NULL: out of memory. */
struct lp_identity *lp_identity_new(
	const char *observer, const char *kind, const char *name, const char *labels);

/* Make an identity from text that comes from outside (a file, a command line). If the text has
 * another form, it becomes both kind and name, and the observer is "". NULL: out of memory. */
struct lp_identity *lp_identity_parse(const char *text);

/* Take another reference; returns `id`, which may be NULL. */
struct lp_identity *lp_identity_ref(const struct lp_identity *id);
void lp_identity_unref(struct lp_identity *id);

/* Drop the references in an array, and free it. */
void lp_identities_free(struct lp_identity **ids, uint32_t n);

/* Copy the value of label `key` into `buf`; false if there is none. */
bool lp_identity_label(const struct lp_identity *id, const char *key, char *buf, size_t size);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
