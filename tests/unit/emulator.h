/* Tests that need something that qemu's emulation of another processor lacks. */
#ifndef EMULATOR_H
#define EMULATOR_H

#include "unit.h"
#include <stdbool.h>
#include <stdio.h>

/* It invents a process's own /proc/self/stat, in which most fields, including the state, are 0. */
static inline bool is_emulated(void)
{
	FILE *in = fopen("/proc/self/stat", "re");
	char state = '0';
	int n = in ? fscanf(in, "%*d (%*[^)]) %c", &state) : 0;

	if (in)
		fclose(in);
	return n == 1 && state == '0';
}

/* `what`: what it lacks. */
static inline void skip_if_emulated(const char *what)
{
	if (!is_emulated())
		return;
	printf("# under qemu there is no %s\n", what);
	fflush(stdout);
	skip();
}

/* The same for a whole program, as its only action. */
static inline bool skips_all_if_emulated(const char *what)
{
	if (!is_emulated())
		return false;
	printf("1..0 # SKIP under qemu there is no %s\n", what);
	return true;
}

#endif
