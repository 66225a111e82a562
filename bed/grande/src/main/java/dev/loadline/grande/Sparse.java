package dev.loadline.grande;

import java.util.Random;

/** Two hundred products of a sparse matrix, given by its elements, with a vector. */
final class Sparse implements Kernel {
    private static final int ITERATIONS = 200;
    private static final int PER_ROW = 5;

    private final double[] x;
    private final double[] y;
    private final int[] row;
    private final int[] column;
    private final double[] value;
    /** Elements in the order of their rows: where each row's begin, and one more. */
    private final int[] rowBegin;
    private final int[] sorted;
    private final double expected;
    private double total;

    Sparse(int n, double expected) {
        this.expected = expected;
        Random random = new Random(10101010);
        x = new double[n];
        y = new double[n];
        for (int i = 0; i < n; i++) {
            x[i] = random.nextDouble() * 1e-6;
        }
        int elements = n * PER_ROW;
        row = new int[elements];
        column = new int[elements];
        value = new double[elements];
        for (int i = 0; i < elements; i++) {
            row[i] = Math.abs(random.nextInt()) % n;
            column[i] = Math.abs(random.nextInt()) % n;
            value[i] = random.nextDouble();
        }
        rowBegin = new int[n + 1];
        for (int r : row) {
            rowBegin[r + 1]++;
        }
        for (int i = 0; i < n; i++) {
            rowBegin[i + 1] += rowBegin[i];
        }
        sorted = new int[elements];
        int[] next = rowBegin.clone();
        for (int i = 0; i < elements; i++) {
            sorted[next[row[i]]++] = i;
        }
        sortElements();
    }

    /** Puts the elements themselves into that order, so that rows can be shared out. */
    private void sortElements() {
        int[] columns = new int[sorted.length];
        double[] values = new double[sorted.length];
        for (int i = 0; i < sorted.length; i++) {
            columns[i] = column[sorted[i]];
            values[i] = value[sorted[i]];
        }
        System.arraycopy(columns, 0, column, 0, columns.length);
        System.arraycopy(values, 0, value, 0, values.length);
    }

    @Override
    public void run() {
        int n = y.length;
        //omp parallel
        for (int iteration = 0; iteration < ITERATIONS; iteration++) {
            //omp for schedule(static) nowait
            for (int r = 0; r < n; r++) { // a thread has the same rows each time
                y[r] += product(r);
            }
        }
        total = overElements();
    }

    @Override
    public void run(Crew crew) {
        crew.each(part -> {
            int begin = crew.blockBegin(part, 0, y.length);
            int end = crew.blockBegin(part + 1, 0, y.length);
            for (int iteration = 0; iteration < ITERATIONS; iteration++) {
                for (int r = begin; r < end; r++) {
                    y[r] += product(r);
                }
            }
        });
        total = overElements();
    }

    private double product(int r) {
        double sum = 0;
        for (int i = rowBegin[r]; i < rowBegin[r + 1]; i++) {
            sum += x[column[i]] * value[i];
        }
        return sum;
    }

    private double overElements() {
        double sum = 0;
        for (int r : row) {
            sum += y[r];
        }
        return sum;
    }

    @Override
    public void check() {
        Kernel.near("sum over the elements' rows", total, expected, 1e-10);
    }

    @Override
    public double result() {
        return total;
    }
}
