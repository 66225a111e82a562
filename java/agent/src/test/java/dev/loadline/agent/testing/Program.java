package dev.loadline.agent.testing;

import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ClassLoadingMXBean;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;

/** What runs in a {@link Target}. */
public abstract class Program {
    /** Does what the test wants, and returns what it wants to know. */
    protected abstract String handle(String command) throws Exception;

    /** Serves commands until the input ends; {@code usage} is one of every program. */
    protected final void serve() throws Exception {
        PrintStream out = System.out;
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        out.println("ready");
        for (String command = in.readLine(); command != null; command = in.readLine()) {
            out.println("ok " + (command.equals("usage") ? usage() : handle(command)));
        }
        System.exit(0);
    }

    /** Classes loaded after a collection, threads, and descriptors. */
    private static String usage() {
        for (int i = 0; i < 3; i++) {
            System.gc();
        }
        ClassLoadingMXBean classes = ManagementFactory.getClassLoadingMXBean();
        String[] descriptors = new File("/proc/self/fd").list();
        return classes.getLoadedClassCount() + " " + Thread.activeCount() + " " + descriptors.length;
    }
}
