#include "cli/stop.h"

#include <signal.h>
#include <stddef.h>

volatile int stop_signal;

static void on_signal(int number)
{
	stop_signal = number;
}

void stop_catch(void)
{
	/* Without SA_RESTART: a signal must end waits. */
	const struct sigaction action = {.sa_handler = on_signal};
	const int numbers[] = {SIGINT, SIGTERM, SIGHUP};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		sigaction(numbers[i], &action, NULL);
}
