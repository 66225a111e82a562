package dev.loadline.grande;

/**
 * The time-dependent Euler equations for the flow of air through a channel with a bump on its floor:
 * finite volumes on an N by 4N mesh, four-stage Runge-Kutta, second and fourth differences as damping
 * (Jameson, Schmidt and Turkel, AIAA 81-1259), two hundred steps. The original reads its mesh from a
 * file that cannot be had; ours is computed, so it is checked by what must hold: air that meets no
 * bump keeps its state, the walls let nothing through, and pressures and densities stay sensible.
 */
final class Euler implements Kernel {
    private static final int STEPS = 200;
    private static final double GAMMA = 1.4;
    private static final double MACH = 0.5;
    private static final double CFL = 1.0;
    private static final double SECOND = 0.25;
    private static final double FOURTH = 1.0 / 128;
    private static final double[] STAGES = {0.25, 1.0 / 3, 0.5, 1};

    private final int columns;
    private final int rows;
    /** Corners of the cells. */
    private final double[][] x;
    private final double[][] y;
    /** Mass, momentum and energy per volume: [what][column][row]. */
    private final double[][][] state;
    private final double[][][] before;
    private final double[][][] change;
    private final double[][] pressure;
    private final double[] free;
    private final double timeStep;

    Euler(int n) {
        this(n, 0.1);
    }

    /** With a bump of this height, for a channel of height 1. */
    Euler(int n, double bump) {
        columns = 4 * n;
        rows = n;
        x = new double[columns + 1][rows + 1];
        y = new double[columns + 1][rows + 1];
        for (int i = 0; i <= columns; i++) {
            double along = -1.5 + 4.0 * i / columns;
            double s = Math.sin(Math.PI * along);
            double floor = along > 0 && along < 1 ? bump * s * s : 0;
            for (int j = 0; j <= rows; j++) {
                x[i][j] = along;
                y[i][j] = floor + (1 - floor) * j / rows;
            }
        }
        double p = 1 / GAMMA; // speed of sound and density are 1
        free = new double[] {1, MACH, 0, p / (GAMMA - 1) + 0.5 * MACH * MACH};
        state = new double[4][columns][rows];
        before = new double[4][columns][rows];
        change = new double[4][columns][rows];
        pressure = new double[columns][rows];
        for (int v = 0; v < 4; v++) {
            for (double[] column : state[v]) {
                java.util.Arrays.fill(column, free[v]);
            }
        }
        timeStep = CFL * Math.min(4.0 / columns, (1 - bump) / rows) / (2 * (1 + MACH));
    }

    @Override
    public void run() {
        //omp parallel
        for (int step = 0; step < STEPS; step++) {
            //omp for schedule(static)
            for (int i = 0; i < columns; i++) {
                keep(i);
            }
            for (double stage : STAGES) {
                //omp for schedule(static)
                for (int i = 0; i < columns; i++) {
                    pressures(i);
                }
                //omp for schedule(static)
                for (int i = 0; i < columns; i++) {
                    balance(i);
                }
                //omp for schedule(static)
                for (int i = 0; i < columns; i++) {
                    advance(i, stage);
                }
            }
        }
    }

    @Override
    public void run(Crew crew) {
        crew.region(hand -> {
            for (int step = 0; step < STEPS; step++) {
                hand.loop(0, columns, this::keep);
                for (double stage : STAGES) {
                    hand.loop(0, columns, this::pressures);
                    hand.loop(0, columns, this::balance);
                    hand.loop(0, columns, i -> advance(i, stage));
                }
            }
        });
    }

    private void keep(int i) {
        for (int v = 0; v < 4; v++) {
            System.arraycopy(state[v][i], 0, before[v][i], 0, rows);
        }
    }

    private void pressures(int i) {
        for (int j = 0; j < rows; j++) {
            double rho = state[0][i][j];
            double mx = state[1][i][j];
            double my = state[2][i][j];
            pressure[i][j] = (GAMMA - 1) * (state[3][i][j] - 0.5 * (mx * mx + my * my) / rho);
        }
    }

    private void advance(int i, double stage) {
        for (int j = 0; j < rows; j++) {
            double dx1 = x[i + 1][j + 1] - x[i][j];
            double dy1 = y[i + 1][j + 1] - y[i][j];
            double dx2 = x[i][j + 1] - x[i + 1][j];
            double dy2 = y[i][j + 1] - y[i + 1][j];
            double area = 0.5 * Math.abs(dx1 * dy2 - dy1 * dx2);
            for (int v = 0; v < 4; v++) {
                state[v][i][j] = before[v][i][j] - stage * timeStep / area * change[v][i][j];
            }
        }
    }

    /** What leaves the cells of a column through their four sides. */
    private void balance(int i) {
        double[] flux = new double[4];
        for (int j = 0; j < rows; j++) {
            between(i, j, i + 1, j, 1, 0, y[i + 1][j + 1] - y[i + 1][j], x[i + 1][j] - x[i + 1][j + 1], 1, flux);
            between(i - 1, j, i, j, 1, 0, y[i][j + 1] - y[i][j], x[i][j] - x[i][j + 1], -1, flux);
            between(i, j, i, j + 1, 0, 1, y[i][j + 1] - y[i + 1][j + 1], x[i + 1][j + 1] - x[i][j + 1], 1, flux);
            between(i, j - 1, i, j, 0, 1, y[i][j] - y[i + 1][j], x[i + 1][j] - x[i][j], -1, flux);
            for (int v = 0; v < 4; v++) {
                change[v][i][j] = flux[v];
                flux[v] = 0;
            }
        }
    }

    /** Adds to the flux what passes from one cell to the next through a side with this normal. */
    private void between(int i, int j, int k, int l, int di, int dj, double nx, double ny, int sign, double[] flux) {
        if (j < 0 || l == rows) { // a wall only presses
            double p = j < 0 ? pressure[k][l] : pressure[i][j];
            flux[1] += sign * p * nx;
            flux[2] += sign * p * ny;
            return;
        }
        boolean inlet = i < 0;
        boolean outlet = k == columns;
        double p1 = inlet ? pressure[k][l] : pressure[i][j];
        double p2 = outlet ? 1 / GAMMA : pressure[k][l];
        double speed = passes(flux, i, j, p1, inlet, nx, ny, 0.5 * sign)
                + passes(flux, outlet ? i : k, l, p2, false, nx, ny, 0.5 * sign);
        if (!inlet && !outlet) {
            damp(i, j, k, l, di, dj, 0.5 * speed, sign, flux);
        }
    }

    /** Adds a share of the flux that one cell's state makes; returns the fastest wave's speed through the side. */
    private double passes(double[] flux, int i, int j, double p, boolean freeStream, double nx, double ny, double share) {
        double rho = freeStream ? free[0] : state[0][i][j];
        double mx = freeStream ? free[1] : state[1][i][j];
        double my = freeStream ? free[2] : state[2][i][j];
        double energy = p / (GAMMA - 1) + 0.5 * (mx * mx + my * my) / rho;
        double through = (mx * nx + my * ny) / rho;
        flux[0] += share * rho * through;
        flux[1] += share * (mx * through + p * nx);
        flux[2] += share * (my * through + p * ny);
        flux[3] += share * (energy + p) * through;
        return Math.abs(through) + Math.sqrt(GAMMA * p / rho * (nx * nx + ny * ny));
    }

    /** Damps second differences at shocks and fourth differences elsewhere. */
    private void damp(int i, int j, int k, int l, int di, int dj, double speed, int sign, double[] flux) {
        int i0 = clamp(i - di, columns);
        int j0 = clamp(j - dj, rows);
        int k1 = clamp(k + di, columns);
        int l1 = clamp(l + dj, rows);
        double sensor = Math.max(sensor(pressure[i0][j0], pressure[i][j], pressure[k][l]), sensor(pressure[i][j], pressure[k][l], pressure[k1][l1]));
        double second = SECOND * sensor;
        double fourth = Math.max(0, FOURTH - second);
        for (int v = 0; v < 4; v++) {
            double[][] s = state[v];
            double first = s[k][l] - s[i][j];
            double third = s[k1][l1] - 3 * s[k][l] + 3 * s[i][j] - s[i0][j0];
            flux[v] -= sign * speed * (second * first - fourth * third);
        }
    }

    private static int clamp(int index, int end) {
        return Math.max(0, Math.min(end - 1, index));
    }

    private static double sensor(double a, double b, double c) {
        return Math.abs(a - 2 * b + c) / (a + 2 * b + c);
    }

    @Override
    public void check() {
        double mass = 0;
        for (int i = 0; i < columns; i++) {
            for (int j = 0; j < rows; j++) {
                double p = pressure[i][j];
                double rho = state[0][i][j];
                if (!(p > 0.3 && p < 1.2 && rho > 0.5 && rho < 1.5)) {
                    throw new IllegalStateException("in cell " + i + ", " + j + " the pressure is " + p + " and the density " + rho);
                }
                mass += rho;
            }
        }
        Kernel.near("mean density", mass / (columns * rows), 1, 0.05);
    }

    /** The largest difference from the undisturbed state. */
    double disturbance() {
        double largest = 0;
        for (int v = 0; v < 4; v++) {
            for (double[] column : state[v]) {
                for (double value : column) {
                    largest = Math.max(largest, Math.abs(value - free[v]));
                }
            }
        }
        return largest;
    }

    @Override
    public double result() {
        double sum = 0;
        for (double[] column : pressure) {
            for (double p : column) {
                sum += Math.abs(p - 1 / GAMMA);
            }
        }
        return sum / (columns * rows);
    }
}
