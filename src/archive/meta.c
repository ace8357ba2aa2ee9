#include "archive/meta.h"

#include "archive/catalogue_codec.h"
#include "base/cleanup.h"
#include "base/strbuf.h"
#include <errno.h>
#include <inttypes.h>
#include <string.h>

char *meta_format(const struct lp_archive_meta *meta)
{
	struct strbuf sb = {0};

	strbuf_printf(&sb, "observer=%s\ninterval_us=%" PRId64 "\nlimpet=%s\n", meta->observer,
		meta->interval_us, LIMPET_VERSION);
	if (meta->extra)
		strbuf_puts(&sb, meta->extra);
	return strbuf_take(&sb);
}

const char *meta_find(const char *meta, const char *key, size_t *ret_len)
{
	size_t len = strlen(key);

	for (const char *line = meta; line && *line;) {
		size_t line_len = strcspn(line, "\n");

		if (line_len > len && !strncmp(line, key, len) && line[len] == '=') {
			*ret_len = line_len - len - 1;
			return line + len + 1;
		}
		line += line_len + (line[line_len] == '\n');
	}
	return NULL;
}

/* Apply the catalogue frames once, in file order; returns how many are damaged. */
static int meta_pass(int fd, const struct frame_list *frames, struct lp_catalogue *catalogue,
	char **meta, const struct meta_warn *warn, uint32_t *ret_deferred, struct lp_err *err)
{
	int damaged = 0;

	*ret_deferred = 0;
	for (size_t i = 0; i < frames->n; i++) {
		_cleanup_free_ uint8_t *payload = NULL;
		const struct frame *f = &frames->items[i];
		uint32_t deferred = 0;
		int r;

		if (f->type != FRAME_CATALOGUE)
			continue;
		r = frame_read(fd, f, &payload, err);
		if (r == 0)
			r = catalogue_decode(
				payload, f->payload_size, catalogue, meta, &deferred, err);
		if (r < 0 && r != -EBADMSG)
			return r;
		if (r < 0 && warn)
			lp_warn_raise(warn->to,
				"%s: the catalogue at byte %" PRIu64 " is damaged: %s", warn->path,
				f->offset, err->text);
		damaged += r < 0;
		*ret_deferred += deferred;
	}
	return damaged;
}

int meta_load(int fd, const struct frame_list *frames, struct lp_catalogue *catalogue, char **meta,
	const struct meta_warn *warn, struct lp_err *err)
{
	uint32_t deferred;
	int r = meta_pass(fd, frames, catalogue, meta, warn, &deferred, err);

	/* Entries had to wait for a copy of what a damaged frame held. Copies are whole: if a
	 * second pass does not place them, no third one will. */
	if (r >= 0 && deferred)
		r = meta_pass(fd, frames, catalogue, meta, NULL, &deferred, err);
	if (r >= 0 && deferred && warn)
		lp_warn_raise(warn->to,
			"%s: %u entries of the catalogue cannot be placed, as others are lost",
			warn->path, deferred);
	return r < 0 ? r : r + (deferred > 0);
}
