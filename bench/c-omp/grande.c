/* Kernels of Java Grande in C with OpenMP, the same algorithms as in bed/grande; the larger ones are in
   grande_large.c. grande KERNEL SIZE REPETITIONS prints "KERNEL SIZE seconds result" for each. */
#include "grande.h"

_Thread_local uint64_t random_state;

static double series_value(double x, double w, int wave) {
    double f = pow(x + 1, x);
    return wave == 0 ? f : wave == 1 ? f * cos(w * x) : f * sin(w * x);
}
static double integrate(double w, int wave) {
    double dx = 2.0 / 1000, x = 0, sum = series_value(0, w, wave) / 2;
    for (int i = 0; i < 998; i++) sum += series_value(x += dx, w, wave);
    return (sum + series_value(2, w, wave) / 2) * dx;
}
static double series(int n, double *seconds) {
    double *a = get(n, sizeof *a), *b = get(n, sizeof *b), sum = 0, begin = omp_get_wtime();
    a[0] = integrate(0, 0) / 2;
#pragma omp parallel for schedule(static)
    for (int i = 1; i < n; i++) {
        a[i] = integrate(M_PI * i, 1);
        b[i] = integrate(M_PI * i, 2);
    }
    *seconds = omp_get_wtime() - begin;
    if (fabs(a[3] - 0.15238898702519288) > 1e-11) fail("Series is wrong");
    for (int i = 0; i < n; i++) sum += a[i] + b[i];
    free(a), free(b);
    return sum;
}

static double sor(int n, double expected, double *seconds) {
    double *g = get((size_t)n * n, sizeof *g), total = 0;
    seed(10101010);
    for (size_t i = 0; i < (size_t)n * n; i++) g[i] = next_double() * 1e-6;
    double begin = omp_get_wtime();
#pragma omp parallel
    for (int half = 0; half < 200; half++) {
#pragma omp for schedule(static)
        for (int i = 1; i < n - 1; i++) {
            double *row = g + (size_t)i * n, *up = row - n, *down = row + n;
            for (int j = 1 + (i + 1 + half) % 2; j < n - 1; j += 2)
                row[j] = 1.25 * 0.25 * (up[j] + down[j] + row[j - 1] + row[j + 1]) + (1 - 1.25) * row[j];
        }
    }
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++) total += g[(size_t)i * n + j];
    *seconds = omp_get_wtime() - begin;
    if (fabs(total - expected) > 1e-9) fail("SOR is wrong");
    free(g);
    return total;
}

static double sparse(int n, double expected, double *seconds) {
    int m = 5 * n;
    double *x = get(n, sizeof *x), *y = get(n, sizeof *y), *raw = get(m, sizeof *raw), *value = get(m, sizeof *value), total = 0;
    int *row = get(m, sizeof *row), *col = get(m, sizeof *col), *column = get(m, sizeof *column), *first = get(n + 1, sizeof *first), *next = get(n, sizeof *next);
    seed(10101010);
    for (int i = 0; i < n; i++) x[i] = next_double() * 1e-6;
    for (int i = 0; i < m; i++) {
        row[i] = next_index(n);
        col[i] = next_index(n);
        raw[i] = next_double();
        first[row[i] + 1]++;
    }
    for (int i = 0; i < n; i++) first[i + 1] += first[i], next[i] = first[i];
    for (int i = 0; i < m; i++) {
        int at = next[row[i]]++;
        column[at] = col[i];
        value[at] = raw[i];
    }
    double begin = omp_get_wtime();
#pragma omp parallel
    for (int k = 0; k < 200; k++) {
#pragma omp for schedule(static) nowait
        for (int r = 0; r < n; r++) {
            double sum = y[r];
            for (int i = first[r]; i < first[r + 1]; i++) sum += x[column[i]] * value[i];
            y[r] = sum;
        }
    }
    for (int i = 0; i < m; i++) total += y[row[i]];
    *seconds = omp_get_wtime() - begin;
    if (fabs(total - expected) > 1e-6) fail("Sparse is wrong");
    free(x), free(y), free(raw), free(value), free(row), free(col), free(column), free(first), free(next);
    return total;
}

static void swap(double *a, int i, int k) {
    double t = a[i];
    a[i] = a[k];
    a[k] = t;
}
static double lufact(int n, double *seconds) {
    double **a = get(n, sizeof *a), *b = get(n, sizeof *b);
    int *pivot = get(n, sizeof *pivot), s = 1325;
    for (int j = 0; j < n; j++) a[j] = get(n, sizeof **a);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            s = 3125 * s % 65536;
            b[i] += a[j][i] = (s - 32768.0) / 16384.0;
        }
        if (16384 / (n & -n) < n) s = 3125 * s % 65536; /* or rows would repeat */
    }
    double begin = omp_get_wtime();
#pragma omp parallel
    for (int k = 0; k < n - 1; k++) {
#pragma omp single
        {
            int best = k;
            for (int i = k + 1; i < n; i++)
                if (fabs(a[k][i]) > fabs(a[k][best])) best = i;
            pivot[k] = best;
            swap(a[k], best, k);
            double factor = -1 / a[k][k];
            for (int i = k + 1; i < n; i++) a[k][i] *= factor;
        }
#pragma omp for schedule(static)
        for (int j = k + 1; j < n; j++) {
            double *restrict column = a[j], *restrict pivots = a[k];
            swap(column, pivot[k], k);
            double t = column[k];
            for (int i = k + 1; i < n; i++) column[i] += t * pivots[i];
        }
    }
    for (int k = 0; k < n - 1; k++) {
        swap(b, pivot[k], k);
        for (int i = k + 1; i < n; i++) b[i] += b[k] * a[k][i];
    }
    for (int k = n - 1; k >= 0; k--) {
        b[k] /= a[k][k];
        for (int i = 0; i < k; i++) b[i] -= b[k] * a[k][i];
    }
    *seconds = omp_get_wtime() - begin;
    double worst = 0;
    for (int i = 0; i < n; i++) worst = fmax(worst, fabs(b[i] - 1));
    if (!(worst < 1e-6)) fail("LUFact is wrong: the solution is not all ones");
    for (int j = 0; j < n; j++) free(a[j]);
    free(a), free(b), free(pivot);
    return worst;
}

static int multiply(int a, int b) {
    if (a == 0) return (1 - b) & 0xFFFF;
    if (b == 0) return (1 - a) & 0xFFFF;
    uint32_t p = (uint32_t)a * (uint32_t)b;
    int low = p & 0xFFFF, high = p >> 16;
    return (low - high + (low < high)) & 0xFFFF;
}
static int reciprocal(int x) {
    int r = 1;
    for (int i = 0; i < 16; i++) r = multiply(multiply(r, r), x);
    return r;
}
static void idea(const uint8_t *from, uint8_t *to, int blocks, const int *keys) {
#pragma omp parallel for schedule(static)
    for (int n = 0; n < blocks; n++) {
        const uint8_t *f = from + 8 * (size_t)n;
        uint8_t *t = to + 8 * (size_t)n;
        int x1 = f[0] << 8 | f[1], x2 = f[2] << 8 | f[3], x3 = f[4] << 8 | f[5], x4 = f[6] << 8 | f[7];
        const int *k = keys;
        for (int round = 0; round < 8; round++, k += 6) {
            x1 = multiply(x1, k[0]);
            x2 = (x2 + k[1]) & 0xFFFF;
            x3 = (x3 + k[2]) & 0xFFFF;
            x4 = multiply(x4, k[3]);
            int v = multiply(x1 ^ x3, k[4]), u = multiply((v + (x2 ^ x4)) & 0xFFFF, k[5]);
            v = (v + u) & 0xFFFF;
            x1 ^= u;
            x4 ^= v;
            int swapped = x2 ^ v;
            x2 = x3 ^ u;
            x3 = swapped;
        }
        int out[] = {multiply(x1, k[0]), x3 + k[1], x2 + k[2], multiply(x4, k[3])};
        for (int i = 0; i < 4; i++) t[2 * i] = out[i] >> 8, t[2 * i + 1] = out[i];
    }
}
static double crypt(int bytes, double *seconds) {
    int keys[52], undo[52];
    seed(136506717);
    for (int i = 0; i < 8; i++) keys[i] = (int)bits(16);
    for (int i = 8; i < 52; i++) {
        int base = i - i % 8 - 8;
        keys[i] = (keys[base + (i % 8 + 1) % 8] << 9 | keys[base + (i % 8 + 2) % 8] >> 7) & 0xFFFF;
    }
    for (int r = 0; r <= 8; r++) {
        int f = 6 * (8 - r), t = 6 * r, middle = r > 0 && r < 8;
        undo[t] = reciprocal(keys[f]);
        undo[t + 1] = -keys[f + (middle ? 2 : 1)] & 0xFFFF;
        undo[t + 2] = -keys[f + (middle ? 1 : 2)] & 0xFFFF;
        undo[t + 3] = reciprocal(keys[f + 3]);
        if (r < 8) undo[t + 4] = keys[f - 2], undo[t + 5] = keys[f - 1];
    }
    uint8_t *plain = get(bytes, 1), *cipher = get(bytes, 1), *back = get(bytes, 1);
    for (int i = 0; i < bytes; i++) plain[i] = bits(8);
    double begin = omp_get_wtime();
    idea(plain, cipher, bytes / 8, keys);
    idea(cipher, back, bytes / 8, undo);
    *seconds = omp_get_wtime() - begin;
    if (memcmp(plain, back, bytes)) fail("Crypt is wrong");
    free(plain), free(cipher), free(back);
    return 0;
}

int main(int argc, char **argv) {
    if (argc != 4 || argv[2][0] < 'A' || argv[2][0] > 'C') fail("usage: grande KERNEL A|B|C REPETITIONS");
    int size = argv[2][0] - 'A';
    const char *kernel = argv[1];
    for (int i = 0; i < atoi(argv[3]); i++) {
        double seconds = 0, result;
        if (!strcmp(kernel, "Series")) result = series((int[]){10000, 100000, 1000000}[size], &seconds);
        else if (!strcmp(kernel, "SOR")) result = sor((int[]){1000, 1500, 2000}[size], (double[]){0.498574406322512, 1.1234778980135105, 1.9954895063582696}[size], &seconds);
        else if (!strcmp(kernel, "Sparse")) result = sparse((int[]){50000, 100000, 500000}[size], (double[]){75.02484945753453, 150.0130719633895, 749.5245870753752}[size], &seconds);
        else if (!strcmp(kernel, "LUFact")) result = lufact((int[]){500, 1000, 2000}[size], &seconds);
        else if (!strcmp(kernel, "Crypt")) result = crypt((int[]){3000000, 20000000, 50000000}[size], &seconds);
        else if (!strcmp(kernel, "MolDyn")) result = molecular_dynamics(size, &seconds);
        else if (!strcmp(kernel, "MonteCarlo")) result = monte_carlo(size, &seconds);
        else if (!strcmp(kernel, "RayTracer")) result = ray_tracer(size, &seconds);
        else if (!strcmp(kernel, "Euler")) result = euler(size, &seconds);
        else fail("no such kernel");
        printf("%s %s %.6f %.15g\n", kernel, argv[2], seconds, result);
    }
    return 0;
}
