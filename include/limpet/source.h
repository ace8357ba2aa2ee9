/* A source: something that can be read as batches. Archives are sources, and so are all foreign
 * formats that an importer knows. Readers do not distinguish between them.
 */
#ifndef LIMPET_SOURCE_H
#define LIMPET_SOURCE_H

#include <limpet/batch.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/* The data that a reader wants. Members that are 0 or NULL select everything. Sources use it to
 * skip work. They may return more times and components than selected, but never other columns. */
struct lp_select {
	int64_t from_us, to_us; /* samples with from_us <= wall_us < to_us; to_us 0: no end */
	/* Is this component wanted? Asked once for each component. */
	bool (*component)(void *ctx, const struct lp_catalogue *c, uint32_t id);
	/* Is this column wanted? Asked once for each column of each schema. */
	bool (*column)(void *ctx, const struct lp_schema *s, uint32_t column);
	void *ctx;
	/* Wait for appended data: at its current end, a source that may still grow returns -EAGAIN
	 * from next() instead of 0. Sources that cannot grow ignore it. */
	bool follow;
};

struct lp_source;

struct lp_source_ops {
	/* The next batch in file order. Returns 1 and a batch that the source owns and that is
	 * valid until the next call, 0 at the end, or a negative errno. A source may report damage
	 * with lp_warn_raise() and continue with the intact data. -EAGAIN (only if the reader
	 * follows): there is no data yet, and `err` is not set; call again later. */
	int (*next)(struct lp_source *s, struct lp_batch **ret_batch, struct lp_err *err);
	void (*close)(struct lp_source *s);
};

/* The first member of every source's own struct. */
struct lp_source {
	const struct lp_source_ops *ops;
	struct lp_catalogue *catalogue; /* grows while batches are read */
	char *path;
	int64_t interval_us; /* nominal time between samples, 0 if unknown */
	/* Wall-clock span of the data if it is known before reading, else 0, 0. */
	int64_t first_us, last_us;
};

/* Convenience wrappers; lp_source_close() accepts NULL. */
int lp_source_next(struct lp_source *s, struct lp_batch **ret_batch, struct lp_err *err);
void lp_source_close(struct lp_source *s);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
