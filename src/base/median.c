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

void median_of_others(const double *sorted, uint32_t n, double *ret)
{
	uint32_t m = n - 1; /* that many others */

	for (uint32_t i = 0; i < n; i++) {
		/* The r-th of the others stands one further where `i` came before it. */
		uint32_t hi = m / 2, lo = m % 2 ? hi : hi - 1;

		ret[i] = n < 2 ? NAN : middle(sorted[lo + (lo >= i)], sorted[hi + (hi >= i)]);
	}
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
