/**
 * The Maven plugin: {@code loadline-omp:compile} compiles the project's sources with directives, in the
 * phase after javac has compiled them without, and replaces those classes. So tests run parallel code,
 * and a project without the plugin still builds, sequentially.
 */
package dev.loadline.omp.maven;
