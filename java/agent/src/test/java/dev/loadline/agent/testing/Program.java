package dev.loadline.agent.testing;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/** What runs in a {@link Target}. */
public abstract class Program {
    /** Does what the test wants, and returns what it wants to know. */
    protected abstract String handle(String command) throws Exception;

    /** Serves commands until the input ends. */
    protected final void serve() throws Exception {
        PrintStream out = System.out;
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        out.println("ready");
        for (String command = in.readLine(); command != null; command = in.readLine()) {
            out.println("ok " + handle(command));
        }
        System.exit(0);
    }
}
