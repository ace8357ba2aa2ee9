/* How computing threads wait for each other. */
#ifndef CLI_WAITING_H
#define CLI_WAITING_H

/* Let them sleep, unless the environment chooses otherwise: spinning threads take the processor
 * from others, and on a busy machine from each other. OpenMP's runtime reads the environment when
 * it is loaded, so this program executes itself again, once, with the same arguments. If that
 * fails, it continues as it is. */
void waiting_be_calm(char **argv);

#endif
