/* The interface of an importer: one file in this folder and one line in meson.build. */
#ifndef IMPORT_IMPORTER_H
#define IMPORT_IMPORTER_H

#include "base/option.h"
#include <limpet/source.h>

/* How certain an importer is that a file has its format. */
enum import_match {
	IMPORT_NO = 0,
	IMPORT_MAYBE = 1, /* possible (any text may be CSV) */
	IMPORT_YES = 2,	  /* its magic number is present */
};

struct importer {
	const char *name; /* "sysstat": what the user types */
	const char *summary;
	const char *description;	  /* paragraphs for the manual */
	const struct option_def *options; /* NULL-terminated by a row without a name; may be NULL */
	size_t options_size;		  /* size of the struct that the options fill, zeroed */

	/* Prefixes of the addresses of remote sources ("prometheus+http://"), ended by NULL; NULL:
	 * the importer reads files. For remote sources `path` is the whole address. `select` always
	 * has a beginning and, unless it follows, an end; it is valid during the call only. */
	const char *const *schemes;

	/* For data that consists of several files with a common name: the suffix that turns this
	 * name into a file name (".meta"). NULL: none. */
	const char *base_suffix;

	/* Which side of the peers is worse, in the form of meanings_format(), for metrics with
	 * names that do not show it; NULL: none. The source owns the text. May be NULL. */
	const char *(*worse)(const struct lp_source *source);

	/* Judge a file by its first bytes (`n` bytes, or fewer if the file is shorter) and its
	 * path. NULL if the importer reads no files. */
	enum import_match (*probe)(const char *path, const unsigned char *head, size_t n);

	/* Open a file as a source. `options` is the struct of `options_size` bytes, or NULL for the
	 * defaults. `select` (may be NULL) and everything it points to must outlive the source. */
	int (*open)(const char *path, const void *options, const struct lp_select *select,
		struct lp_warn *warn, struct lp_source **ret_source, struct lp_err *err);

	/* Live sources: several are watched at the same time. */
	bool live;
};

/* All importers, NULL-terminated, in the order of meson.build. */
extern const struct importer *const importers[];

/* The importer with this name, or NULL. */
const struct importer *importer_find(const char *name);

/* The configured interval, from the typical time between samples. Tools are a few milliseconds
 * early or late, and are configured in whole seconds or simple fractions. */
int64_t importer_interval(int64_t typical_us);

/* Is this an address rather than a path: "scheme://..."? */
bool importer_is_address(const char *path);

/* The importer for the address of a remote source. NULL: none; `err` lists the schemes. */
const struct importer *importer_find_address(const char *path, struct lp_err *err);

#endif
