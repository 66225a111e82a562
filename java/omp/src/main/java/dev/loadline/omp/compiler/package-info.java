/**
 * Compiles OpenMP directives in Java sources, through javac's public API only.
 *
 * <p>Terms: a <em>directive</em> is a comment, {@code //omp …} or {@code /*omp …}; a
 * <em>construct</em> is a directive together with the statement that it applies to, and constructs
 * form a tree; a variable that a construct does not declare itself is <em>shared</em> or has a
 * <em>private copy</em> in it; a <em>name</em> of a variable is what the output calls it at a place.
 *
 * <p>How: javac parses and attributes the sources; {@link dev.loadline.omp.compiler.SourceText} finds
 * the directives, {@link dev.loadline.omp.compiler.DirectiveParser} reads them,
 * {@link dev.loadline.omp.compiler.Constructs} attaches them, {@link dev.loadline.omp.compiler.Checks}
 * refuses what is wrong, {@link dev.loadline.omp.compiler.Sharing} names variables,
 * {@link dev.loadline.omp.compiler.Emitter} edits the text, and javac compiles the result.
 *
 * <p>What always holds:
 * <ul>
 *   <li>A line keeps its number: an edit has as many line ends as what it replaces.</li>
 *   <li>Text without directives is not touched.</li>
 *   <li>A directive that is not fully understood is an error, never ignored.</li>
 *   <li>The same input gives the same output, byte for byte.</li>
 * </ul>
 */
package dev.loadline.omp.compiler;
