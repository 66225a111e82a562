package dev.loadline.grande;

import java.util.Arrays;

/**
 * MolDyn: particles under a Lennard-Jones potential in a periodic cube, fifty moves (after Heermann's
 * textbook program). Each thread sums forces in arrays of its own, which are then reduced.
 */
final class MolecularDynamics implements Kernel {
    private static final double DENSITY = 0.83134;
    private static final double TEMPERATURE = 0.722;
    private static final double STEP = 0.064;
    private static final int MOVES = 50;
    /** Velocities are scaled to the temperature every so many moves, in the first of them. */
    private static final int SCALE_EVERY = 10;
    private static final int SCALE_UNTIL = 19;

    private final int n;
    private final double side;
    private final double cutoff;
    private final double[][] position;
    private final double[][] velocity;
    private final double[][] force;
    private final double expected;
    private double kinetic;
    private double potential;

    MolecularDynamics(int cells, double expected) {
        this.expected = expected;
        n = 4 * cells * cells * cells;
        side = Math.pow(n / DENSITY, 0.3333333); // the reference values were made with this cube root
        cutoff = cells / 4.0;
        position = new double[3][n];
        velocity = new double[3][n];
        force = new double[3][n];
        placeOnLattice(cells);
        drawVelocities();
    }

    private void placeOnLattice(int cells) {
        double a = side / cells;
        double[][] corners = {{0, 0, 0}, {0.5, 0.5, 0}, {0.5, 0, 0.5}, {0, 0.5, 0.5}};
        int p = 0;
        for (double[] corner : corners) {
            for (int i = 0; i < cells; i++) {
                for (int j = 0; j < cells; j++) {
                    for (int k = 0; k < cells; k++, p++) {
                        position[0][p] = i * a + corner[0] * a;
                        position[1][p] = j * a + corner[1] * a;
                        position[2][p] = k * a + corner[2] * a;
                    }
                }
            }
        }
    }

    /** Normal deviates by the polar method, from Park and Miller's multiplier modulo 2^31; no drift, right temperature. */
    private void drawVelocities() {
        long state = 1;
        double sumOfSquares = 0;
        for (double[] v : velocity) {
            for (int i = 0; i < n; i += 2) {
                double s;
                double v1;
                double v2;
                do {
                    state = (state * 16807 & 0x7FFFFFFF) % 0x7FFFFFFF;
                    v1 = 2 * (4.656612875e-10 * state) - 1;
                    state = (state * 16807 & 0x7FFFFFFF) % 0x7FFFFFFF;
                    v2 = 2 * (4.656612875e-10 * state) - 1;
                    s = v1 * v1 + v2 * v2;
                } while (s >= 1);
                double r = Math.sqrt(-2 * Math.log(s) / s);
                v[i] = v1 * r;
                v[i + 1] = v2 * r;
            }
        }
        for (double[] v : velocity) {
            double mean = 0;
            for (double x : v) {
                mean += x;
            }
            mean /= n;
            for (int i = 0; i < n; i++) {
                v[i] -= mean;
                sumOfSquares += v[i] * v[i];
            }
        }
        scale(STEP * Math.sqrt(TEMPERATURE / (16.0 / (n - 1) * sumOfSquares)));
    }

    private void scale(double factor) {
        for (double[] v : velocity) {
            for (int i = 0; i < n; i++) {
                v[i] *= factor;
            }
        }
    }

    @Override
    public void run() {
        move(this::computeForces);
    }

    /** Each thread has arrays of its own for as long as the kernel runs. */
    @Override
    public void run(Crew crew) {
        double[][][] parts = new double[crew.size][3][n];
        double[] energies = new double[crew.size];
        move(() -> {
            crew.each(part -> {
                double[][] own = parts[part];
                for (double[] f : own) {
                    Arrays.fill(f, 0);
                }
                double energy = 0;
                for (int i = part; i < n; i += crew.size) {
                    energy += forcesOn(i, own[0], own[1], own[2]);
                }
                energies[part] = energy;
            });
            potential = 0;
            for (int part = 0; part < crew.size; part++) {
                potential += energies[part];
                for (int d = 0; d < 3; d++) {
                    for (int i = 0; i < n; i++) {
                        force[d][i] += parts[part][d][i];
                    }
                }
            }
        });
    }

    private void move(Runnable computeForces) {
        double half = STEP * STEP * 0.5;
        for (int move = 0; move < MOVES; move++) {
            for (int d = 0; d < 3; d++) {
                advance(position[d], velocity[d], force[d]);
            }
            computeForces.run();
            double sum = 0;
            for (int i = 0; i < n; i++) {
                for (int d = 0; d < 3; d++) {
                    force[d][i] *= half;
                    velocity[d][i] += force[d][i];
                    sum += velocity[d][i] * velocity[d][i];
                }
            }
            kinetic = sum / (STEP * STEP);
            if (move < SCALE_UNTIL && (move + 1) % SCALE_EVERY == 0) {
                scale(Math.sqrt(TEMPERATURE / (16.0 / (n - 1) * kinetic)));
                kinetic = TEMPERATURE / (16.0 / (n - 1));
            }
        }
    }

    private void advance(double[] x, double[] v, double[] f) {
        for (int i = 0; i < n; i++) {
            double moved = x[i] + v[i] + f[i];
            x[i] = moved < 0 ? moved + side : moved > side ? moved - side : moved;
            v[i] += f[i];
            f[i] = 0;
        }
    }

    private void computeForces() {
        double[] fx = force[0];
        double[] fy = force[1];
        double[] fz = force[2];
        double energy = 0;
        //omp parallel for schedule(static, 1) reduction(+ : fx, fy, fz, energy)
        for (int i = 0; i < n; i++) {
            energy += forcesOn(i, fx, fy, fz);
        }
        potential = energy;
    }

    /** Adds the forces between a particle and those after it; returns their potential. */
    private double forcesOn(int i, double[] fx, double[] fy, double[] fz) {
        double[] px = position[0];
        double[] py = position[1];
        double[] pz = position[2];
        double x = px[i];
        double y = py[i];
        double z = pz[i];
        double sumX = 0;
        double sumY = 0;
        double sumZ = 0;
        double energy = 0;
        double limit = cutoff * cutoff;
        for (int j = i + 1; j < n; j++) {
            double dx = nearest(x - px[j]);
            double dy = nearest(y - py[j]);
            double dz = nearest(z - pz[j]);
            double square = dx * dx + dy * dy + dz * dz;
            if (square <= limit) {
                double r2 = 1 / square;
                double r4 = r2 * r2;
                double r6 = r4 * r2;
                double r8 = r4 * r4;
                double r12 = r4 * r8;
                energy += r12 - r6;
                double pull = r12 * r2 - 0.5 * r8;
                sumX += dx * pull;
                fx[j] -= dx * pull;
                sumY += dy * pull;
                fy[j] -= dy * pull;
                sumZ += dz * pull;
                fz[j] -= dz * pull;
            }
        }
        fx[i] += sumX;
        fy[i] += sumY;
        fz[i] += sumZ;
        return energy;
    }

    private double nearest(double distance) {
        double half = side * 0.5;
        return distance < -half ? distance + side : distance > half ? distance - side : distance;
    }

    @Override
    public void check() {
        Kernel.near("kinetic energy", result(), expected, 1e-10);
        if (!(potential < 0)) {
            throw new IllegalStateException("the potential is " + potential + "; a liquid's is negative");
        }
    }

    @Override
    public double result() {
        return 24 * kinetic;
    }
}
