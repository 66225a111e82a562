package dev.loadline.guard.policy;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What the user wants of response times, such as {@code p95=250ms}, and what follows from it: the delay to aim at.
 *
 * @param quantile from 0.5 to 0.999
 * @param nanos response time at that quantile
 */
public record Objective(double quantile, long nanos) {
    /**
     * Of the time that the objective leaves, the share to aim at as delay of who begins; nobody begins at {@link Admission#LIMIT} times
     * as much. Who is in waits for half of it or less, with each reply. The rest is for tails, and for what the server does not see: the accept
     * queue, the network, the client.
     */
    static final double SHARE = 0.4;
    /** Delays have an exponential tail: this is {@code -ln(1 - 0.95)}. */
    private static final double TAIL_OF_P95 = -Math.log(0.05);
    private static final Pattern TEXT = Pattern.compile("p(\\d{2}(?:\\.\\d)?)\\s*=\\s*(\\d+(?:\\.\\d+)?)\\s*(ms|s)");

    /** @throws IllegalArgumentException saying what is allowed */
    public static Objective parse(String text) {
        Matcher read = TEXT.matcher(text.trim().toLowerCase(Locale.ROOT));
        if (read.matches()) {
            double quantile = Double.parseDouble(read.group(1)) / 100;
            double nanos = Double.parseDouble(read.group(2)) * (read.group(3).equals("s") ? 1e9 : 1e6);
            if (quantile >= 0.5 && nanos >= 1e6 && nanos <= 60e9) {
                return new Objective(quantile, Math.round(nanos));
            }
        }
        throw new IllegalArgumentException("'" + text + "' is no objective: a percentile from p50 to p99.9 and a time from 1ms"
            + " to 60s, such as p95=250ms");
    }

    /** As it is written: {@code p95=250ms}. */
    @Override
    public String toString() {
        String percentile = String.format(Locale.ROOT, "%.1f", 100 * quantile).replace(".0", "");
        String millis = String.format(Locale.ROOT, "%.3f", nanos / 1e6).replaceAll("\\.?0+$", "");
        return "p" + percentile + "=" + millis + "ms";
    }

    /**
     * The delay to aim at.
     *
     * @param serviceNanos how long an event takes without any delay; more than half of the objective counts as half: an
     *     objective that cannot be met is no reason to refuse everybody
     */
    public double targetNanos(double serviceNanos) {
        double room = Math.max(nanos - serviceNanos, nanos / 2.0);
        return SHARE * room * Math.min(1, TAIL_OF_P95 / -Math.log(1 - quantile));
    }
}
