/* The commands of limpet that limpet-lab implements, for both programs. */
#ifndef CLI_LAB_PROGRAM_H
#define CLI_LAB_PROGRAM_H

#define LAB_PROGRAM "limpet-lab"
#define LAB_SUMMARY "build a small cluster on this machine, break it and record it"
#define DEMO_SUMMARY "see it work: build a small cluster, break a server, find it"

#endif
