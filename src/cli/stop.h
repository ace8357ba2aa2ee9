/* Signals that end a command in an orderly way. */
#ifndef CLI_STOP_H
#define CLI_STOP_H

/* The number of the received signal; 0: none. */
extern volatile int stop_signal;

/* Let SIGINT, SIGTERM and SIGHUP set it and end every wait (-EINTR). */
void stop_catch(void);

#endif
