#include "import/remote/http_config.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "import/remote/yaml_tree.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define SECRET_BYTES_MAX 65536

void http_config_release(struct http_config *c)
{
	free(c->username);
	free(c->password);
	free(c->token_type);
	free(c->token);
	free(c->ca_file);
	free(c->cert_file);
	free(c->key_file);
	free(c->server_name);
	free(c->proxy_url);
	*c = (struct http_config){0};
}

/* The path of a file that the configuration names; relative paths are relative to the
 * configuration. */
static char *path_beside(const char *name, const char *path)
{
	size_t dir = (size_t)(path_basename(name) - name);
	char *full;

	if (path[0] == '/' || !dir)
		return strdup(path);
	return asprintf(&full, "%.*s%s", (int)dir, name, path) < 0 ? NULL : full;
}

static int path_get(struct yaml_tree *t, const yaml_node_t *node, const char *key, char **ret,
	struct lp_err *err)
{
	_cleanup_free_ char *path = NULL;
	int r = yaml_tree_text(t, node, key, &path, err);

	if (r < 0 || !path)
		return r;
	free(*ret);
	*ret = path_beside(t->name, path);
	return *ret ? 0 : lp_err_sys(err, -ENOMEM, "cannot read %s", t->name);
}

/* A secret at `key`, or in the file that `key_file` names, without its line end. */
static int secret_get(struct yaml_tree *t, const yaml_node_t *node, const char *key,
	const char *key_file, char **ret, struct lp_err *err)
{
	_cleanup_free_ char *path = NULL;
	size_t len;
	int r = yaml_tree_text(t, node, key, ret, err);

	if (r == 0)
		r = path_get(t, node, key_file, &path, err);
	if (r < 0 || !path)
		return r;
	if (*ret)
		return yaml_tree_error(
			t, node, err, "'%s' and '%s' exclude each other", key, key_file);
	r = file_slurp(path, SECRET_BYTES_MAX, ret, &len, err);
	if (r < 0)
		return lp_err_prefix(err, "%s:%zu", t->name, node->start_mark.line + 1);
	while (len && isspace((unsigned char)(*ret)[len - 1]))
		(*ret)[--len] = '\0';
	return 0;
}

static int basic_read(
	struct http_config *c, struct yaml_tree *t, const yaml_node_t *node, struct lp_err *err)
{
	static const char *const keys[] = {
		"username", "username_file", "password", "password_file", NULL};
	int r = node ? yaml_tree_mapping(t, node, "'basic_auth'", keys, err) : 0;

	if (!node || r < 0)
		return r;
	r = secret_get(t, node, "username", "username_file", &c->username, err);
	if (r == 0)
		r = secret_get(t, node, "password", "password_file", &c->password, err);
	if (r == 0 && !c->username)
		r = yaml_tree_error(t, node, err, "'basic_auth' needs a 'username'");
	return r;
}

static int token_read(
	struct http_config *c, struct yaml_tree *t, const yaml_node_t *node, struct lp_err *err)
{
	static const char *const keys[] = {"type", "credentials", "credentials_file", NULL};
	int r = node ? yaml_tree_mapping(t, node, "'authorization'", keys, err) : 0;

	if (!node || r < 0)
		return r;
	r = yaml_tree_text(t, node, "type", &c->token_type, err);
	if (r == 0)
		r = secret_get(t, node, "credentials", "credentials_file", &c->token, err);
	if (r == 0 && !c->token)
		r = yaml_tree_error(t, node, err, "'authorization' needs 'credentials'");
	return r;
}

static int tls_read(
	struct http_config *c, struct yaml_tree *t, const yaml_node_t *node, struct lp_err *err)
{
	static const char *const keys[] = {
		"ca_file", "cert_file", "key_file", "server_name", "insecure_skip_verify", NULL};
	int r = node ? yaml_tree_mapping(t, node, "'tls_config'", keys, err) : 0;

	if (!node || r < 0)
		return r;
	r = path_get(t, node, "ca_file", &c->ca_file, err);
	if (r == 0)
		r = path_get(t, node, "cert_file", &c->cert_file, err);
	if (r == 0)
		r = path_get(t, node, "key_file", &c->key_file, err);
	if (r == 0)
		r = yaml_tree_text(t, node, "server_name", &c->server_name, err);
	if (r == 0)
		r = yaml_tree_bool(t, node, "insecure_skip_verify", &c->insecure, err);
	if (r == 0 && !c->cert_file != !c->key_file)
		r = yaml_tree_error(
			t, node, err, "'cert_file' and 'key_file' must be given together");
	return r;
}

static int config_read(struct http_config *c, struct yaml_tree *t, struct lp_err *err)
{
	static const char *const keys[] = {"basic_auth", "authorization", "bearer_token",
		"bearer_token_file", "tls_config", "proxy_url", "follow_redirects", "enable_http2",
		NULL};
	const yaml_node_t *root = yaml_tree_root(t);
	bool follow = true, ignored = false;
	int r = yaml_tree_mapping(t, root, "the file", keys, err);

	if (r == 0)
		r = basic_read(c, t, yaml_tree_get(t, root, "basic_auth"), err);
	if (r == 0)
		r = token_read(c, t, yaml_tree_get(t, root, "authorization"), err);
	if (r == 0 && !c->token)
		r = secret_get(t, root, "bearer_token", "bearer_token_file", &c->token, err);
	if (r == 0)
		r = tls_read(c, t, yaml_tree_get(t, root, "tls_config"), err);
	if (r == 0)
		r = yaml_tree_text(t, root, "proxy_url", &c->proxy_url, err);
	if (r == 0)
		r = yaml_tree_bool(t, root, "follow_redirects", &follow, err);
	if (r == 0)
		r = yaml_tree_bool(t, root, "enable_http2", &ignored, err);
	if (r == 0 && c->token && c->username)
		r = yaml_tree_error(
			t, root, err, "a user's password and a token exclude each other");
	c->no_redirects = !follow;
	return r;
}

int http_config_parse(
	struct http_config *c, const char *text, size_t len, const char *name, struct lp_err *err)
{
	_cleanup_(yaml_tree_release) struct yaml_tree t = {0};
	int r = yaml_tree_load(&t, text, len, name, err);

	return r < 0 ? r : config_read(c, &t, err);
}

/* libcurl does not say which file it cannot read. */
static int tls_file_check(const char *path, const char *key, const char *name, struct lp_err *err)
{
	int fd = path ? file_open_input(path, O_RDONLY, err) : -1;

	if (!path)
		return 0;
	if (fd < 0)
		return lp_err_prefix(err, "%s: '%s'", name, key);
	close(fd);
	return 0;
}

static int tls_check(const struct http_config *c, const char *name, struct lp_err *err)
{
	int r = tls_file_check(c->ca_file, "ca_file", name, err);

	if (r == 0)
		r = tls_file_check(c->cert_file, "cert_file", name, err);
	return r < 0 ? r : tls_file_check(c->key_file, "key_file", name, err);
}

int http_config_load(struct http_config *c, const char *path, struct lp_err *err)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r = file_slurp(path, YAML_TREE_BYTES_MAX, &text, &len, err);

	if (r == 0)
		r = http_config_parse(c, text, len, path, err);
	return r < 0 ? r : tls_check(c, path, err);
}
