package dev.loadline.omp.maven;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A project that names the plugin, built by Maven itself, with repositories of its own so that nothing is installed. */
@Timeout(180)
class PluginIT {
    private static final String SETTINGS = """
            <settings>
              <localRepository>%s</localRepository>
              <mirrors><mirror><id>known</id><mirrorOf>*,!built</mirrorOf><url>%s</url></mirror></mirrors>
            </settings>
            """;
    private static final String PROJECT = """
            <project>
              <modelVersion>4.0.0</modelVersion>
              <groupId>test</groupId><artifactId>test</artifactId><version>1</version>
              <properties>
                <maven.compiler.release>17</maven.compiler.release>
                <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
              </properties>
              <repositories><repository><id>built</id><url>%1$s</url></repository></repositories>
              <pluginRepositories><pluginRepository><id>built</id><url>%1$s</url></pluginRepository></pluginRepositories>
              <dependencies>
                <dependency><groupId>dev.loadline</groupId><artifactId>loadline-omp</artifactId><version>0.1.0</version></dependency>
              </dependencies>
              <build><plugins>
                <plugin><artifactId>maven-compiler-plugin</artifactId><version>3.13.0</version></plugin>
                <plugin>
                  <groupId>dev.loadline</groupId><artifactId>loadline-omp-maven-plugin</artifactId><version>0.1.0</version>
                  <executions><execution><goals><goal>compile</goal></goals></execution></executions>
                </plugin>
              </plugins></build>
            </project>
            """;
    private static final String SOURCE = """
            public class Main {
                public static void main(String[] arguments) {
                    int threads = 0;
                    //omp parallel reduction(+ : threads)
                    threads++;
                    System.out.println("threads " + threads);
                }
            }
            """;

    @TempDir
    Path directory;

    @Test
    void maven_builds_a_project_whose_loops_are_parallel() throws Exception {
        Path built = directory.resolve("built");
        publish(built, "loadline-parent", Path.of("../../pom.xml"), null);
        publish(built, "loadline-omp", Path.of("../omp/pom.xml"), Path.of("../omp/target/loadline-omp.jar"));
        publish(built, "loadline-omp-maven-plugin", Path.of("pom.xml"), Path.of("target/loadline-omp-maven-plugin.jar"));
        Path settings = Files.writeString(directory.resolve("settings.xml"), SETTINGS.formatted(directory.resolve("local"), Path.of(System.getProperty("known.repository")).toUri()));
        Files.writeString(directory.resolve("pom.xml"), PROJECT.formatted(built.toUri()));
        Files.writeString(Files.createDirectories(directory.resolve("src/main/java")).resolve("Main.java"), SOURCE);

        run(Path.of(System.getProperty("maven.home"), "bin", "mvn").toString(), "-B", "-q", "-s", settings.toString(), "process-classes");
        String output = run(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Domp.num_threads=3", "-Domp.dynamic=false",
                "-cp", directory.resolve("target/classes") + ":" + Path.of("../omp/target/loadline-omp.jar").toAbsolutePath(), "Main");
        assertEquals("threads 3", output.strip());
    }

    private static void publish(Path repository, String artifact, Path pom, Path jar) throws Exception {
        Path folder = Files.createDirectories(repository.resolve("dev/loadline/" + artifact + "/0.1.0"));
        Files.copy(pom, folder.resolve(artifact + "-0.1.0.pom"));
        if (jar != null) {
            Files.copy(jar, folder.resolve(artifact + "-0.1.0.jar"));
        }
    }

    private String run(String... command) throws Exception {
        Process process = new ProcessBuilder(command).directory(directory.toFile()).redirectErrorStream(true).start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(process.waitFor(120, TimeUnit.SECONDS), () -> List.of(command) + " does not end");
        assertEquals(0, process.exitValue(), () -> List.of(command) + " printed:\n" + output);
        return output;
    }
}
