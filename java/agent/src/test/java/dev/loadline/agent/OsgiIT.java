package dev.loadline.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.loadline.agent.boot.Type;
import dev.loadline.agent.programs.Bundles;
import dev.loadline.agent.testing.Spool;
import dev.loadline.agent.testing.Target;
import dev.loadline.agent.testing.TestRecorder;
import dev.loadline.agent.testing.Way;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Probes in bundles of OSGi. */
class OsgiIT {
    @ParameterizedTest
    @EnumSource(value = Way.class, names = {"REDEFINE", "START"})
    void bundles_of_equinox_see_what_probes_call(Way way, @TempDir Path storage) throws Exception {
        List<String> options = new ArrayList<>(List.of(way.options()));
        options.add("-Dbundles.storage=" + storage);
        try (Target target = Target.start(Bundles.class, options.toArray(String[]::new)); TestRecorder recorder = way.recorder()) {
            assertEquals("42", target.tell("query"));
            recorder.record(target.pid());
            assertEquals("42", target.tell("query"));
            Spool spool = recorder.stop();
            assertEquals("", spool.message);
            assertEquals(1, spool.of(Type.SQL_BEGIN).size());
        }
    }
}
