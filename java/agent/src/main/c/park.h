/*
 * Parks: LockSupport.park and what is built on it, without a change to any class.
 *
 * A platform thread parks in the native method Unsafe.park. While recording, this method is bound to
 * a function of ours, which calls the JVM's own. To bind native methods again is what JNI's
 * RegisterNatives is for; the JVM throws away the one stub that calls the method, and no compiled
 * code. A virtual thread that parks leaves its carrier instead: the JVM tells of that by itself.
 */
#ifndef LOADLINE_PARK_H
#define LOADLINE_PARK_H

#include <jni.h>
#include <jvmti.h>

/* Begins to record parks, in the session that there is. Returns NULL, or what is missing (static text). */
const char *park_start(JNIEnv *jni);

/* Ends it. A thread that parked before comes back through our function. */
void park_stop(JNIEnv *jni);

/* JVMTI's NativeMethodBind, which tells where the JVM has its own Unsafe.park. */
void JNICALL park_bound(jvmtiEnv *env, JNIEnv *jni, jthread thread, jmethodID method, void *address,
                        void **instead);

#endif
