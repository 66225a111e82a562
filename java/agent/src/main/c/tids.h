/*
 * Which kernel thread a Java thread is, of those that ran before anybody asked: neither JVMTI nor JNI says it.
 *
 * HotSpot describes the layout of its structures to debuggers in exported tables; from a thread's `eetop` two pointers
 * lead to the id. What they point to is read so that a pointer which is none any more yields nothing instead of a fault.
 */
#ifndef LOADLINE_TIDS_H
#define LOADLINE_TIDS_H

#include <jni.h>
#include <jvmti.h>
#include <stdint.h>

/* Looks the layout up in the JVM's library; 0 if it does not tell. */
int tids_open(JNIEnv *jni, void *libjvm);

/* Kernel's id of a Java thread that is alive; 0 if that cannot be said. */
uint32_t tids_of(JNIEnv *jni, jthread thread);

/* Gives back what reading takes. */
void tids_close(void);

#endif
