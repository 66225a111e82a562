/* See budget.h. */
#define _GNU_SOURCE
#include "budget.h"

#include <time.h>

/* It is one part in so many of a CPU's time, */
enum { PARTS = 200 };
/* and what is given in this time may be taken ahead: at first every stack is new, and dear. */
static const uint64_t AHEAD_NS = 10000000000u;
/* The dearest stack took 4 ms, a recording's first. What the clock says beyond this a hypervisor took from the CPU meanwhile, which
 * the kernel counts as the thread's: some 50 ms of that at once would leave nothing for ten seconds. */
static const uint64_t MOST_NS = 5000000;

uint64_t budget_cpu_ns(void) {
    struct timespec spent;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
    return (uint64_t)spent.tv_sec * 1000000000u + (uint64_t)spent.tv_nsec;
}

int budget_affords(struct budget *budget, uint64_t now) {
    return atomic_load_explicit(&budget->paid, memory_order_relaxed) <= now + AHEAD_NS;
}

void budget_pay(struct budget *budget, uint64_t now, uint64_t cost) {
    uint64_t paid = atomic_load_explicit(&budget->paid, memory_order_relaxed), next;
    if (cost > MOST_NS) {
        cost = MOST_NS;
    }
    do {
        next = (paid > now ? paid : now) + cost * PARTS;
    } while (!atomic_compare_exchange_weak_explicit(&budget->paid, &paid, next, memory_order_relaxed,
                                                    memory_order_relaxed));
}
