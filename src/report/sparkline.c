#include "report/sparkline.h"

#include <math.h>

#define STEPS 8

static const char *const blocks[STEPS] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
static const char *const ascii[STEPS] = {"_", ".", "-", "=", "+", "*", "#", "@"};

void sparkline_print(FILE *out, const double *values, size_t n, double low, double high, bool utf8)
{
	const char *const *steps = utf8 ? blocks : ascii;
	double range = high > low ? high / 2 - low / 2 : 0.5; /* halves, which cannot overflow */

	for (size_t i = 0; i < n; i++) {
		double at = floor((values[i] / 2 - low / 2) / range * STEPS);

		if (isnan(at))
			fputc(' ', out);
		else
			fputs(steps[(size_t)fmin(fmax(at, 0), STEPS - 1)], out);
	}
}
