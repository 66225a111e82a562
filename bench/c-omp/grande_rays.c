/* RayTracer in C with OpenMP, as in bed/grande: 64 spheres, five lamps; the result is the sum of all colours. */
#include "grande.h"

enum { DEEPEST = 6, SPHERES = 64, LAMPS = 5 };
static const double NEAR = 1e-6, FAINTEST = 1e-3, SHINE = 15, REFLECTED = 0.5, TRANSMITTED = 0.5;

typedef struct {
    double x, y, z;
} vector;
typedef struct {
    vector centre;
    double radius;
    vector colour;
} sphere;

static sphere spheres[SPHERES];
static const vector lamps[LAMPS] = {{100, 100, -50}, {-100, 100, -50}, {100, -100, -50}, {-100, -100, -50}, {200, 200, 0}};

static inline vector plus(vector a, double f, vector b) { return (vector){a.x + f * b.x, a.y + f * b.y, a.z + f * b.z}; }
static inline vector minus(vector a, vector b) { return (vector){a.x - b.x, a.y - b.y, a.z - b.z}; }
static inline vector times(vector a, double f) { return (vector){a.x * f, a.y * f, a.z * f}; }
static inline double dot(vector a, vector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline vector cross(vector a, vector b) { return (vector){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
static inline vector unit(vector a) {
    double length = sqrt(dot(a, a));
    return length == 0 ? a : (vector){a.x / length, a.y / length, a.z / length};
}

static inline double meets(const sphere *s, vector from, vector direction) {
    vector v = minus(s->centre, from);
    double b = dot(v, direction), square = b * b - dot(v, v) + s->radius * s->radius;
    if (square < 0) return INFINITY;
    double root = sqrt(square), t = b - root < NEAR ? b + root : b - root;
    return t < NEAR ? INFINITY : t;
}

static const sphere *nearest(vector from, vector direction) {
    const sphere *found = NULL;
    double distance = 1e9;
    for (int i = 0; i < SPHERES; i++) {
        double t = meets(&spheres[i], from, direction);
        if (t < distance) distance = t, found = &spheres[i];
    }
    return found;
}

static vector lit(const sphere *s, vector point, vector normal, vector reflected) {
    vector colour = {0, 0, 0};
    for (int i = 0; i < LAMPS; i++) {
        vector to = minus(lamps[i], point);
        if (dot(normal, to) >= 0) {
            to = unit(to);
            if (!nearest(point, to)) {
                colour = plus(colour, dot(normal, to), s->colour);
                double gloss = dot(reflected, to);
                if (gloss > NEAR) colour = plus(colour, pow(gloss, SHINE), (vector){1, 1, 1});
            }
        }
    }
    return colour;
}

static vector refracted(vector direction, vector normal) {
    double in = -dot(direction, normal), square = 1 - (1 - in * in);
    return unit(plus(direction, in - sqrt(square), normal));
}

static vector trace(int depth, double weight, vector from, vector direction, vector *strike) {
    const sphere *hit = depth > DEEPEST ? NULL : nearest(from, direction);
    if (!hit) return (vector){0, 0, 0};
    vector point = plus(from, meets(hit, from, direction), direction);
    vector normal = unit(minus(point, hit->centre));
    if (dot(direction, normal) >= 0) normal = times(normal, -1);
    vector reflected = unit(plus(times(direction, 1 / fabs(dot(direction, normal))), 2, normal));
    vector colour = lit(hit, point, normal, reflected);
    *strike = point;
    if (REFLECTED * weight > FAINTEST) colour = plus(colour, REFLECTED, trace(depth + 1, REFLECTED * weight, point, reflected, strike));
    if (TRANSMITTED * weight > FAINTEST)
        colour = plus(colour, TRANSMITTED, trace(depth + 1, TRANSMITTED * weight, *strike, refracted(direction, normal), strike));
    return colour;
}

static int level(double brightness) {
    int value = (int)(brightness * 255);
    return value < 255 ? value : 255;
}

double ray_tracer(int size, double *seconds) {
    if (size > 1) fail("RayTracer has no size C; it has A, B");
    int n = (int[]){150, 500}[size];
    for (int i = 0; i < SPHERES; i++) {
        int a = i / 16, b = i / 4 % 4, c = i % 4;
        spheres[i] = (sphere){{20.0 / 3 * a - 10, 20.0 / 3 * b - 10, 20.0 / 3 * c - 10}, 3, {0, 0, (a + b) / 6.0}};
    }
    double begin = omp_get_wtime(), width = tan(35 * 3.14159265 / 180);
    vector eye = {0, 20, -30}, ahead = unit(minus((vector){0, 0, 0}, eye)), up = {0, 1, 0};
    up = unit(plus(up, -dot(up, ahead), ahead));
    vector left = times(unit(cross(up, ahead)), width), down = times(up, -width);
    long sum = 0;
#pragma omp parallel for schedule(dynamic, 4) reduction(+ : sum)
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            vector strike, ray = unit(plus(plus(times(left, 2.0 * x / n - 1), 2.0 * y / n - 1, down), 1, ahead));
            vector colour = trace(0, 1, eye, ray, &strike);
            sum += level(colour.x) + level(colour.y) + level(colour.z);
        }
    *seconds = omp_get_wtime() - begin;
    if (sum != (long[]){2676692, 29827635}[size]) fail("RayTracer is wrong");
    return (double)sum;
}
