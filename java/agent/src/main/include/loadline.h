/*
 * Loadline's application events from native code inside a JVM: JNI libraries, and the threads that they make.
 *
 * Nothing is linked: the agent's library is looked for among those that the process has loaded, at most once a second, and
 * found once a recorder has attached. Until then a call reads a coarse clock, and does nothing; between recordings it reads two
 * fields. A call neither throws nor blocks; do not make one between GetPrimitiveArrayCritical and its release. For Linux, C99 or
 * C++11, GCC or Clang; with a C library older than glibc 2.34 link with -ldl.
 */
#ifndef LOADLINE_H
#define LOADLINE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* before any header: for RTLD_NOLOAD */
#endif
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the agent's library has under the name loadline_recorder_1; another layout would have another name. */
struct loadline_recorder {
    uint64_t (*begin)(const char *name);
    void (*end)(uint64_t span);
    void (*event)(const char *type, int64_t value);
};

static inline const struct loadline_recorder *loadline_recorder(void) {
    static const struct loadline_recorder *found;
    static time_t next;
    const struct loadline_recorder *recorder = __atomic_load_n(&found, __ATOMIC_ACQUIRE);
    if (recorder != NULL) {
        return recorder;
    }
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    if (now.tv_sec < __atomic_load_n(&next, __ATOMIC_RELAXED)) {
        return NULL;
    }
    __atomic_store_n(&next, now.tv_sec + 1, __ATOMIC_RELAXED);
    void *library = dlopen("libloadline-agent.so", RTLD_LAZY | RTLD_NOLOAD);
    if (library != NULL) {
        recorder = (const struct loadline_recorder *)dlsym(library, "loadline_recorder_1");
        __atomic_store_n(&found, recorder, __ATOMIC_RELEASE);
    }
    return recorder;
}

/* Begins a span with this name, UTF-8, inside what the calling thread is at. Returns what loadline_span_end wants to know. */
static inline uint64_t loadline_span_begin(const char *name) {
    const struct loadline_recorder *recorder = loadline_recorder();
    return recorder == NULL ? 0 : recorder->begin(name);
}

/* Ends a span, on whichever thread. */
static inline void loadline_span_end(uint64_t span) {
    const struct loadline_recorder *recorder = span == 0 ? NULL : loadline_recorder();
    if (recorder != NULL) {
        recorder->end(span);
    }
}

/* A point of this type with a value: an occurrence, a size, a counter. */
static inline void loadline_event(const char *type, int64_t value) {
    const struct loadline_recorder *recorder = loadline_recorder();
    if (recorder != NULL) {
        recorder->event(type, value);
    }
}

#ifdef __cplusplus
}
#endif

#endif
