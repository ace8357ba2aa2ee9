#include "lab/net_hog.h"

#include "base/cleanup.h"
#include "lab/tool.h"
#include <errno.h>
#include <string.h>

#define PORT_BASE 17000
#define LOOK_MS 100
#define LOOKS 80
#define MOVED_MIN (256 * 1024)

struct ends {
	const struct lab_node *from, *to;
	unsigned port; /* on which `to` listens: one per server */
};

static int find_ends(const struct hog *h, bool to_server, struct ends *ret, struct lp_err *err)
{
	const struct lab_node *other = lab_node(h->lab, "x1");

	if (!other)
		return lp_err_set(err, -ENOENT, "the lab has no third party (x1) for %s", h->fault);
	*ret = (struct ends){to_server ? other : h->on, to_server ? h->on : other,
		PORT_BASE + (unsigned)(h->on - h->lab->nodes)};
	return 0;
}

int net_hog_start(const struct hog *h, bool to_server, unsigned connections, struct lp_err *err)
{
	char self[LAB_PATH_MAX], port[16], target[32], number[16];
	const char *const listen_argv[] = {self, "lab", "traffic", "--listen", port, NULL};
	const char *const send_argv[] = {
		self, "lab", "traffic", "--send", target, "--connections", number, NULL};
	struct ends e = {0};
	int r = find_ends(h, to_server, &e, err);

	if (r == 0)
		r = tool_self(self, sizeof(self), err);
	if (r < 0)
		return r;
	snprintf(port, sizeof(port), "%u", e.port);
	snprintf(target, sizeof(target), "%s:%u", e.to->address, e.port);
	snprintf(number, sizeof(number), "%u", connections);
	r = hog_start(h, e.to, listen_argv, err);
	return r < 0 ? r : hog_start(h, e.from, send_argv, err);
}

/* The sum of all bytes that the other end has acknowledged. */
static int sent_bytes(const struct ends *e, uint64_t *ret, struct lp_err *err)
{
	static const char key[] = "bytes_acked:";
	_cleanup_free_ char *text = NULL;
	uint64_t sum = 0;
	int r = tool_output(&text, err, "nsenter --net=/run/netns/%s ss -tinH dst %s:%u",
		e->from->netns, e->to->address, e->port);

	if (r < 0)
		return r;
	for (const char *p = text; (p = strstr(p, key)); p++)
		sum += strtoull(p + strlen(key), NULL, 10);
	*ret = sum;
	return 0;
}

int net_hog_verify(const struct hog *h, bool to_server, struct lp_err *err)
{
	struct ends e = {0};
	uint64_t first = 0, now = 0;
	int r = find_ends(h, to_server, &e, err);

	if (r == 0)
		r = hog_verify(h, e.to, err);
	if (r == 0)
		r = hog_verify(h, e.from, err);
	if (r == 0)
		r = sent_bytes(&e, &first, err);
	for (unsigned i = 0; r == 0 && i < LOOKS; i++) {
		hog_wait(LOOK_MS);
		r = sent_bytes(&e, &now, err);
		if (r == 0 && now > first + MOVED_MIN)
			return 0;
	}
	if (r == 0)
		r = lp_err_set(err, -EIO, "%s: nothing moves from %s to %s", h->fault, e.from->name,
			e.to->name);
	return r;
}
