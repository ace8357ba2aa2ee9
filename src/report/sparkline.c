#include "report/sparkline.h"

#include "base/array.h"
#include <math.h>

static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
static const char *const ascii[] = {"_", ".", "-", "=", "+", "*", "#", "@"};

void sparkline_print(FILE *out, const double *values, size_t n, double low, double high, bool utf8)
{
	const char *const *steps = utf8 ? blocks : ascii;
	double range = high > low ? high - low : 1;

	for (size_t i = 0; i < n; i++) {
		double at = floor((values[i] - low) / range * ARRAY_SIZE(blocks));

		if (isnan(at))
			fputc(' ', out);
		else
			fputs(steps[(size_t)fmin(fmax(at, 0), ARRAY_SIZE(blocks) - 1)], out);
	}
}
