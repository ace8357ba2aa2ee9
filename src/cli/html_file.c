#include "cli/html_file.h"

#include "base/cleanup.h"
#include "base/output.h"
#include "report/verdict_html.h"
#include <errno.h>
#include <unistd.h>

int html_file_write(const struct lp_verdict *v, const char *path, uint32_t top, struct lp_err *err)
{
	_cleanup_(output_release) struct output out = {0};
	_cleanup_fclose_ FILE *f = NULL;
	struct verdict_html_options html = {.top = top};
	int r = output_open(&out, path, err);

	if (r < 0)
		return r;
	f = fdopen(dup(out.fd), "we");
	if (!f)
		return lp_err_sys(err, -errno, "cannot write %s", path);
	r = verdict_write_html(f, v, &html);
	if (r == 0 && fflush(f) != 0)
		r = -errno;
	return r < 0 ? lp_err_sys(err, r, "cannot write %s", path) : output_commit(&out, path, err);
}
