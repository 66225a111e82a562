/**
 * The agent: starts and stops recordings inside a JVM.
 *
 * <p>Terms: the <em>spool</em> is the file that the recorder made and that the JVM's threads write
 * through a shared mapping; its layout, and the meaning of every event, is told in {@code
 * crates/trace/src/spool/agent.rs}. The <em>control</em> is a FIFO beside it that the recorder
 * holds open: a line {@code stop}, or its end, stops the recording.
 *
 * <p>What always holds: at most one recording at a time; while there is none, no probe is placed,
 * no JVMTI event is enabled and no thread of the agent runs. Whatever goes wrong is told in the
 * spool's header, never thrown into the application, and undone.
 */
package dev.loadline.agent;
