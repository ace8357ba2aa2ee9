#include "model/hosts.h"

#include "base/array.h"
#include "base/cleanup.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void hosts_release(struct hosts *h)
{
	for (uint32_t i = 0; i < h->n; i++) {
		free(h->observers[i]);
		free(h->lists[i]);
	}
	free(h->observers);
	free(h->lists);
	strmap_release(&h->by_address);
	*h = (struct hosts){0};
}

/* The number of an observer, added if it is new. */
static int observer_number(struct hosts *h, const char *observer, uint32_t *ret)
{
	char *name;

	for (uint32_t i = 0; i < h->n; i++) {
		if (!strcmp(h->observers[i], observer)) {
			*ret = i;
			return 0;
		}
	}
	name = strdup(observer);
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): these are arrays of pointers */
	if (!name ||
		array_reserve(&h->observers, &h->cap, (size_t)h->n + 1, sizeof(*h->observers)) <
			0 ||
		array_reserve(&h->lists, &h->cap_lists, (size_t)h->n + 1, sizeof(*h->lists)) < 0) {
		free(name);
		return -ENOMEM;
	}
	h->observers[h->n] = name;
	h->lists[h->n] = NULL;
	*ret = h->n++;
	return 0;
}

/* Each file of an observer lists its addresses, usually the same ones. */
static int list_add(char **list, const char *addresses)
{
	char *longer = NULL;

	if (*list && strstr(*list, addresses))
		return 0;
	if (asprintf(&longer, "%s%s%s", *list ? *list : "", *list ? "," : "", addresses) < 0)
		return -ENOMEM;
	free(*list);
	*list = longer;
	return 0;
}

int hosts_add(struct hosts *h, const char *observer, const char *addresses)
{
	_cleanup_free_ char *copy = strdup(addresses);
	char *save = NULL;
	uint32_t number, before;
	int r = copy ? observer_number(h, observer, &number) : -ENOMEM;

	if (r == 0)
		r = list_add(&h->lists[number], addresses);
	if (r < 0)
		return r;
	for (char *a = strtok_r(copy, ",", &save); r == 0 && a; a = strtok_r(NULL, ",", &save)) {
		bool known = strmap_get(&h->by_address, a, &before);

		if (!known || before != number)
			r = strmap_put(&h->by_address, a, known ? UINT32_MAX : number);
	}
	return r;
}

const char *hosts_find(const struct hosts *h, const char *address)
{
	uint32_t number;

	if (!h || !strmap_get(&h->by_address, address, &number) || number == UINT32_MAX)
		return NULL;
	return h->observers[number];
}

bool hosts_is_shared(const struct hosts *h, const char *address)
{
	uint32_t number;

	return h && strmap_get(&h->by_address, address, &number) && number == UINT32_MAX;
}

/* The known addresses of an observer; NULL: none. */
static const char *list_of(const struct hosts *h, const char *observer)
{
	for (uint32_t i = 0; h && i < h->n; i++) {
		if (!strcmp(h->observers[i], observer))
			return h->lists[i];
	}
	return NULL;
}

/* Find a word in the list; `begins`: a word that begins with it. Returns its place and length. */
static const char *list_find(const char *list, const char *word, bool begins, size_t *ret_len)
{
	size_t len = strlen(word);

	*ret_len = 0;
	while (list && *list) {
		*ret_len = strcspn(list, ",");
		if (*ret_len >= len && (begins || *ret_len == len) && !strncmp(list, word, len))
			return list;
		list += *ret_len + (list[*ret_len] == ',');
	}
	return NULL;
}

bool hosts_has(const struct hosts *h, const char *observer, const char *address)
{
	size_t len;

	return list_find(list_of(h, observer), address, false, &len);
}

bool hosts_share_loopback(const struct hosts *h, const char *a, const char *b)
{
	size_t len_a, len_b;
	const char *x = list_find(list_of(h, a), HOSTS_LOOPBACK, true, &len_a);
	const char *y = list_find(list_of(h, b), HOSTS_LOOPBACK, true, &len_b);

	return x && y && len_a == len_b && !strncmp(x, y, len_a);
}

/* "[fe80::1]" becomes fe80::1. */
static void strip_brackets(char *address)
{
	size_t len = strlen(address);

	if (len < 2 || address[0] != '[' || address[len - 1] != ']')
		return;
	address[len - 1] = '\0';
	memmove(address, address + 1, len - 1);
}

static enum connection_end pooled_end(const char *name, bool *ret_servers)
{
	*ret_servers = !strcmp(name, POOLED_SERVERS) || !strcmp(name, POOLED_SERVER_PEERS);
	if (!strcmp(name, POOLED_ALL) || !strcmp(name, POOLED_SERVERS))
		return CONNECTION_ALL;
	return !strcmp(name, POOLED_PEERS) || *ret_servers ? CONNECTION_PEERS : CONNECTION_REMOTE;
}

bool connection_parse(const struct lp_identity *component, struct connection *ret)
{
	char *colon;

	if (strcmp(component->kind, "tcp") != 0)
		return false;
	ret->observer = component->observer;
	snprintf(ret->address, sizeof(ret->address), "%s", component->name);
	colon = strrchr(ret->address, ':');
	if (!colon || (strcmp(colon, ":in") != 0 && strcmp(colon, ":out") != 0))
		return false;
	ret->out = !strcmp(colon, ":out");
	*colon = '\0';
	ret->end = pooled_end(ret->address, &ret->servers);
	strip_brackets(ret->address);
	return true;
}

bool peer_parse(const struct lp_identity *component, struct connection *ret)
{
	char *colon;

	if (strcmp(component->kind, "peer") != 0)
		return false;
	ret->observer = component->observer;
	snprintf(ret->address, sizeof(ret->address), "%s", component->name);
	ret->out = true;
	ret->servers = false;
	ret->end = !strcmp(ret->address, PEER_CLIENTS) ? CONNECTION_PEERS : CONNECTION_REMOTE;
	colon = strrchr(ret->address, ':');
	if (ret->end == CONNECTION_REMOTE && !colon)
		return false;
	if (colon)
		*colon = '\0';
	strip_brackets(ret->address);
	return true;
}

bool remote_parse(const struct lp_identity *component, struct connection *ret)
{
	return connection_parse(component, ret) || peer_parse(component, ret);
}
