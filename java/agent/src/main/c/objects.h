/*
 * Objects: every allocation of chosen classes, and when the collector found the object dead.
 *
 * The JVM's sampling of allocations (allocations.h), with an interval of 0: it calls back for each allocation of the program, of which
 * those of chosen classes are written and tagged, and tells when a tagged object is gone. So no class needs a probe, and each
 * allocation of the program takes the slow way.
 *
 * What always holds: an object is written before it is tagged, so that its end comes after its begin; tags of objects are
 * negative, and those of classes (about.h) are not; where stacks have become too dear an object has none.
 */
#ifndef LOADLINE_OBJECTS_H
#define LOADLINE_OBJECTS_H

#include <jni.h>
#include <jvmti.h>

#include "spool.h"

/* Whether the session wants objects at all. */
int objects_wanted(struct session *s);

/* Whether the session wants objects of the class with this name. */
int objects_choose(struct session *s, const char *class);

/* Callback for the environment's event. */
void JNICALL objects_freed(jvmtiEnv *env, jlong tag);

/* An object was allocated by the calling thread. Of a session that wants objects. */
void objects_allocated(struct session *s, JNIEnv *jni, jthread thread, jobject object, jclass class, uint64_t size);

/* Begins, if the session wants it. Returns NULL, or what is missing (static text). */
const char *objects_start(struct session *s);

/* Ends it. */
void objects_stop(struct session *s);

#endif
