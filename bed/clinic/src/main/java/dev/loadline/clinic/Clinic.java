package dev.loadline.clinic;

import dev.loadline.clinic.run.TimeLimit;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.ConfigurationPropertiesScan;

/** The command: starts the site, and ends it when its time is up. Options are Spring's properties. */
@SpringBootApplication
@ConfigurationPropertiesScan
public class Clinic {
    /** Exits with 0 when it was stopped or its time is up, 1 when it did not start. */
    public static void main(String[] args) throws InterruptedException {
        var context = SpringApplication.run(Clinic.class, args);
        context.getBean(TimeLimit.class).await();
    }
}
