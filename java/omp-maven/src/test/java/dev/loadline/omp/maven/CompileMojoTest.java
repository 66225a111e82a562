package dev.loadline.omp.maven;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.maven.plugin.MojoFailureException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CompileMojoTest {
    @TempDir
    Path directory;

    private CompileMojo mojo(String source) throws Exception {
        Files.writeString(Files.createDirectories(directory.resolve("src/p")).resolve("A.java"), source);
        var mojo = new CompileMojo();
        mojo.sourceRoots = List.of(directory.resolve("src").toString(), directory.resolve("absent").toString());
        mojo.classPath = List.of(directory.resolve("out").toString());
        mojo.outputDirectory = directory.resolve("out").toFile();
        mojo.release = "17";
        mojo.encoding = "UTF-8";
        return mojo;
    }

    @Test
    void sources_become_classes_that_call_the_runtime() throws Exception {
        mojo("package p; class A { void f() {\n//omp parallel\n{ }\n} }").execute();
        assertTrue(new String(Files.readAllBytes(directory.resolve("out/p/A.class")), "ISO-8859-1").contains("dev/loadline/omp/runtime/Run"));
    }

    @Test
    void a_wrong_directive_fails_the_build() throws Exception {
        var mojo = mojo("package p; class A { void f() {\n//omp paralel\n{ }\n} }");
        assertThrows(MojoFailureException.class, mojo::execute);
    }
}
