package dev.loadline.grande;

import java.util.Random;

/**
 * Prices from simulated paths: the drift and volatility of a series of daily prices are estimated, and
 * many series with the same are drawn; the result is their mean return. The original reads its series
 * from a file that cannot be had; ours is drawn, from a known process, so the result has a known mean.
 */
final class MonteCarlo implements Kernel {
    private static final int DAYS = 1000;
    private static final double YEAR = 365;
    private static final double TRUE_DRIFT = 0.06;
    private static final double TRUE_VOLATILITY = 0.20;

    private final double[] returns;
    private final double drift;
    private final double volatility;
    private double mean = Double.NaN;

    MonteCarlo(int runs) {
        returns = new double[runs];
        double[] prices = path(new Random(20261121), TRUE_DRIFT, TRUE_VOLATILITY);
        double sum = 0;
        double squares = 0;
        for (int i = 1; i < DAYS; i++) {
            double r = Math.log(prices[i] / prices[i - 1]);
            sum += r;
            squares += r * r;
        }
        double daily = sum / (DAYS - 1);
        volatility = Math.sqrt((squares / (DAYS - 1) - daily * daily) * YEAR);
        drift = daily * YEAR + 0.5 * volatility * volatility;
    }

    /** A geometric Brownian motion, day by day. */
    private static double[] path(Random random, double drift, double volatility) {
        double[] prices = new double[DAYS];
        double trend = (drift - 0.5 * volatility * volatility) / YEAR;
        double noise = volatility * Math.sqrt(1 / YEAR);
        prices[0] = 100;
        for (int i = 1; i < DAYS; i++) {
            prices[i] = prices[i - 1] * Math.exp(trend + noise * random.nextGaussian());
        }
        return prices;
    }

    @Override
    public void run() {
        //omp parallel for schedule(static)
        for (int i = 0; i < returns.length; i++) {
            double[] prices = path(new Random(i * 11L), drift, volatility);
            returns[i] = yearlyReturn(prices);
        }
        mean = average(returns);
    }

    @Override
    public void run(Crew crew) {
        crew.region(hand -> hand.loop(0, returns.length, i -> returns[i] = yearlyReturn(path(new Random(i * 11L), drift, volatility))));
        mean = average(returns);
    }

    private static double average(double[] values) {
        double sum = 0;
        for (double value : values) {
            sum += value;
        }
        return sum / values.length;
    }

    /** The drift that a series shows. */
    private static double yearlyReturn(double[] prices) {
        double sum = 0;
        double squares = 0;
        for (int i = 1; i < DAYS; i++) {
            double r = Math.log(prices[i] / prices[i - 1]);
            sum += r;
            squares += r * r;
        }
        double daily = sum / (DAYS - 1);
        return daily * YEAR + 0.5 * (squares / (DAYS - 1) - daily * daily) * YEAR;
    }

    /** Within four standard errors of the drift that went in. */
    @Override
    public void check() {
        double error = volatility / Math.sqrt((DAYS - 1) / YEAR) / Math.sqrt(returns.length);
        Kernel.near("mean yearly return", mean, drift, 4 * error);
    }

    @Override
    public double result() {
        return mean;
    }
}
