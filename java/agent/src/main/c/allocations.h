/*
 * Allocations: which code allocates what, by sampling.
 *
 * The JVM lets each thread go on for so many bytes that it allocates, exponentially distributed about the interval, and calls back on
 * it for the object that passes them (JEP 331). So an object of `size` bytes has a sample with probability 1 - exp(-size / interval),
 * and stands for its size divided by that: what all samples of a class stand for together is, but for chance, what
 * was allocated of it.
 *
 * What always holds: no class is redefined; a thread takes its own stack, into the same frames and stacks as those of waits; what
 * all of it takes is bounded, apart from what waits and samples take, and what a sample that was left out stands for is added to
 * the next one of its thread.
 */
#ifndef LOADLINE_ALLOCATIONS_H
#define LOADLINE_ALLOCATIONS_H

#include <jni.h>
#include <jvmti.h>

#include "spool.h"

/* Callback for the environment's event. */
void JNICALL allocations_sampled(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject object, jclass class, jlong size);

/* Samples from here on, if the session wants it. Returns NULL, or what is missing (static text). */
const char *allocations_start(struct session *s);

/* Lets the JVM call back for each allocation, of which objects_allocated takes its choice. Returns as above. */
const char *allocations_each(struct session *s);

/* An object's size as events have it: in units of 8 bytes. */
uint32_t allocations_units(uint64_t size);

/* Ends it, and lets other agents sample. */
void allocations_stop(struct session *s);

#endif
