package dev.loadline.weather.service;

import dev.loadline.Loadline;
import dev.loadline.Span;
import dev.loadline.bed.Delay;
import dev.loadline.bed.Png;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** The weather server's logic: drawn from the place, to a tenth of a degree. */
final class Almanac implements Weather {
    /** Pictures of some 25,000 bytes: a byte a pixel, of which six bits are noise. */
    private static final int WIDTH = 160;
    private static final int HEIGHT = 155;
    private static final int NOISE_BITS = 6;
    /** Drawn once: a radar has one picture at a time for a region, not one for each visitor. */
    private static final int PICTURES = 64;
    private static final int DAYS = 3;
    private static final List<String> SKIES = List.of("clear", "a few clouds", "overcast", "showers", "steady rain", "thunderstorms", "fog until noon");
    private static final List<String> WINDS = List.of("calm", "a light breeze", "a fresh wind", "a strong wind", "a gale");
    private static final List<String> QUARTERS = List.of("north", "north-east", "east", "south-east", "south", "south-west", "west", "north-west");

    private final long delayNs;
    private final byte[][] radar = new byte[PICTURES][];

    Almanac(long delayNs) {
        this.delayNs = delayNs;
        for (int i = 0; i < PICTURES; i++) {
            radar[i] = Png.picture(WIDTH, HEIGHT, NOISE_BITS, i);
        }
    }

    @Override
    public Forecast forecast(Position here) {
        try (Span span = Loadline.span(FORECAST)) {
            Delay.nanos(delayNs);
            var draws = new SplittableRandom(Math.round(here.latitude() * 10) * 10_000 + Math.round(here.longitude() * 10));
            List<Forecast.Day> days = new ArrayList<>();
            var text = new StringBuilder();
            for (int day = 1; day <= DAYS; day++) {
                int lowest = draws.nextInt(-5, 15);
                int highest = lowest + draws.nextInt(2, 15);
                String sky = of(SKIES, draws);
                days.add(new Forecast.Day(sky, lowest, highest));
                text.append("On day ").append(day).append(" the morning begins with ").append(of(SKIES, draws)).append(" and ").append(of(WINDS, draws))
                    .append(" from the ").append(of(QUARTERS, draws)).append(". Towards noon expect ").append(sky).append(" with temperatures up to ")
                    .append(highest).append(" degrees; the night brings ").append(of(SKIES, draws)).append(", ").append(of(WINDS, draws)).append(" from the ")
                    .append(of(QUARTERS, draws)).append(", and no less than ").append(lowest).append(" degrees. Between ")
                    .append(of(SKIES, draws)).append(" and ").append(of(SKIES, draws)).append(" the sun may come out for an hour or two; over open water one sees some ")
                    .append(draws.nextInt(2, 30)).append(" kilometres far. Rain: ").append(draws.nextInt(0, 20)).append(" millimetres. ");
            }
            return new Forecast(text.toString(), days, radar[draws.nextInt(PICTURES)]);
        }
    }

    private static String of(List<String> words, SplittableRandom draws) {
        return words.get(draws.nextInt(words.size()));
    }
}
