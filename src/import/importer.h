/* The shape of an importer: one file in this folder and one line in meson.build. */
#ifndef IMPORT_IMPORTER_H
#define IMPORT_IMPORTER_H

#include "base/option.h"
#include <limpet/source.h>

/* How sure an importer is that a file is its own. */
enum import_match {
	IMPORT_NO = 0,
	IMPORT_MAYBE = 1, /* nothing speaks against it (any text may be CSV) */
	IMPORT_YES = 2,	  /* its magic number is there */
};

struct importer {
	const char *name; /* "sysstat": what the user types */
	const char *summary;
	const char *description;	  /* paragraphs for the manual */
	const struct option_def *options; /* NULL-terminated by a row without a name; may be NULL */
	size_t options_size;		  /* bytes of the struct that the options fill, zeroed */

	/* What the addresses of remote sources begin with ("prometheus+http://"), ended by NULL;
	 * NULL if the importer reads files. `path` is then the whole address, `select` always has a
	 * beginning and, unless it follows, an end, and only lives as long as the call. */
	const char *const *schemes;

	/* What is put behind a name that is no file to make one (".meta"): for data that consists
	 * of several files with one name. NULL: nothing. */
	const char *base_suffix;

	/* Which side of its peers is worse in the metrics of a source, as meanings_format() writes
	 * it, for what the names of metrics do not say; NULL: nothing. The text is the source's.
	 * May be NULL. */
	const char *(*worse)(const struct lp_source *source);

	/* Judge a file by its first bytes (`n` of them, fewer only if the file is shorter) and its
	 * path. NULL if the importer reads no files. */
	enum import_match (*probe)(const char *path, const unsigned char *head, size_t n);

	/* Open a file as a source. `options` is the struct of `options_size` bytes, or NULL for the
	 * defaults. `select` and what it points to outlive the source; it may be NULL. */
	int (*open)(const char *path, const void *options, const struct lp_select *select,
		struct lp_warn *warn, struct lp_source **ret_source, struct lp_err *err);

	/* Sources are watched while time passes: several are watched at once. */
	bool live;
};

/* All importers, NULL-terminated, in the order of meson.build. */
extern const struct importer *const importers[];

/* The importer of that name, or NULL. */
const struct importer *importer_find(const char *name);

/* The interval that was meant, where times between samples are this on the whole: tools come a few
 * milliseconds early or late, and are configured in whole seconds, or parts of one. */
int64_t importer_interval(int64_t typical_us);

/* Is this the address of something rather than a path: "scheme://..."? */
bool importer_is_address(const char *path);

/* The importer of the remote source with that address. NULL: there is none, and `err` says which
 * schemes there are. */
const struct importer *importer_find_address(const char *path, struct lp_err *err);

#endif
