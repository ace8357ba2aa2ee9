/* Small files of /sys, and the labels of components that are made from them. */
#ifndef COLLECT_SYSATTR_H
#define COLLECT_SYSATTR_H

#include "base/strbuf.h"
#include "collect/procfile.h"

/* Maximum size of an attribute; longer ones are truncated. */
#define SYSATTR_MAX 256

/* Read the first line of a file under `root` as one word. Blanks around it are removed, and those
 * inside become '_', as in udev. False if there is no such file or it is empty. */
bool sysattr_read(const struct proc_root *root, char buf[SYSATTR_MAX], const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The last part of the target of a symbolic link under `root`. False if it is not a link. */
bool sysattr_link(const struct proc_root *root, char buf[SYSATTR_MAX], const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Is there such a file or directory under `root`? */
bool sysattr_exists(const struct proc_root *root, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Append text; bytes that are not printable ASCII become "\xNN", so that the name of a device
 * cannot garble a terminal or JSON. */
void label_escape(struct strbuf *sb, const char *text);

/* Append the line "key=value" to labels. */
void label_add(struct strbuf *sb, const char *key, const char *value);

#endif
