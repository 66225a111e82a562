/* The overheads of libgomp, in the same terms as Directives.java: microseconds per directive. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static double shared;

/* The mean over some rounds, without the first: what JMH reports, too. */
#define MEASURE(name, body)                                                                     \
    do {                                                                                        \
        double sum_us = 0;                                                                      \
        for (int round = 0; round < 6; round++) {                                               \
            double begin = omp_get_wtime();                                                     \
            body;                                                                               \
            if (round > 0) sum_us += (omp_get_wtime() - begin) / count * 1e6;                   \
        }                                                                                       \
        printf("%s %.5f\n", name, sum_us / 5);                                                  \
    } while (0)

int main(int argc, char **argv) {
    int count = argc > 1 ? atoi(argv[1]) : 100000;
    double sum = 0;
    MEASURE("Parallel", for (int k = 0; k < count; k++) {
        _Pragma("omp parallel num_threads(2)") { __asm__ volatile("" ::: "memory"); }
    });
    MEASURE("ParallelForReduction", for (int k = 0; k < count; k++) {
        _Pragma("omp parallel for num_threads(2) reduction(+ : sum)") for (int i = 0; i < 2; i++) sum += i;
    });
    MEASURE("Barrier", _Pragma("omp parallel num_threads(2)") for (int k = 0; k < count; k++) { _Pragma("omp barrier") });
    MEASURE("ForStatic", _Pragma("omp parallel num_threads(2)") for (int k = 0; k < count; k++) {
        _Pragma("omp for schedule(static)") for (int i = 0; i < 2; i++) __asm__ volatile("" ::: "memory");
    });
    MEASURE("ForDynamic", _Pragma("omp parallel num_threads(2)") for (int k = 0; k < count; k++) {
        _Pragma("omp for schedule(dynamic)") for (int i = 0; i < 2; i++) __asm__ volatile("" ::: "memory");
    });
    MEASURE("ParallelFor", for (int k = 0; k < count; k++) {
        _Pragma("omp parallel for num_threads(2)") for (int i = 0; i < 2; i++) __asm__ volatile("" ::: "memory");
    });
    MEASURE("ForGuided", _Pragma("omp parallel num_threads(2)") for (int k = 0; k < count; k++) {
        _Pragma("omp for schedule(guided)") for (int i = 0; i < 2; i++) __asm__ volatile("" ::: "memory");
    });
    MEASURE("Ordered", _Pragma("omp parallel for ordered schedule(static, 1) num_threads(2)") for (int i = 0; i < count; i++) {
        _Pragma("omp ordered") shared += 1;
    });
    MEASURE("Task", _Pragma("omp parallel num_threads(2)") _Pragma("omp single") for (int k = 0; k < count; k++) {
        _Pragma("omp task") __asm__ volatile("" ::: "memory");
    });
    MEASURE("ForReduction", _Pragma("omp parallel num_threads(2)") for (int k = 0; k < count; k++) {
        _Pragma("omp for reduction(+ : sum)") for (int i = 0; i < 2; i++) sum += i;
    });
    MEASURE("Single", _Pragma("omp parallel num_threads(2)") for (int k = 0; k < count; k++) {
        _Pragma("omp single") __asm__ volatile("" ::: "memory");
    });
    MEASURE("Critical", _Pragma("omp parallel num_threads(2)") for (int k = 0; k < count; k++) {
        _Pragma("omp critical") shared += 1;
    });
    MEASURE("Atomic", _Pragma("omp parallel num_threads(2)") for (int k = 0; k < count; k++) {
        _Pragma("omp atomic") shared += 1;
    });
    return sum + shared < 0;
}
