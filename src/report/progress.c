#include "report/progress.h"

#include "base/time.h"
#include "report/flow.h"
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define BAR_WIDTH 30
#define WIDTH_DEFAULT 80
#define SILENT_US (US_PER_SEC / 2)
#define PAUSE_US (US_PER_SEC / 10)

static int64_t monotonic_us(void)
{
	return clock_us(CLOCK_MONOTONIC);
}

void progress_begin(struct progress *p, FILE *out)
{
	struct winsize size;

	*p = (struct progress){.now_us = monotonic_us, .width = WIDTH_DEFAULT};
	p->begun_us = p->now_us();
	if (!out || !isatty(fileno(out)))
		return;
	p->out = out;
	if (ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col)
		p->width = size.ws_col;
}

/* "reading  [=========>          ]  45%", shortened where the terminal is narrow. */
static void draw(const struct progress *p, const char *what, double done)
{
	size_t used = flow_text_width(what) + sizeof("  [] 100%");
	int bar = used + BAR_WIDTH < p->width ? BAR_WIDTH : 0;
	int filled = (int)(done * bar);

	fputs("\r\033[K", p->out);
	if (used < p->width)
		flow_print_safe(p->out, what);
	if (bar) {
		fputs("  [", p->out);
		for (int i = 0; i < bar; i++)
			fputc(i < filled ? '=' : i == filled ? '>' : ' ', p->out);
		fputc(']', p->out);
	}
	fprintf(p->out, " %3d%%", (int)(done * 100));
	fflush(p->out);
}

void progress_tell(void *ctx, const char *what, double done)
{
	struct progress *p = ctx;
	int64_t now_us;

	if (!p || !p->out)
		return;
	now_us = p->now_us();
	if (now_us - p->begun_us < SILENT_US || (p->drawn && now_us - p->drawn_us < PAUSE_US))
		return;
	draw(p, what, done > 1 ? 1 : done > 0 ? done : 0);
	p->drawn_us = now_us;
	p->drawn = true;
}

void progress_clear(struct progress *p)
{
	if (!p->drawn)
		return;
	fputs("\r\033[K", p->out);
	fflush(p->out);
	p->drawn = false;
}
