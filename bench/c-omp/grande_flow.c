/* Euler in C with OpenMP, as in bed/grande: flow through a channel with a bump, finite volumes, 200 steps. */
#include "grande.h"

enum { STEPS = 200 };
static const double GAMMA = 1.4, MACH = 0.5, CFL = 1, SECOND = 0.25, FOURTH = 1.0 / 128, BUMP = 0.1;
static const double STAGES[] = {0.25, 1.0 / 3, 0.5, 1};

static int columns, rows;
static double **x, **y, **pressure, **state[4], **before[4], **change[4], free_stream[4], time_step;

static double **mesh(int m, int n) {
    double **a = get(m, sizeof *a);
    for (int i = 0; i < m; i++) a[i] = get(n, sizeof **a);
    return a;
}
static void release(double **a, int m) {
    for (int i = 0; i < m; i++) free(a[i]);
    free(a);
}

static void prepare(int n) {
    columns = 4 * n, rows = n;
    x = mesh(columns + 1, rows + 1), y = mesh(columns + 1, rows + 1), pressure = mesh(columns, rows);
    for (int i = 0; i <= columns; i++) {
        double along = -1.5 + 4.0 * i / columns, s = sin(M_PI * along), floor = along > 0 && along < 1 ? BUMP * s * s : 0;
        for (int j = 0; j <= rows; j++) x[i][j] = along, y[i][j] = floor + (1 - floor) * j / rows;
    }
    double p = 1 / GAMMA;
    free_stream[0] = 1, free_stream[1] = MACH, free_stream[2] = 0, free_stream[3] = p / (GAMMA - 1) + 0.5 * MACH * MACH;
    for (int v = 0; v < 4; v++) {
        state[v] = mesh(columns, rows), before[v] = mesh(columns, rows), change[v] = mesh(columns, rows);
        for (int i = 0; i < columns; i++)
            for (int j = 0; j < rows; j++) state[v][i][j] = free_stream[v];
    }
    time_step = CFL * fmin(4.0 / columns, (1 - BUMP) / rows) / (2 * (1 + MACH));
}

static void pressures(int i) {
    for (int j = 0; j < rows; j++) {
        double rho = state[0][i][j], mx = state[1][i][j], my = state[2][i][j];
        pressure[i][j] = (GAMMA - 1) * (state[3][i][j] - 0.5 * (mx * mx + my * my) / rho);
    }
}

static inline int clamp(int index, int end) { return index < 0 ? 0 : index > end - 1 ? end - 1 : index; }
static inline double sensor(double a, double b, double c) { return fabs(a - 2 * b + c) / (a + 2 * b + c); }

static inline void damp(int i, int j, int k, int l, int di, int dj, double speed, int sign, double *flux) {
    int i0 = clamp(i - di, columns), j0 = clamp(j - dj, rows), k1 = clamp(k + di, columns), l1 = clamp(l + dj, rows);
    double s = fmax(sensor(pressure[i0][j0], pressure[i][j], pressure[k][l]), sensor(pressure[i][j], pressure[k][l], pressure[k1][l1]));
    double second = SECOND * s, fourth = fmax(0, FOURTH - second);
    for (int v = 0; v < 4; v++) {
        double **w = state[v], first = w[k][l] - w[i][j], third = w[k1][l1] - 3 * w[k][l] + 3 * w[i][j] - w[i0][j0];
        flux[v] -= sign * speed * (second * first - fourth * third);
    }
}

static inline double passes(double *flux, int i, int j, double p, int undisturbed, double nx, double ny, double share) {
    double rho = undisturbed ? free_stream[0] : state[0][i][j], mx = undisturbed ? free_stream[1] : state[1][i][j];
    double my = undisturbed ? free_stream[2] : state[2][i][j];
    double energy = p / (GAMMA - 1) + 0.5 * (mx * mx + my * my) / rho, through = (mx * nx + my * ny) / rho;
    flux[0] += share * rho * through;
    flux[1] += share * (mx * through + p * nx);
    flux[2] += share * (my * through + p * ny);
    flux[3] += share * (energy + p) * through;
    return fabs(through) + sqrt(GAMMA * p / rho * (nx * nx + ny * ny));
}

static inline void between(int i, int j, int k, int l, int di, int dj, double nx, double ny, int sign, double *flux) {
    if (j < 0 || l == rows) {
        double p = j < 0 ? pressure[k][l] : pressure[i][j];
        flux[1] += sign * p * nx;
        flux[2] += sign * p * ny;
        return;
    }
    int inlet = i < 0, outlet = k == columns;
    double p1 = inlet ? pressure[k][l] : pressure[i][j], p2 = outlet ? 1 / GAMMA : pressure[k][l];
    double speed = passes(flux, i, j, p1, inlet, nx, ny, 0.5 * sign);
    speed += passes(flux, outlet ? i : k, l, p2, 0, nx, ny, 0.5 * sign);
    if (!inlet && !outlet) damp(i, j, k, l, di, dj, 0.5 * speed, sign, flux);
}

static void balance(int i) {
    for (int j = 0; j < rows; j++) {
        double flux[4] = {0, 0, 0, 0};
        between(i, j, i + 1, j, 1, 0, y[i + 1][j + 1] - y[i + 1][j], x[i + 1][j] - x[i + 1][j + 1], 1, flux);
        between(i - 1, j, i, j, 1, 0, y[i][j + 1] - y[i][j], x[i][j] - x[i][j + 1], -1, flux);
        between(i, j, i, j + 1, 0, 1, y[i][j + 1] - y[i + 1][j + 1], x[i + 1][j + 1] - x[i][j + 1], 1, flux);
        between(i, j - 1, i, j, 0, 1, y[i][j] - y[i + 1][j], x[i + 1][j] - x[i][j], -1, flux);
        for (int v = 0; v < 4; v++) change[v][i][j] = flux[v];
    }
}

static void advance(int i, double stage) {
    for (int j = 0; j < rows; j++) {
        double dx1 = x[i + 1][j + 1] - x[i][j], dy1 = y[i + 1][j + 1] - y[i][j];
        double dx2 = x[i][j + 1] - x[i + 1][j], dy2 = y[i][j + 1] - y[i + 1][j];
        double area = 0.5 * fabs(dx1 * dy2 - dy1 * dx2);
        for (int v = 0; v < 4; v++) state[v][i][j] = before[v][i][j] - stage * time_step / area * change[v][i][j];
    }
}

static double checked_result(void) {
    double mass = 0, sum = 0;
    for (int i = 0; i < columns; i++)
        for (int j = 0; j < rows; j++) {
            double p = pressure[i][j], rho = state[0][i][j];
            if (!(p > 0.3 && p < 1.2 && rho > 0.5 && rho < 1.5)) fail("Euler is wrong");
            mass += rho, sum += fabs(p - 1 / GAMMA);
        }
    if (fabs(mass / (columns * rows) - 1) > 0.05) fail("Euler is wrong");
    return sum / (columns * rows);
}

double euler(int size, double *seconds) {
    if (size > 1) fail("Euler has no size C; it has A, B");
    prepare((int[]){64, 96}[size]);
    double begin = omp_get_wtime();
#pragma omp parallel
    for (int step = 0; step < STEPS; step++) {
#pragma omp for schedule(static)
        for (int i = 0; i < columns; i++)
            for (int v = 0; v < 4; v++) memcpy(before[v][i], state[v][i], rows * sizeof(double));
        for (int s = 0; s < 4; s++) {
#pragma omp for schedule(static)
            for (int i = 0; i < columns; i++) pressures(i);
#pragma omp for schedule(static)
            for (int i = 0; i < columns; i++) balance(i);
#pragma omp for schedule(static)
            for (int i = 0; i < columns; i++) advance(i, STAGES[s]);
        }
    }
    *seconds = omp_get_wtime() - begin;
    double result = checked_result();
    release(x, columns + 1), release(y, columns + 1), release(pressure, columns);
    for (int v = 0; v < 4; v++) release(state[v], columns), release(before[v], columns), release(change[v], columns);
    return result;
}
