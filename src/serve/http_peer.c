#include "serve/http_peer.h"

#include "serve/http_listen.h"
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The first name in a certificate: an alternative DNS name, else the common name. */
static char *certificate_name(const gnutls_datum_t *der)
{
	gnutls_x509_crt_t crt;
	char name[HTTP_NAME_MAX];
	size_t size = sizeof(name) - 1;
	int r;

	if (gnutls_x509_crt_init(&crt) < 0)
		return NULL;
	r = gnutls_x509_crt_import(crt, der, GNUTLS_X509_FMT_DER);
	if (r == 0 &&
		gnutls_x509_crt_get_subject_alt_name(crt, 0, name, &size, NULL) !=
			GNUTLS_SAN_DNSNAME) {
		size = sizeof(name) - 1;
		r = gnutls_x509_crt_get_dn_by_oid(
			crt, GNUTLS_OID_X520_COMMON_NAME, 0, 0, name, &size);
	}
	gnutls_x509_crt_deinit(crt);
	if (r < 0 || size >= sizeof(name))
		return NULL;
	name[size] = '\0';
	return strlen(name) == size || strlen(name) + 1 == size ? strdup(name) : NULL;
}

/* The name in the client's certificate, if the configured authority signed it. */
static char *certificate_find(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
	const gnutls_datum_t *list;
	unsigned status = 1, n = 0;

	if (!info || !info->tls_session)
		return NULL;
	list = gnutls_certificate_get_peers(info->tls_session, &n);
	if (!list || !n || gnutls_certificate_verify_peers2(info->tls_session, &status) < 0 ||
		status)
		return NULL;
	return certificate_name(&list[0]);
}

static const char *token_find(struct MHD_Connection *connection, char token[HTTP_TOKEN_MAX])
{
	static const char scheme[] = "Bearer ";
	const char *value = MHD_lookup_connection_value(
		connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_AUTHORIZATION);

	if (value && !strncasecmp(value, scheme, sizeof(scheme) - 1))
		value += sizeof(scheme) - 1;
	else
		value = MHD_lookup_connection_value(connection, MHD_COOKIE_KIND, HTTP_COOKIE);
	if (!value)
		return NULL;
	snprintf(token, HTTP_TOKEN_MAX, "%s", value);
	return token;
}

static bool is_loopback(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	const char *host =
		MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST);

	return info && info->client_addr && sockaddr_is_loopback(info->client_addr) &&
		(!host || host_is_local(host));
}

void http_peer_find(struct MHD_Connection *connection, struct http_conn *conn,
	char token[HTTP_TOKEN_MAX], struct http_peer *ret)
{
	if (!conn->certificate_seen) {
		conn->certificate = certificate_find(connection);
		conn->certificate_seen = true;
	}
	*ret = (struct http_peer){.loopback = is_loopback(connection),
		.token = token_find(connection, token),
		.certificate_name = conn->certificate};
}

bool http_peer_same_origin(struct MHD_Connection *connection)
{
	const char *origin =
		MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ORIGIN);
	const char *host =
		MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST);
	const char *slashes = origin ? strstr(origin, "://") : NULL;

	if (!origin)
		return true;
	return host && slashes && !strcasecmp(slashes + 3, host);
}
