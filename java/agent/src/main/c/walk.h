/*
 * Stacks of a thread that a signal has interrupted, by HotSpot's AsyncGetCallTrace: safe in the signal's handler.
 *
 * It gives up where the thread has just called a method that has no frame yet, and in the JVM's own routines (copying,
 * cryptography), which have no frame that it knows: in a server that is busy with TLS, a fifth of all samples. There the
 * stack is walked from the call that led there, which is known by the code around it; what is not known so stays unknown.
 * So are the callers of a method that ends, which the JVM takes from where they would be if it had its frame still.
 *
 * Of native code, which Java called, it shows nothing: where in it the thread was is told beside it.
 */
#ifndef LOADLINE_WALK_H
#define LOADLINE_WALK_H

#include <jni.h>
#include <jvmti.h>
#include <stdint.h>

/* AsyncGetCallTrace's own types: forte.cpp in HotSpot. */
struct call_frame {
    jint bci; /* negative of a native method */
    jmethodID method;
};
struct call_trace {
    JNIEnv *env;
    jint count; /* what is 0 or less says why there is none */
    struct call_frame *frames;
};

enum {
    NO_JAVA_FRAME = 0,
    IN_COLLECTION = -2,
    NOT_JAVA = -3,
    UNKNOWN_JAVA = -5,
    THREAD_EXITS = -8,
    IN_DEOPTIMIZATION = -9,
};

/* Finds what walking takes in the JVM's library; 0 if it has no AsyncGetCallTrace. */
int walk_open(void *libjvm);

/* Where the interrupted thread was outside of Java's code, as far as that is known here; else 0. */
uintptr_t walk_outside(void *context);

/* Whether it was there in a system call; to be asked before it goes on, as its code may be unloaded then. */
int walk_in_kernel(uintptr_t outside);

/* Walks the stack of the interrupted thread, which `trace->env` is of, as deep as that. */
void walk(struct call_trace *trace, jint depth, void *context);

#endif
