package dev.loadline.grande;

/** LUFact: Linpack, the solution of a dense linear system by factorization with partial pivoting. */
final class LuFactorization implements Kernel {
    private final int n;
    private final double most;
    /** Columns of the matrix. */
    private final double[][] a;
    private final double[] b;
    private final int[] pivot;

    LuFactorization(int n, double most) {
        this.n = n;
        this.most = most;
        a = matrix(n);
        b = rightSide(a);
        pivot = new int[n];
    }

    /**
     * Linpack's matrix. Its numbers repeat after 16384, and so do the rows of size C after 1024, which makes the
     * matrix singular: there, one number is left out after each row.
     */
    private static double[][] matrix(int n) {
        double[][] columns = new double[n][n];
        boolean rowsRepeat = 16384 / Integer.lowestOneBit(n) < n;
        int state = 1325;
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                state = 3125 * state % 65536;
                columns[j][i] = (state - 32768.0) / 16384.0;
            }
            if (rowsRepeat) {
                state = 3125 * state % 65536;
            }
        }
        return columns;
    }

    /** The sums of the rows, so that the solution is all ones. */
    private static double[] rightSide(double[][] columns) {
        double[] sums = new double[columns.length];
        for (double[] column : columns) {
            for (int i = 0; i < sums.length; i++) {
                sums[i] += column[i];
            }
        }
        return sums;
    }

    @Override
    public void run() {
        //omp parallel
        for (int k = 0; k < n - 1; k++) {
            //omp single
            choosePivot(k);
            //omp for schedule(static)
            for (int j = k + 1; j < n; j++) {
                eliminate(a[j], a[k], k, pivot[k]);
            }
        }
        pivot[n - 1] = n - 1;
        solve();
    }

    @Override
    public void run(Crew crew) {
        crew.region(hand -> {
            for (int i = 0; i < n - 1; i++) {
                int k = i;
                hand.once(() -> choosePivot(k));
                hand.loop(k + 1, n, j -> eliminate(a[j], a[k], k, pivot[k]));
            }
        });
        pivot[n - 1] = n - 1;
        solve();
    }

    private void choosePivot(int k) {
        double[] column = a[k];
        int best = k;
        for (int i = k + 1; i < n; i++) {
            if (Math.abs(column[i]) > Math.abs(column[best])) {
                best = i;
            }
        }
        pivot[k] = best;
        if (column[best] == 0) {
            throw new ArithmeticException("the matrix is singular at column " + k);
        }
        swap(column, best, k);
        double factor = -1 / column[k];
        for (int i = k + 1; i < n; i++) {
            column[i] *= factor;
        }
    }

    private static void eliminate(double[] column, double[] pivots, int k, int row) {
        swap(column, row, k);
        double t = column[k];
        for (int i = k + 1; i < column.length; i++) {
            column[i] += t * pivots[i];
        }
    }

    private static void swap(double[] column, int i, int k) {
        double t = column[i];
        column[i] = column[k];
        column[k] = t;
    }

    private void solve() {
        for (int k = 0; k < n - 1; k++) {
            swap(b, pivot[k], k);
            for (int i = k + 1; i < n; i++) {
                b[i] += b[k] * a[k][i];
            }
        }
        for (int k = n - 1; k >= 0; k--) {
            b[k] /= a[k][k];
            for (int i = 0; i < k; i++) {
                b[i] -= b[k] * a[k][i];
            }
        }
    }

    /** Linpack's normalized residual. */
    @Override
    public double result() {
        double[][] original = matrix(n);
        double[] left = rightSide(original);
        double largest = 0;
        for (int j = 0; j < n; j++) {
            for (int i = 0; i < n; i++) {
                left[i] -= original[j][i] * b[j];
                largest = Math.max(largest, original[j][i]);
            }
        }
        double residual = 0;
        double solution = 0;
        for (int i = 0; i < n; i++) {
            residual = Math.max(residual, Math.abs(left[i]));
            solution = Math.max(solution, Math.abs(b[i]));
        }
        return residual / (n * largest * solution * Math.ulp(1.0));
    }

    @Override
    public void check() {
        if (!(result() <= most)) {
            throw new IllegalStateException("the residual is " + result() + "; it should be at most " + most);
        }
    }
}
