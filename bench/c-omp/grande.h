/* What the kernels in C share: memory, Java's random numbers, and who is where. */
#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void fail(const char *what) {
    fprintf(stderr, "grande: %s\n", what);
    exit(1);
}

static inline void *get(size_t count, size_t size) {
    void *p = calloc(count, size);
    if (!p) fail("out of memory");
    return p;
}

/* The generator of java.util.Random, so that the problems are the same; one per thread. */
extern _Thread_local uint64_t random_state;
static inline void seed(uint64_t s) { random_state = (s ^ 0x5DEECE66DULL) & ((1ULL << 48) - 1); }
static inline uint32_t bits(int n) {
    random_state = (random_state * 0x5DEECE66DULL + 0xB) & ((1ULL << 48) - 1);
    return (uint32_t)(random_state >> (48 - n));
}
static inline double next_double(void) {
    uint64_t high = (uint64_t)bits(26) << 27;
    return (double)(high + bits(27)) * 0x1.0p-53;
}
static inline int next_index(int n) {
    int32_t i = (int32_t)bits(32);
    return (i < 0 ? -i : i) % n;
}

/* Each solves its problem in a size, 0 for A, stops the time, and ends the program if the result is wrong. */
double molecular_dynamics(int size, double *seconds);
double monte_carlo(int size, double *seconds);
double ray_tracer(int size, double *seconds);
double euler(int size, double *seconds);
