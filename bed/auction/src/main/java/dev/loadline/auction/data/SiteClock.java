package dev.loadline.auction.data;

import java.time.LocalDateTime;
import java.time.temporal.ChronoUnit;

/** The site's time: the data's opening plus how long the site is up, to the microsecond that databases keep. */
public final class SiteClock {
    private final long openedNanos = System.nanoTime();

    /** Now. */
    public LocalDateTime now() {
        return DataGenerator.OPENING.plusNanos(System.nanoTime() - openedNanos).truncatedTo(ChronoUnit.MICROS);
    }
}
