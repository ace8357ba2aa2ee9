#include "cli/observer.h"

#include "base/cleanup.h"
#include "collect/addresses.h"
#include "model/hosts.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#define NAME_MOST 200
#define ADDRESSES_MAX 1024

static bool name_is_good(const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)name[i] <= ' ' || name[i] == 0x7f || strchr("/:,", name[i]))
			return false;
	}
	return len && len <= NAME_MOST && *name != '.' && *name != '-';
}

int observer_name(const char *given, char buf[OBSERVER_NAME_MAX], struct lp_err *err)
{
	buf[0] = '\0';
	if (!given) {
		gethostname(buf, OBSERVER_NAME_MAX - 1);
		buf[OBSERVER_NAME_MAX - 1] = '\0';
		buf[strcspn(buf, ".")] = '\0';
		given = buf[0] ? buf : "localhost";
	}
	if (!name_is_good(given))
		return lp_err_set(err, -EINVAL,
			"--name: '%.80s' cannot be a name (1 to %d characters without slash, "
			"colon, comma or blank, not beginning with a dot or dash)",
			given, NAME_MOST);
	if (given != buf)
		snprintf(buf, OBSERVER_NAME_MAX, "%s", given);
	return 0;
}

int observer_ports(const struct words *words, uint16_t *ret, struct lp_err *err)
{
	for (unsigned i = 0; i < words->n; i++) {
		char *end;
		unsigned long port = strtoul(words->items[i], &end, 10);

		if (*end || end == words->items[i] || port < 1 || port > 65535)
			return lp_err_set(err, -EINVAL, "--ports: '%s' is not a port (1 to 65535)",
				words->items[i]);
		ret[i] = (uint16_t)port;
	}
	return 0;
}

/* The loopback interface of this network namespace, with a unique id: "loopback@BOOT-NUMBER". "":
 * unknown. */
static void loopback_id(char *buf, size_t size)
{
	_cleanup_fclose_ FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
	char boot[16] = "";
	struct stat st;

	buf[0] = '\0';
	if (f && fgets(boot, 9, f) && stat("/proc/self/ns/net", &st) == 0)
		snprintf(buf, size, HOSTS_LOOPBACK "%s-%llu", boot, (unsigned long long)st.st_ino);
}

void observer_meta(bool addresses, char buf[OBSERVER_META_MAX])
{
	struct utsname u;
	char own[ADDRESSES_MAX] = "", loopback[64];
	int len = 0;

	buf[0] = '\0';
	if (uname(&u) == 0)
		len = snprintf(buf, OBSERVER_META_MAX, "hostname=%s\nkernel=%s\nmachine=%s\n",
			u.nodename, u.release, u.machine);
	if (addresses) {
		addresses_own(own, sizeof(own) - sizeof(loopback));
		loopback_id(loopback, sizeof(loopback));
		snprintf(own + strlen(own), sizeof(own) - strlen(own), "%s%s",
			*own && *loopback ? "," : "", loopback);
	}
	if (own[0] && len >= 0 && len + ADDRESSES_MAX < OBSERVER_META_MAX)
		snprintf(buf + len, OBSERVER_META_MAX - (size_t)len, "addresses=%s\n", own);
}
