/* How threads that compute wait for each other. */
#ifndef CLI_WAITING_H
#define CLI_WAITING_H

/* Let them sleep, unless the environment says how they are to wait: threads that spin take the
 * processor from others, and on a busy machine from each other. OpenMP's runtime reads the
 * environment when it is loaded, so that this program starts anew, once, with the same arguments.
 * Where it cannot, it goes on as it is. */
void waiting_be_calm(char **argv);

#endif
