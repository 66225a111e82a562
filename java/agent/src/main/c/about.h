/*
 * What JVMTI and JNI say of threads and objects, as the spool wants it.
 *
 * One JVMTI environment serves all recordings and is never disposed: a callback may be inside it.
 */
#ifndef LOADLINE_ABOUT_H
#define LOADLINE_ABOUT_H

#include <jni.h>
#include <jvmti.h>
#include <stdint.h>

#include "spool.h"

/* The environment; NULL before about_open. */
extern jvmtiEnv *jvmti;

/* Gets the environment. Returns NULL, or what is missing (static text). */
const char *about_open(JavaVM *vm, JNIEnv *jni);

/* Whether this JVM has virtual threads that JVMTI tells of (21 and later). */
int about_virtual_threads(void);

/* Java's id of a thread. */
uint64_t about_java_id(JNIEnv *jni, jthread thread);

/* String id of a thread's name; 0 if it has none. With `number`, of the name without the number that
 * it ends in, which is put there, plus 1 (0: it ends in none): virtual threads are many, and numbered. */
uint32_t about_name(struct session *s, JNIEnv *jni, jthread thread, uint64_t *number);

/* "Lorg/x/Y;" to "org.x.Y", in place, as Class.getName() says it; arrays stay as they are, but with dots. */
char *about_class_name(char *signature);

/* Cuts off, in place, what makes classes of one kind differ that the JVM or the JDK makes as it goes: the address of a
 * hidden class, the numbers of lambdas, proxies and reflective accessors. */
void about_generalise(char *class);

/* String id of the name of a class. With `chosen`, whether the session wants its objects (objects.h). */
uint32_t about_class_id(struct session *s, jclass class, int *chosen);

/* String id of the name of an object's class. */
uint32_t about_class(struct session *s, JNIEnv *jni, jobject object);

/* What System.identityHashCode says. */
uint64_t about_identity(jobject object);

/* Says whom the calling thread's chunk speaks of from here on: the virtual thread, if it is one.
 * Returns that thread's id, 0 if it is a platform thread. */
uint64_t about_speaker(struct session *s, JNIEnv *jni, jthread thread);

#endif
