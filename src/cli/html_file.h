/* The HTML report of a verdict as a file. */
#ifndef CLI_HTML_FILE_H
#define CLI_HTML_FILE_H

#include <limpet/err.h>
#include <limpet/verdict.h>

/* Write it atomically. `top`: number of incidents with plots; 0: the default. */
int html_file_write(const struct lp_verdict *v, const char *path, uint32_t top, struct lp_err *err);

#endif
