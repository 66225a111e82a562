/**
 * Where probes are placed, and the code that is put there.
 *
 * <p>Terms: an <em>advice</em> is a class whose code ByteBuddy copies into a probed method, where it
 * calls {@code dev.loadline.agent.boot}; a <em>rule</em> says which methods of which classes get
 * which advice. Some rules name their class. Others know it by its methods (<em>shape</em>): a class
 * that declares {@code prepareStatement(String)} is taken for a JDBC connection when it is loaded,
 * before its interfaces are, and the advice asks {@code instanceof} when it runs.
 *
 * <p>What always holds: an advice never throws into the method that it is in, and pairs begin with
 * end also when the method throws. A rule that fails leaves the class as it was.
 */
package dev.loadline.agent.probes;
