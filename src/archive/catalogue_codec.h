/* The catalogue frame: what the file says about itself, its schemas and its components.
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
 * A frame holds what is new, or, now and then, everything once more: so that one damaged frame does
 * not take the meaning of all others with it.
 */
#ifndef ARCHIVE_CATALOGUE_CODEC_H
#define ARCHIVE_CATALOGUE_CODEC_H

#include "base/strbuf.h"
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

#endif
