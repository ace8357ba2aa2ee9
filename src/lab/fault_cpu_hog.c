#include "lab/fault.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "lab/hog.h"
#include <errno.h>
#include <string.h>

#define NAME "cpu-hog"
#define LOOK_MS 200
#define LOOKS 50
#define STAT_MAX 4096

/* Without a limit for the server the hog would starve the whole machine. */
static int inject(
	const struct lab *lab, const struct lab_node *on, double strength, struct lp_err *err)
{
	const struct hog h = {lab, on, NAME};
	char script[128];
	const char *const argv[] = {"sh", "-c", script, NULL};

	if (!*on->cgroup || !lab->config.cpu_percent)
		return lp_err_set(err, -ENOTSUP,
			"%s has no CPU limit (the lab was started without limits on CPU)",
			on->name);
	snprintf(script, sizeof(script),
		"i=1; while [ $i -lt %u ]; do while :; do :; done & i=$((i + 1)); done; "
		"while :; do :; done",
		(unsigned)strength);
	return hog_start(&h, on, argv, err);
}

/* How often the group was throttled. */
static int throttled(const struct lab_node *on, unsigned long long *ret, struct lp_err *err)
{
	static const char key[] = "nr_throttled ";
	_cleanup_free_ char *text = NULL;
	char path[LAB_PATH_MAX];
	const char *at;
	size_t size;
	int r;

	snprintf(path, sizeof(path), "%s/cpu.stat", on->cgroup);
	r = file_slurp(path, STAT_MAX, &text, &size, err);
	if (r < 0)
		return r;
	at = strstr(text, key);
	if (!at)
		return lp_err_set(
			err, -EBADMSG, "%s does not report how often it was throttled", path);
	*ret = strtoull(at + strlen(key), NULL, 10);
	return 0;
}

static int verify(const struct lab *lab, const struct lab_node *on, struct lp_err *err)
{
	const struct hog h = {lab, on, NAME};
	unsigned long long first = 0, now = 0;
	int r = hog_verify(&h, on, err);

	if (r == 0)
		r = throttled(on, &first, err);
	for (unsigned i = 0; r == 0 && i < LOOKS; i++) {
		hog_wait(LOOK_MS);
		r = throttled(on, &now, err);
		if (r == 0 && now > first)
			return 0;
	}
	return r < 0 ? r : lp_err_set(err, -EIO, "%s does not use up its share of CPU", on->name);
}

static int heal(const struct lab *lab, const struct lab_node *on, struct lp_err *err)
{
	const struct hog h = {lab, on, NAME};

	return hog_stop(&h, err);
}

extern const struct fault fault_cpu_hog;
const struct fault fault_cpu_hog = {
	.name = "cpu-hog",
	.summary = "processes use up the CPU that the server may use",
	.diagnosis = "cpu-hog",
	.strength = "processes",
	.strength_default = 4,
	.strength_min = 1,
	.strength_max = 32,
	.inject = inject,
	.verify = verify,
	.heal = heal,
};
