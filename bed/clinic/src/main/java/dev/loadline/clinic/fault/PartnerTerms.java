package dev.loadline.clinic.fault;

import dev.loadline.bed.Delay;
import java.util.concurrent.TimeUnit;

/** Asks for what it holds when its class is initialized. */
final class PartnerTerms {
    static {
        Delay.nanos(TimeUnit.MILLISECONDS.toNanos(15));
    }

    private PartnerTerms() {
    }
}
