/* A bound on the CPU time that something may take: a share of one CPU, some of it ahead. */
#ifndef LOADLINE_BUDGET_H
#define LOADLINE_BUDGET_H

#include <stdatomic.h>
#include <stdint.h>

/* Up to when it is spent; 0 of a new one. */
struct budget {
    _Atomic uint64_t paid;
};

/* CPU time of the calling thread, in ns: what others take meanwhile is not its own. Safe in a signal's handler,
 * as are the others. */
uint64_t budget_cpu_ns(void);

/* Whether there is something left. */
int budget_affords(struct budget *budget, uint64_t now);

/* So much CPU time was taken. */
void budget_pay(struct budget *budget, uint64_t now, uint64_t cost);

#endif
