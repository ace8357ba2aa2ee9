/* How computing threads wait for each other. */
#ifndef CLI_WAITING_H
#define CLI_WAITING_H

/* Let them sleep, unless the environment says otherwise: spinning threads take the processor from
 * other programs and, on a busy machine, from each other. OpenMP reads the environment when it is
 * loaded, so this program executes itself again, once, with the same arguments. If that fails, it
 * continues without this. */
void waiting_be_calm(char **argv);

#endif
