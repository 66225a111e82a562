package dev.loadline.guard.policy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Against the vectors that every implementation of the formula in this repository is held to. */
class FormulaTest {
    private static final Pattern CASE = Pattern.compile("\\{\"name\": \"([^\"]*)\", ([^}]*)\\}");

    @Test
    void the_formula_gives_what_the_shared_vectors_say() throws IOException {
        Matcher cases = CASE.matcher(Files.readString(Path.of("../../models/vectors/admission.json")));
        int count = 0;
        while (cases.find()) {
            String name = cases.group(1);
            String fields = cases.group(2);
            assertEquals(bound(fields, "admit_new"),
                Formula.newConnections(number(fields, "interval_s"), number(fields, "cpus"),
                    number(fields, "resumed_arrivals"), number(fields, "resumed_cost_s"), number(fields, "new_cost_s")), name);
            assertEquals(bound(fields, "admit_resumed"), Formula.resumedConnections(number(fields, "interval_s"),
                number(fields, "cpus"), number(fields, "resumed_cost_s")), name);
            count++;
        }
        assertTrue(count >= 10, "only " + count + " cases were found in the file");
    }

    private static double number(String fields, String name) {
        return Double.parseDouble(text(fields, name));
    }

    private static long bound(String fields, String name) {
        String text = text(fields, name);
        return text.equals("null") ? Formula.UNBOUNDED : Long.parseLong(text);
    }

    private static String text(String fields, String name) {
        Matcher field = Pattern.compile("\"" + name + "\": ([^,]+)").matcher(fields);
        assertTrue(field.find(), name + " is missing in " + fields);
        return field.group(1).trim();
    }
}
