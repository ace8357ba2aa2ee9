/* The catalogue frame: the description of the file, its schemas and its components.
 *
 *     method u8     0 plain, 1 zstd
 *     varint raw bytes, then those bytes (compressed or not):
 *       string meta                 "key=value" lines
 *       varint first schema, varint how many; for each:
 *         string kind, varint columns; for each: string name, string unit, u8 type, u8 bits,
 *         string extra (skipped)
 *       varint how many components; for each:
 *         varint id, varint schema, string observer, string name, string labels, string extra
 *
 * A frame holds new entries, or, from time to time, all of them again, so that one damaged frame
 * does not make all others unreadable.
 */
#ifndef ARCHIVE_CATALOGUE_CODEC_H
#define ARCHIVE_CATALOGUE_CODEC_H

#include "archive/frames.h"
#include "base/strbuf.h"
#include <limpet/archive.h>
#include <limpet/catalogue.h>
#include <stdint.h>

/* The most schemas and components of one file. */
#define CATALOGUE_SCHEMAS_MAX 1024u
#define CATALOGUE_COMPONENTS_MAX (UINT32_C(1) << 20)

/* Append to `out` a payload with schemas and components from the given numbers on. */
int catalogue_encode(struct strbuf *out, const char *meta, const struct lp_catalogue *c,
	uint32_t first_schema, uint32_t first_component);

/* Add a payload's contents to `c`. Entries that cannot be placed yet, because those with smaller
 * numbers are in a frame not seen so far, are counted in `*ret_deferred`: apply the frame again
 * later. `*meta` is replaced by the frame's (the caller frees it). */
int catalogue_decode(const uint8_t *payload, size_t size, struct lp_catalogue *c, char **meta,
	uint32_t *ret_deferred, struct lp_err *err);

/* Is a payload well-formed, and do its meta and all its components belong to `observer`? -EBADMSG
 * or -EPERM if not, with the reason in `err`. */
int catalogue_check_observer(
	const uint8_t *payload, size_t size, const char *observer, struct lp_err *err);

/* "key=value" lines; NULL if there is no memory. */
char *meta_format(const struct lp_archive_meta *meta);

/* The value of `key` in such lines: its start, and its length in `*ret_len`; or NULL. */
const char *meta_find(const char *meta, const char *key, size_t *ret_len);

/* Where damage is reported, and the file's name for that. */
struct meta_warn {
	struct lp_warn *to;
	const char *path;
};

/* Apply all catalogue frames of a file. Damaged ones are reported through `warn` (may be NULL) and
 * skipped (later copies make up for them); `*meta` is the last one's (the caller frees it), or
 * unchanged if there is none. Returns the number of damaged ones, or a negative errno if nothing
 * can be read. */
int meta_load(int fd, const struct frame_list *frames, struct lp_catalogue *catalogue, char **meta,
	const struct meta_warn *warn, struct lp_err *err);

#endif
