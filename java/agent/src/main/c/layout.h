/*
 * Where HotSpot's structures have their fields: exported tables, made for debuggers, say so in every release.
 */
#ifndef LOADLINE_LAYOUT_H
#define LOADLINE_LAYOUT_H

#include <jni.h>
#include <stdint.h>

/* The JVM's own library, whatever it lies in; NULL if it cannot be found. It stays open as long as the JVM lives. */
void *layout_libjvm(JavaVM *vm);

/* Offset of a field in a structure whose name ends so; -1 if the tables do not have it. */
int64_t layout_offset(void *libjvm, const char *type_suffix, const char *name);

/* Where a static field is; NULL if the tables do not have it. */
void *layout_static(void *libjvm, const char *type_suffix, const char *name);

#endif
