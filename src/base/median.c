#include "base/median.h"

#include <math.h>
#include <stdlib.h>

/* Put the k-th smallest at its place, the smaller ones before it. Hoare's selection; the pivot is
 * the middle one, which is right for the sorted and the constant. */
static void select_kth(double *v, int64_t n, int64_t k)
{
	int64_t lo = 0, hi = n - 1;

	while (lo < hi) {
		double pivot = v[lo + (hi - lo) / 2];
		int64_t i = lo, j = hi;

		while (i <= j) {
			while (v[i] < pivot)
				i++;
			while (v[j] > pivot)
				j--;
			if (i <= j) {
				double t = v[i];

				v[i++] = v[j];
				v[j--] = t;
			}
		}
		if (k <= j)
			hi = j;
		else if (k >= i)
			lo = i;
		else
			return;
	}
}

/* Without overflow where both are huge. */
static double middle(double a, double b)
{
	return a == b ? a : a / 2 + b / 2;
}

struct median_split median_split(double *values, uint32_t n)
{
	struct median_split s = {.below = -INFINITY, .middle = NAN, .above = INFINITY, .n = n};

	if (!n)
		return s;
	select_kth(values, n, n / 2);
	s.middle = values[n / 2];
	for (uint32_t i = 0; i < n / 2; i++)
		s.below = values[i] > s.below ? values[i] : s.below;
	for (uint32_t i = n / 2 + 1; i < n; i++)
		s.above = values[i] < s.above ? values[i] : s.above;
	return s;
}

double median_of_all(const struct median_split *split)
{
	return split->n % 2 || !split->n ? split->middle : middle(split->below, split->middle);
}

double median_of_others(const struct median_split *split, double own)
{
	if (split->n < 2)
		return NAN;
	/* Which of several equal ones is left out makes no difference. */
	if (split->n % 2 == 0)
		return own <= split->below ? split->middle : split->below;
	return middle(own >= split->middle ? split->below : split->middle,
		own > split->middle ? split->middle : split->above);
}

double median_of(double *values, uint32_t n)
{
	double below;

	if (!n)
		return NAN;
	select_kth(values, n, n / 2);
	if (n % 2)
		return values[n / 2];
	below = values[0];
	for (uint32_t i = 1; i < n / 2; i++)
		below = values[i] > below ? values[i] : below;
	return middle(below, values[n / 2]);
}

static int number_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void median_sort(double *values, uint32_t n)
{
	qsort(values, n, sizeof(*values), number_compare);
}
