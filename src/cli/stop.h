/* Signals that end what runs, in good order. */
#ifndef CLI_STOP_H
#define CLI_STOP_H

/* The number of the signal that has come; 0: none. */
extern volatile int stop_signal;

/* From now on SIGINT, SIGTERM and SIGHUP set it, and end every wait (-EINTR). */
void stop_catch(void);

#endif
