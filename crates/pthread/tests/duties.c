/* The functions of pthread, with the table of those that the library has under its own names. */
#define OF_PTHREAD
#include "../../c/tests/duties.c"
