package dev.loadline.omp.maven;

import dev.loadline.omp.compiler.OmpCompiler;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.tools.Diagnostic;
import org.apache.maven.plugin.AbstractMojo;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;
import org.apache.maven.plugins.annotations.ResolutionScope;

/** Compiles the project's sources with OpenMP directives over the classes that javac made of them. */
@Mojo(name = "compile", defaultPhase = LifecyclePhase.PROCESS_CLASSES, requiresDependencyResolution = ResolutionScope.COMPILE, threadSafe = true)
public final class CompileMojo extends AbstractMojo {
    /** Folders with sources. */
    @Parameter(defaultValue = "${project.compileSourceRoots}", required = true)
    List<String> sourceRoots;

    /** The class path. */
    @Parameter(defaultValue = "${project.compileClasspathElements}", readonly = true, required = true)
    List<String> classPath;

    /** Where classes go. */
    @Parameter(defaultValue = "${project.build.outputDirectory}", required = true)
    File outputDirectory;

    /** As javac's {@code --release}. */
    @Parameter(property = "maven.compiler.release")
    String release;

    /** The sources' encoding. */
    @Parameter(defaultValue = "${project.build.sourceEncoding}")
    String encoding;

    /** More options for javac. */
    @Parameter
    List<String> compilerArgs;

    @Override
    public void execute() throws MojoExecutionException, MojoFailureException {
        try {
            List<Path> files = new ArrayList<>();
            for (String root : sourceRoots) {
                if (Files.isDirectory(Path.of(root))) {
                    try (var below = Files.walk(Path.of(root))) {
                        below.filter(file -> file.toString().endsWith(".java")).sorted().forEach(files::add);
                    }
                }
            }
            if (files.isEmpty()) {
                getLog().info("no sources");
                return;
            }
            if (!new OmpCompiler(this::log).compile(files, options())) {
                throw new MojoFailureException("compilation with OpenMP directives failed; see the errors above");
            }
            getLog().info("compiled " + files.size() + " source files with OpenMP directives");
        } catch (IOException | IllegalArgumentException e) {
            throw new MojoExecutionException(e.getMessage(), e);
        }
    }

    private List<String> options() throws IOException {
        Files.createDirectories(outputDirectory.toPath());
        List<String> options = new ArrayList<>(List.of("-d", outputDirectory.getPath(), "-cp", String.join(File.pathSeparator, classPath), "-g", "-proc:none"));
        if (release != null) {
            options.addAll(List.of("--release", release));
        }
        if (encoding != null) {
            options.addAll(List.of("-encoding", encoding));
        }
        if (compilerArgs != null) {
            options.addAll(compilerArgs);
        }
        return options;
    }

    private void log(Diagnostic<?> diagnostic) {
        switch (diagnostic.getKind()) {
            case ERROR -> getLog().error(diagnostic.toString());
            case WARNING, MANDATORY_WARNING -> getLog().warn(diagnostic.toString());
            default -> getLog().info(diagnostic.toString());
        }
    }
}
