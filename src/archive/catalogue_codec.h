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
 * A frame contains new entries. From time to time it contains all of them again, so that one
 * damaged frame does not make all others unreadable.
 */
#ifndef ARCHIVE_CATALOGUE_CODEC_H
#define ARCHIVE_CATALOGUE_CODEC_H

#include "archive/frames.h"
#include "base/strbuf.h"
#include <limpet/archive.h>
#include <limpet/catalogue.h>
#include <stdint.h>

/* The maximum numbers of schemas and components in one file. */
#define CATALOGUE_SCHEMAS_MAX 1024u
#define CATALOGUE_COMPONENTS_MAX (UINT32_C(1) << 20)

/* Append to `out` a payload with schemas and components from the given numbers on. */
int catalogue_encode(struct strbuf *out, const char *meta, const struct lp_catalogue *c,
	uint32_t first_schema, uint32_t first_component);

/* Add the contents of a payload to `c`. Entries that cannot be added yet, because a later frame has
 * those with smaller numbers, are counted in `*ret_deferred`: apply the frame again later. Replaces
 * `*meta` by that of the frame (the caller frees it). */
int catalogue_decode(const uint8_t *payload, size_t size, struct lp_catalogue *c, char **meta,
	uint32_t *ret_deferred, struct lp_err *err);

/* Is a payload well-formed, and do its meta and all its components belong to `observer`? If not,
 * -EBADMSG or -EPERM, and `err` has the reason. */
int catalogue_check_observer(
	const uint8_t *payload, size_t size, const char *observer, struct lp_err *err);

/* "key=value" lines; NULL: out of memory. */
char *meta_format(const struct lp_archive_meta *meta);

/* The value of `key` in such lines: its start, and its length in `*ret_len`; or NULL. */
const char *meta_find(const char *meta, const char *key, size_t *ret_len);

/* Where to report damage, and the name of the file. */
struct meta_warn {
	struct lp_warn *to;
	const char *path;
};

/* Apply all catalogue frames of a file. Damaged frames are reported through `warn` (may be NULL)
 * and skipped; later copies replace them. `*meta` is that of the last frame (the caller frees it),
 * or unchanged if there are none. Returns the number of damaged frames, or a negative errno if the
 * file cannot be read. */
int meta_load(int fd, const struct frame_list *frames, struct lp_catalogue *catalogue, char **meta,
	const struct meta_warn *warn, struct lp_err *err);

#endif
