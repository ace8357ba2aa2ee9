#include "lab/fault.h"

#include "base/cleanup.h"
#include "lab/net.h"
#include "lab/tool.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

/* What the server may send, in kbit/s, as the kernel has it; 0 where nothing limits it. */
static int rate_kbit(const struct lab_node *on, uint64_t *ret, struct lp_err *err)
{
	static const char key[] = "\"rate\":";
	_cleanup_free_ char *text = NULL;
	const char *rate;
	int r = tool_output(
		&text, err, "nsenter --net=/run/netns/%s tc -j qdisc show dev eth0", on->netns);

	if (r < 0)
		return r;
	rate = strstr(text, key);
	*ret = rate ? strtoull(rate + strlen(key), NULL, 10) * 8 / 1000 : 0; /* bytes a second */
	return 0;
}

static int inject(
	const struct lab *lab, const struct lab_node *on, double strength, struct lp_err *err)
{
	return net_link_rate(lab, on, (uint32_t)(lab->config.link_kbit / strength), err);
}

static int verify(const struct lab *lab, const struct lab_node *on, struct lp_err *err)
{
	uint64_t kbit;
	int r = rate_kbit(on, &kbit, err);

	if (r == 0 && (kbit == 0 || kbit >= lab->config.link_kbit))
		r = lp_err_set(err, -EIO, "the link has its full rate");
	return r;
}

static int heal(const struct lab *lab, const struct lab_node *on, struct lp_err *err)
{
	char path[LAB_PATH_MAX];
	uint64_t kbit;
	int r;

	snprintf(path, sizeof(path), "/run/netns/%s", on->netns);
	if (access(path, F_OK) < 0)
		return 0;
	r = rate_kbit(on, &kbit, err);
	if (r < 0 || kbit == lab->config.link_kbit)
		return r;
	return net_link_rate(lab, on, lab->config.link_kbit, err);
}

extern const struct fault fault_slow_link;
const struct fault fault_slow_link = {
	.name = "slow-link",
	.summary = "its link is so many times slower, both ways",
	.diagnosis = "slow-link",
	.strength = "times slower",
	.strength_default = 10,
	.strength_min = 1.1,
	.strength_max = 1000,
	.inject = inject,
	.verify = verify,
	.heal = heal,
};
