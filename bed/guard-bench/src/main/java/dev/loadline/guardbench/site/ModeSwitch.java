package dev.loadline.guardbench.site;

import java.io.BufferedReader;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.management.Attribute;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * Sets the guard's mode while the site runs: each line that somebody writes into a named pipe is a mode. Waiting for one costs
 * nothing, so that it changes nothing of what is measured.
 */
final class ModeSwitch {
    private ModeSwitch() {}

    /** Begins to listen; ends with the last writer. */
    static void listen(Path pipe) {
        var thread = new Thread(() -> obey(pipe), "mode-switch");
        thread.setDaemon(true);
        thread.start();
    }

    private static void obey(Path pipe) {
        MBeanServer beans = ManagementFactory.getPlatformMBeanServer();
        // Opening waits for a writer.
        try (BufferedReader lines = Files.newBufferedReader(pipe)) {
            for (String mode = lines.readLine(); mode != null; mode = lines.readLine()) {
                for (ObjectName guard : beans.queryNames(new ObjectName("dev.loadline:type=Guard,*"), null)) {
                    beans.setAttribute(guard, new Attribute("Mode", mode));
                }
            }
        } catch (IOException | JMException e) {
            // Whoever measures would take one mode for the other.
            System.err.println("-Dprotection.modes=" + pipe + ": " + e);
            System.exit(1);
        }
    }
}
