/* A verdict and a truth from arbitrary bytes: the part before the first NUL is the truth. */
#include "base/cleanup.h"
#include "explain/score.h"
#include "fuzz.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Put the truth into a file in memory that can be opened by its path. */
static const char *truth_file(const uint8_t *data, size_t size)
{
	static char path[64];
	static int fd = -1;

	if (fd < 0) {
		fd = memfd_create("truth", MFD_CLOEXEC);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	if (fd < 0 || ftruncate(fd, 0) < 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	return path;
}

static void judge(const struct score_truth *truth, const struct score_verdict *v, enum score_by by)
{
	_cleanup_(score_case_release) struct score_case c = {0};
	_cleanup_(score_board_release) struct score_board b = {0};

	if (score_judge(truth, v, "runs/one.json", by, &c, NULL) < 0)
		return;
	if ((c.dtp && !c.itp) || (c.ifp && !c.dfp) || (c.itp && !c.faulty))
		abort();
	if (score_board_add(&b, &c) < 0)
		abort();
	score_board_finish(&b);
	if (fabs(score_mcc(&b.total.units)) > 1 + 1e-9)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nul = size ? memchr(data, '\0', size) : NULL;
	size_t n = nul ? (size_t)(nul - data) : size;
	_cleanup_(score_truth_release) struct score_truth truth = {0};
	_cleanup_(score_verdict_release) struct score_verdict v = {0};
	struct lp_err err = {0};

	if (score_truth_read(truth_file(data, n), &truth, &err) < 0 && !*err.text)
		abort();
	if (!nul)
		return 0;
	if (score_verdict_parse((const char *)nul + 1, size - n - 1, "fuzz", &v, &err) < 0)
		return 0;
	judge(&truth, &v, SCORE_BY_COMPONENT);
	judge(&truth, &v, SCORE_BY_OBSERVER);
	return 0;
}
