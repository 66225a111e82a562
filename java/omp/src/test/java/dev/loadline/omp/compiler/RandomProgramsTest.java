package dev.loadline.omp.compiler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import dev.loadline.omp.Omp;
import java.util.ArrayList;
import java.util.List;
import javax.tools.JavaFileObject;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RandomProgramsTest {
    private static final int CLASSES = 30;
    private static final int METHODS = 20;
    private static final long SEED = 20261121;

    @AfterEach
    void restore() {
        Omp.setDynamic(true);
        Omp.setMaxActiveLevels(1);
    }

    @Test
    void six_hundred_random_programs_mean_what_they_mean_without_directives() throws Exception {
        List<JavaFileObject> sources = new ArrayList<>();
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < CLASSES; i++) {
            var programs = new Programs(SEED + i);
            var text = new StringBuilder("import java.util.*;\npublic class R" + i + " {\n" + Programs.COMMON);
            for (int j = 0; j < METHODS; j++) {
                text.append(programs.method("p" + j));
            }
            texts.add(text.append("}\n").toString());
            sources.add(InMemory.source("R" + i, texts.get(i)));
        }
        var plain = new InMemory();
        ClassLoader sequential = plain.compile(sources, false);
        assertNotNull(sequential, () -> plain.said.toString());
        var omp = new InMemory();
        ClassLoader parallel = omp.compile(sources, true);
        assertNotNull(parallel, () -> omp.said.toString());
        Omp.setDynamic(false);
        for (int round = 0; round < 2; round++) {
            Omp.setNumThreads(3 - round);
            Omp.setMaxActiveLevels(1 + round);
            for (int i = 0; i < CLASSES; i++) {
                for (int j = 0; j < METHODS; j++) {
                    Object expected = call(sequential, "R" + i, "p" + j);
                    assertEquals(expected, call(parallel, "R" + i, "p" + j), "class " + i + ", method " + j + ":\n" + texts.get(i));
                }
            }
        }
    }

    private static Object call(ClassLoader loader, String className, String method) throws Exception {
        var found = loader.loadClass(className).getDeclaredMethod(method);
        found.setAccessible(true);
        return found.invoke(null);
    }
}
