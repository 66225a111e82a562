/* The large applications of Java Grande in C with OpenMP, as in bed/grande: the same operations in the same
   order, so that results agree to the last digits. */
#include "grande.h"

static void size_exists(const char *kernel, int size) {
    if (size > 1) {
        fprintf(stderr, "grande: %s has no size C; it has A, B\n", kernel);
        exit(1);
    }
}

/* ---- MolDyn: Lennard-Jones particles in a periodic cube ---- */

enum { MOVES = 50, SCALE_EVERY = 10, SCALE_UNTIL = 19 };
static const double DENSITY = 0.83134, TEMPERATURE = 0.722, STEP = 0.064;

static inline double nearest_image(double distance, double side, double half) {
    return distance < -half ? distance + side : distance > half ? distance - side : distance;
}

static double forces_on(int i, int n, double side, double limit, double *const *p, double *fx, double *fy, double *fz) {
    const double *px = p[0], *py = p[1], *pz = p[2];
    double x = px[i], y = py[i], z = pz[i], sx = 0, sy = 0, sz = 0, energy = 0, half = side * 0.5;
    for (int j = i + 1; j < n; j++) {
        double dx = nearest_image(x - px[j], side, half), dy = nearest_image(y - py[j], side, half), dz = nearest_image(z - pz[j], side, half);
        double square = dx * dx + dy * dy + dz * dz;
        if (square <= limit) {
            double r2 = 1 / square, r4 = r2 * r2, r6 = r4 * r2, r8 = r4 * r4, r12 = r4 * r8;
            energy += r12 - r6;
            double pull = r12 * r2 - 0.5 * r8;
            sx += dx * pull, fx[j] -= dx * pull;
            sy += dy * pull, fy[j] -= dy * pull;
            sz += dz * pull, fz[j] -= dz * pull;
        }
    }
    fx[i] += sx, fy[i] += sy, fz[i] += sz;
    return energy;
}

static void place_on_lattice(double **p, int cells, double side) {
    static const double corners[4][3] = {{0, 0, 0}, {0.5, 0.5, 0}, {0.5, 0, 0.5}, {0, 0.5, 0.5}};
    double a = side / cells;
    int at = 0;
    for (int c = 0; c < 4; c++)
        for (int i = 0; i < cells; i++)
            for (int j = 0; j < cells; j++)
                for (int k = 0; k < cells; k++, at++) {
                    p[0][at] = i * a + corners[c][0] * a;
                    p[1][at] = j * a + corners[c][1] * a;
                    p[2][at] = k * a + corners[c][2] * a;
                }
}

static void scale(double **v, int n, double factor) {
    for (int d = 0; d < 3; d++)
        for (int i = 0; i < n; i++) v[d][i] *= factor;
}

static void draw_velocities(double **v, int n) {
    int64_t s = 1;
    double squares = 0;
    for (int d = 0; d < 3; d++)
        for (int i = 0; i < n; i += 2) {
            double square, v1, v2;
            do {
                s = (s * 16807 & 0x7FFFFFFF) % 0x7FFFFFFF;
                v1 = 2 * (4.656612875e-10 * (double)s) - 1;
                s = (s * 16807 & 0x7FFFFFFF) % 0x7FFFFFFF;
                v2 = 2 * (4.656612875e-10 * (double)s) - 1;
                square = v1 * v1 + v2 * v2;
            } while (square >= 1);
            double r = sqrt(-2 * log(square) / square);
            v[d][i] = v1 * r, v[d][i + 1] = v2 * r;
        }
    for (int d = 0; d < 3; d++) {
        double mean = 0;
        for (int i = 0; i < n; i++) mean += v[d][i];
        mean /= n;
        for (int i = 0; i < n; i++) v[d][i] -= mean, squares += v[d][i] * v[d][i];
    }
    scale(v, n, STEP * sqrt(TEMPERATURE / (16.0 / (n - 1) * squares)));
}

double molecular_dynamics(int size, double *seconds) {
    size_exists("MolDyn", size);
    int cells = (int[]){8, 13}[size], n = 4 * cells * cells * cells;
    double side = pow(n / DENSITY, 0.3333333), limit = cells / 4.0 * (cells / 4.0), kinetic = 0, potential = 0;
    double *p[3], *v[3], *f[3];
    for (int d = 0; d < 3; d++) p[d] = get(n, sizeof(double)), v[d] = get(n, sizeof(double)), f[d] = get(n, sizeof(double));
    place_on_lattice(p, cells, side);
    draw_velocities(v, n);
    double begin = omp_get_wtime(), half = STEP * STEP * 0.5;
    for (int move = 0; move < MOVES; move++) {
        for (int d = 0; d < 3; d++)
            for (int i = 0; i < n; i++) {
                double moved = p[d][i] + v[d][i] + f[d][i];
                p[d][i] = moved < 0 ? moved + side : moved > side ? moved - side : moved;
                v[d][i] += f[d][i];
                f[d][i] = 0;
            }
        double *fx = f[0], *fy = f[1], *fz = f[2], energy = 0;
#pragma omp parallel for schedule(static, 1) reduction(+ : fx[:n], fy[:n], fz[:n], energy)
        for (int i = 0; i < n; i++) energy += forces_on(i, n, side, limit, p, fx, fy, fz);
        potential = energy;
        double sum = 0;
        for (int i = 0; i < n; i++)
            for (int d = 0; d < 3; d++) {
                f[d][i] *= half;
                v[d][i] += f[d][i];
                sum += v[d][i] * v[d][i];
            }
        kinetic = sum / (STEP * STEP);
        if (move < SCALE_UNTIL && (move + 1) % SCALE_EVERY == 0) {
            scale(v, n, sqrt(TEMPERATURE / (16.0 / (n - 1) * kinetic)));
            kinetic = TEMPERATURE / (16.0 / (n - 1));
        }
    }
    *seconds = omp_get_wtime() - begin;
    if (fabs(24 * kinetic - (double[]){1731.4306625334357, 7397.392307839352}[size]) > 1e-10 || potential >= 0) fail("MolDyn is wrong");
    for (int d = 0; d < 3; d++) free(p[d]), free(v[d]), free(f[d]);
    return 24 * kinetic;
}

/* ---- MonteCarlo: the mean return of simulated price paths ---- */

enum { DAYS = 1000 };
static const double YEAR = 365;

/* java.util.Random.nextGaussian: pairs by the polar method. */
typedef struct {
    int kept;
    double next;
} gaussian;
static double next_gaussian(gaussian *g) {
    if (g->kept) {
        g->kept = 0;
        return g->next;
    }
    double v1, v2, s;
    do {
        v1 = 2 * next_double() - 1;
        v2 = 2 * next_double() - 1;
        s = v1 * v1 + v2 * v2;
    } while (s >= 1 || s == 0);
    double factor = sqrt(-2 * log(s) / s);
    g->next = v2 * factor;
    g->kept = 1;
    return v1 * factor;
}

static void price_path(double *prices, uint64_t start, double drift, double volatility) {
    gaussian g = {0, 0};
    seed(start);
    double trend = (drift - 0.5 * volatility * volatility) / YEAR, noise = volatility * sqrt(1 / YEAR);
    prices[0] = 100;
    for (int i = 1; i < DAYS; i++) prices[i] = prices[i - 1] * exp(trend + noise * next_gaussian(&g));
}

/* Mean and mean square of the daily returns. */
static void daily_returns(const double *prices, double *daily, double *square) {
    double sum = 0, squares = 0;
    for (int i = 1; i < DAYS; i++) {
        double r = log(prices[i] / prices[i - 1]);
        sum += r, squares += r * r;
    }
    *daily = sum / (DAYS - 1), *square = squares / (DAYS - 1);
}

double monte_carlo(int size, double *seconds) {
    size_exists("MonteCarlo", size);
    int runs = (int[]){2000, 60000}[size];
    double *returns = get(runs, sizeof *returns), known[DAYS], daily, square;
    price_path(known, 20261121, 0.06, 0.20);
    daily_returns(known, &daily, &square);
    double volatility = sqrt((square - daily * daily) * YEAR), drift = daily * YEAR + 0.5 * volatility * volatility;
    double begin = omp_get_wtime();
#pragma omp parallel for schedule(static)
    for (int i = 0; i < runs; i++) {
        double prices[DAYS], mean, squares;
        price_path(prices, (uint64_t)i * 11, drift, volatility);
        daily_returns(prices, &mean, &squares);
        returns[i] = mean * YEAR + 0.5 * (squares - mean * mean) * YEAR;
    }
    double sum = 0;
    for (int i = 0; i < runs; i++) sum += returns[i];
    *seconds = omp_get_wtime() - begin;
    double error = volatility / sqrt((DAYS - 1) / YEAR) / sqrt(runs);
    if (fabs(sum / runs - drift) > 4 * error) fail("MonteCarlo is wrong");
    free(returns);
    return sum / runs;
}
