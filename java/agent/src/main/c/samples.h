/*
 * Samples: which code runs on the CPUs.
 *
 * Each thread of Java's has a timer on its own CPU time. When it expires, SIGPROF interrupts the thread, and the handler
 * walks its stack with AsyncGetCallTrace, wherever it is: no safepoint, and no other thread is stopped. The handler
 * neither allocates nor locks; what the methods are called is looked up later, by samples_drain, into the same frames
 * and stacks as those of waits.
 *
 * What always holds: only threads that HotSpot knows have a timer, and it is deleted before they leave it; once SIGPROF
 * was ours it never meets its default action again, which would end the process; signals of others' timers go to the
 * handler that was there before; what all of it takes is bounded, and a thread's samples that were left out are
 * added to its next one's weight.
 */
#ifndef LOADLINE_SAMPLES_H
#define LOADLINE_SAMPLES_H

#include <jni.h>
#include <jvmti.h>

#include "spool.h"

/* Callbacks for the environment's events, which AsyncGetCallTrace needs: it names only methods that have an id. */
void JNICALL samples_class_load(jvmtiEnv *env, JNIEnv *jni, jthread thread, jclass class);
void JNICALL samples_class_prepare(jvmtiEnv *env, JNIEnv *jni, jthread thread, jclass class);

/* Samples all threads from here on, if the session wants it. Returns NULL, or what is missing (static text). */
const char *samples_start(struct session *s, JavaVM *vm, JNIEnv *jni);

/* The calling thread is one of Java's from here on, or until here. */
void samples_thread_begins(struct session *s);
void samples_thread_ends(void);

/* Writes what was sampled into the spool. */
void samples_drain(struct session *s, JNIEnv *jni);

/* Ends all of it, and writes what is left. May be called again. */
void samples_stop(struct session *s, JNIEnv *jni);

#endif
