/* Who a component is: the observer that measured it, its kind, its name, and its labels.
 *
 * An identity is made where a component is first heard of and goes with it, as it is, from the
 * batch to the report. Its text "observer/kind:name" is made here and nowhere else; who wants a
 * part of it takes the field, and does not search the text. An identity never changes, so many may
 * share it: each holder has a reference.
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
	const char *observer; /* "oss3"; "" if none is known */
	const char *kind;     /* "disk" */
	const char *name;     /* "sdb" */
	const char *labels;   /* "key=value" lines, for instance "stable=wwn-0x5000"; "" if none */
	const char *text;     /* "oss3/disk:sdb": how it is printed, and what it is found by */
};

/* `labels` may be NULL: none. NULL: out of memory. */
struct lp_identity *lp_identity_new(
	const char *observer, const char *kind, const char *name, const char *labels);

/* Of text that comes from outside (a file, a command line). Text of another form is a kind and a
 * name of that text, and its observer is "". NULL: out of memory. */
struct lp_identity *lp_identity_parse(const char *text);

/* One more reference; returns `id`, which may be NULL. */
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
