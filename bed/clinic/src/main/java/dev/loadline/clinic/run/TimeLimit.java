package dev.loadline.clinic.run;

import java.util.concurrent.TimeUnit;
import org.springframework.stereotype.Component;

/** Ends the JVM when the site's time is up, so that a site whose starter died does not stay for ever. */
@Component
public class TimeLimit {
    private final int maxSeconds;

    TimeLimit(ClinicProperties properties) {
        this.maxSeconds = properties.maxSeconds();
    }

    /** Returns at once if there is no limit; else it does not return. */
    public void await() throws InterruptedException {
        if (maxSeconds > 0) {
            TimeUnit.SECONDS.sleep(maxSeconds);
            System.exit(0);
        }
    }
}
