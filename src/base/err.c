#include <limpet/err.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void __attribute__((format(printf, 3, 0)))
err_vset(struct lp_err *err, int code, const char *fmt, va_list ap)
{
	err->code = code;
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
}

int lp_err_set(struct lp_err *err, int code, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return code;
	va_start(ap, fmt);
	err_vset(err, code, fmt, ap);
	va_end(ap);
	return code;
}

int lp_err_sys(struct lp_err *err, int code, const char *fmt, ...)
{
	va_list ap;
	size_t used;

	if (!err)
		return code;
	va_start(ap, fmt);
	err_vset(err, code, fmt, ap);
	va_end(ap);
	used = strlen(err->text);
	snprintf(err->text + used, sizeof(err->text) - used, ": %s", strerror(-code));
	return code;
}

int lp_err_prefix(struct lp_err *err, const char *fmt, ...)
{
	char below[sizeof(err->text)];
	va_list ap;
	size_t used;

	if (!err || !err->code)
		return -EIO;
	memcpy(below, err->text, sizeof(below));
	va_start(ap, fmt);
	err_vset(err, err->code, fmt, ap);
	va_end(ap);
	used = strlen(err->text);
	snprintf(err->text + used, sizeof(err->text) - used, ": %s", below);
	return err->code;
}

void lp_warn_raise(struct lp_warn *w, const char *fmt, ...)
{
	char text[504];
	va_list ap;

	if (!w)
		return;
	__atomic_fetch_add(&w->count, 1, __ATOMIC_RELAXED); /* threads may share it */
	if (!w->warn)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	w->warn(w->ctx, text);
}
