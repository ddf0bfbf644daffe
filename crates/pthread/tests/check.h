/* What programs have that check their own work. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define CHECK(condition)                                                          \
    do {                                                                          \
        if (!(condition)) {                                                       \
            printf("line %d: %s\n", __LINE__, #condition);                        \
            exit(1);                                                              \
        }                                                                         \
    } while (0)

/* A deadline. */
static inline struct timespec in_us(clockid_t clock, long us)
{
    struct timespec time;
    clock_gettime(clock, &time);
    long ns = time.tv_nsec + us * 1000;
    time.tv_sec += ns / 1000000000;
    time.tv_nsec = ns % 1000000000;
    return time;
}

#endif
