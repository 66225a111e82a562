package dev.loadline.grande;

import java.util.Random;

/** SOR: a hundred iterations of successive over-relaxation on a square grid, red and black points in turn. */
final class SuccessiveOverRelaxation implements Kernel {
    private static final int ITERATIONS = 100;
    private static final double OMEGA = 1.25;

    private final double[][] grid;
    private final double expected;
    private double total;

    SuccessiveOverRelaxation(int n, double expected) {
        this.expected = expected;
        grid = new double[n][n];
        Random random = new Random(10101010);
        for (double[] row : grid) {
            for (int j = 0; j < n; j++) {
                row[j] = random.nextDouble() * 1e-6;
            }
        }
    }

    @Override
    public void run() {
        double[][] g = grid;
        int n = g.length;
        //omp parallel
        for (int half = 0; half < 2 * ITERATIONS; half++) {
            //omp for schedule(static)
            for (int i = 1; i < n - 1; i++) {
                relax(g[i - 1], g[i], g[i + 1], 1 + (i + 1 + half) % 2);
            }
        }
        total = inner(g);
    }

    @Override
    public void run(Crew crew) {
        double[][] g = grid;
        crew.region(hand -> {
            for (int i = 0; i < 2 * ITERATIONS; i++) {
                int half = i;
                hand.loop(1, g.length - 1, k -> relax(g[k - 1], g[k], g[k + 1], 1 + (k + 1 + half) % 2));
            }
        });
        total = inner(g);
    }

    private static double inner(double[][] g) {
        double sum = 0;
        for (int i = 1; i < g.length - 1; i++) {
            for (int j = 1; j < g.length - 1; j++) {
                sum += g[i][j];
            }
        }
        return sum;
    }

    /** Relaxes every second point of a row; its neighbours are all of the other colour. */
    private static void relax(double[] above, double[] row, double[] below, int first) {
        double quarter = OMEGA * 0.25;
        double rest = 1 - OMEGA;
        for (int j = first; j < row.length - 1; j += 2) {
            row[j] = quarter * (above[j] + below[j] + row[j - 1] + row[j + 1]) + rest * row[j];
        }
    }

    @Override
    public void check() {
        Kernel.near("sum of the grid", total, expected, 1e-12);
    }

    @Override
    public double result() {
        return total;
    }
}
