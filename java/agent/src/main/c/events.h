/* The events of the jvm level: monitors, parks, garbage collections, threads. */
#ifndef LOADLINE_EVENTS_H
#define LOADLINE_EVENTS_H

#include <jni.h>
#include <stdint.h>

/* Enables them for a spool mapped at base. Returns NULL, or what is missing (static text). */
const char *events_start(JavaVM *vm, JNIEnv *jni, uint8_t *base);

/* Whether that has named the threads that there were, each with the kernel's id. */
int events_name_threads(void);

/* Writes what was sampled since the last call; called now and then. */
void events_drain(JNIEnv *jni);

/* Disables them. A callback may still be on its way. */
void events_stop(JNIEnv *jni);

#endif
