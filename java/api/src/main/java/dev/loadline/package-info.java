/**
 * What an application says about itself in a recording of Loadline: states, events and spans.
 *
 * <p>Terms: a <em>state</em> is what a thread is doing, by the application's own name for it, until
 * it says otherwise; an <em>event</em> is a point with a type and a value; a <em>span</em> is an
 * interval with a name, which may begin on one thread and end on another.
 *
 * <p>What always holds: nothing here does anything unless a recorder is attached: a call then reads
 * one field. So the calls can stay in production code. They never throw and never block.
 */
package dev.loadline;
