package dev.loadline.weather.service;

import dev.loadline.Loadline;
import dev.loadline.Span;
import dev.loadline.bed.Delay;
import java.util.SplittableRandom;

/** The location server's logic: phones are spread over the Netherlands. */
final class Phones implements Location {
    /** Of a phone: 06 and eight digits. */
    private static final String NUMBER = "06\\d{8}";
    private static final double SOUTH = 50.8;
    private static final double NORTH = 53.5;
    private static final double WEST = 3.4;
    private static final double EAST = 7.2;

    private final long delayNs;

    Phones(long delayNs) {
        this.delayNs = delayNs;
    }

    @Override
    public Position locate(String phone) throws UnknownPhone {
        try (Span span = Loadline.span(LOCATE)) {
            Delay.nanos(delayNs);
            if (!phone.matches(NUMBER)) {
                throw new UnknownPhone(phone);
            }
            var draws = new SplittableRandom(Long.parseLong(phone));
            return new Position(draws.nextDouble(SOUTH, NORTH), draws.nextDouble(WEST, EAST));
        }
    }
}
