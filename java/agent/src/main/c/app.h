/*
 * The application level's events from native code, which come through include/loadline.h.
 *
 * They are written by the thread that calls, as what Java says is: a virtual thread is its own speaker, and a thread that the
 * JVM does not know speaks for itself.
 */
#ifndef LOADLINE_APP_H
#define LOADLINE_APP_H

#include <jni.h>

/* Tells whose threads may call, once. */
void app_open(JavaVM *vm);

#endif
