/*
 * See events.h.
 *
 * Callbacks of monitors and threads run on the thread concerned and may use JNI; those of garbage
 * collections run on the VM's own thread at a safepoint and may use neither JNI nor most of JVMTI.
 */
#include "events.h"

#include <string.h>

#include "about.h"
#include "allocations.h"
#include "app.h"
#include "layout.h"
#include "objects.h"
#include "park.h"
#include "samples.h"
#include "spool.h"
#include "stacks.h"
#include "tids.h"

static const jvmtiEvent EVENTS[] = {
    JVMTI_EVENT_MONITOR_CONTENDED_ENTER, JVMTI_EVENT_MONITOR_CONTENDED_ENTERED,
    JVMTI_EVENT_MONITOR_WAIT,            JVMTI_EVENT_MONITOR_WAITED,
    JVMTI_EVENT_GARBAGE_COLLECTION_START, JVMTI_EVENT_GARBAGE_COLLECTION_FINISH,
    JVMTI_EVENT_THREAD_START,            JVMTI_EVENT_THREAD_END,
    JVMTI_EVENT_VM_DEATH,
};
enum { EVENT_COUNT = sizeof EVENTS / sizeof EVENTS[0] };

static void JNICALL contended_enter(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject object) {
    (void)env;
    struct session *s = spool_session();
    if (s != NULL) {
        uint64_t id = about_speaker(s, jni, thread);
        uint32_t class = about_class(s, jni, object);
        uint64_t identity = about_identity(object), now = spool_now();
        stacks_wait_begins(s, id, IN_ENTER, now);
        spool_emit_at(s, now, MONITOR_ENTER, class, identity, id);
    }
}

static void JNICALL contended_entered(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject object) {
    (void)env;
    struct session *s = spool_session();
    if (s != NULL) {
        uint64_t id = about_speaker(s, jni, thread), now = spool_now();
        uint32_t stack = stacks_wait_ended(s, jni, thread, id, IN_ENTER, now);
        spool_emit_at(s, now, MONITOR_ENTERED, about_class(s, jni, object), about_identity(object), (uint64_t)stack << 32);
    }
}

static void JNICALL monitor_wait(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject object,
                                 jlong timeout_ms) {
    (void)env;
    struct session *s = spool_session();
    if (s != NULL) {
        uint64_t id = about_speaker(s, jni, thread);
        uint32_t class = about_class(s, jni, object);
        uint64_t identity = about_identity(object), now = spool_now();
        stacks_wait_begins(s, id, IN_WAIT, now);
        spool_emit_at(s, now, MONITOR_WAIT, class, identity, (uint64_t)timeout_ms);
    }
}

static void JNICALL monitor_waited(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject object,
                                   jboolean timed_out) {
    (void)env;
    struct session *s = spool_session();
    if (s != NULL) {
        uint64_t id = about_speaker(s, jni, thread), now = spool_now();
        uint32_t stack = stacks_wait_ended(s, jni, thread, id, IN_WAIT, now);
        spool_emit_at(s, now, MONITOR_WAITED, about_class(s, jni, object), about_identity(object),
                      (uint64_t)stack << 32 | (timed_out != 0));
    }
}

static void gc_event(uint32_t type) {
    struct session *s = spool_session();
    if (s != NULL) {
        spool_emit(s, type, 0, 0, 0);
    }
}

static void JNICALL gc_start(jvmtiEnv *env) {
    (void)env;
    gc_event(GC_START);
}

static void JNICALL gc_finish(jvmtiEnv *env) {
    (void)env;
    gc_event(GC_END);
}

static void JNICALL thread_start(jvmtiEnv *env, JNIEnv *jni, jthread thread) {
    (void)env;
    struct session *s = spool_session();
    if (s != NULL) {
        spool_emit_shared(s, THREAD, about_name(s, jni, thread, NULL), about_java_id(jni, thread),
                          spool_gettid());
        samples_thread_begins(s);
    }
}

static void JNICALL thread_end(jvmtiEnv *env, JNIEnv *jni, jthread thread) {
    (void)env;
    struct session *s = spool_session();
    if (s != NULL) {
        spool_emit_shared(s, THREAD_END, 0, about_java_id(jni, thread), spool_gettid());
    }
    samples_thread_ends();
}

/* The program has ended: nobody asks the control thread for what was sampled since it last wrote. */
static void JNICALL vm_death(jvmtiEnv *env, JNIEnv *jni) {
    (void)env;
    struct session *s = spool_session();
    if (s != NULL) {
        samples_stop(s, jni);
    }
}

/* Gets the JVMTI environment with its callbacks. Returns NULL, or what is missing. */
static const char *prepare(JavaVM *vm, JNIEnv *jni) {
    const char *missing = about_open(vm, jni);
    if (missing != NULL) {
        return missing;
    }
    jvmtiEventCallbacks callbacks;
    memset(&callbacks, 0, sizeof callbacks);
    callbacks.MonitorContendedEnter = contended_enter;
    callbacks.MonitorContendedEntered = contended_entered;
    callbacks.MonitorWait = monitor_wait;
    callbacks.MonitorWaited = monitor_waited;
    callbacks.GarbageCollectionStart = gc_start;
    callbacks.GarbageCollectionFinish = gc_finish;
    callbacks.ThreadStart = thread_start;
    callbacks.ThreadEnd = thread_end;
    callbacks.VMDeath = vm_death;
    callbacks.NativeMethodBind = park_bound;
    callbacks.ClassLoad = samples_class_load;
    callbacks.ClassPrepare = samples_class_prepare;
    callbacks.SampledObjectAlloc = allocations_sampled;
    callbacks.ObjectFree = objects_freed;
    return (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof callbacks) == JVMTI_ERROR_NONE
               ? NULL
               : "the JVM refuses its agent's callbacks: no monitors, parks, collections and thread names";
}

static void set_mode(jvmtiEventMode mode) {
    for (int i = 0; i < EVENT_COUNT; i++) {
        (*jvmti)->SetEventNotificationMode(jvmti, mode, EVENTS[i], NULL);
    }
}

static int names_threads;

int events_name_threads(void) {
    return names_threads;
}

/* Names the threads that live already, with their kernel ids if those can be known; returns whether they can. */
static int name_threads(struct session *s, JavaVM *vm, JNIEnv *jni) {
    jint count = 0;
    jthread *threads = NULL;
    if ((*jvmti)->GetAllThreads(jvmti, &count, &threads) != JVMTI_ERROR_NONE) {
        return 0;
    }
    void *library = layout_libjvm(vm);
    int known = library != NULL && tids_open(jni, library);
    for (jint i = 0; i < count; i++) {
        uint32_t tid = known ? tids_of(jni, threads[i]) : 0;
        spool_emit_shared(s, THREAD, about_name(s, jni, threads[i], NULL), about_java_id(jni, threads[i]), tid);
        (*jni)->DeleteLocalRef(jni, threads[i]);
    }
    tids_close();
    (*jvmti)->Deallocate(jvmti, (unsigned char *)threads);
    return known;
}

const char *events_start(JavaVM *vm, JNIEnv *jni, uint8_t *base) {
    app_open(vm);
    const char *missing = jvmti == NULL ? prepare(vm, jni) : NULL;
    if (missing != NULL) {
        return missing;
    }
    struct session *s = spool_new(base);
    if (s == NULL) {
        return "no memory for the native half: no monitors, collections and thread names";
    }
    int stacks = stacks_start(s);
    spool_begin(s);
    set_mode(JVMTI_ENABLE); /* before the threads are named, so that none is missed */
    names_threads = name_threads(s, vm, jni);
    missing = park_start(jni);
    const char *unsampled = samples_start(s, vm, jni), *unallocated = objects_wanted(s) ? objects_start(s) : allocations_start(s);
    if (missing == NULL && !stacks) {
        missing = "no memory for stacks: the code that waited is not recorded";
    }
    if (missing == NULL) {
        missing = unsampled;
    }
    return missing != NULL ? missing : unallocated;
}

void events_drain(JNIEnv *jni) {
    struct session *s = spool_session();
    if (s != NULL) {
        samples_drain(s, jni);
    }
}

void events_stop(JNIEnv *jni) {
    struct session *s = spool_session();
    if (s != NULL) {
        allocations_stop(s);
        objects_stop(s);
        samples_stop(s, jni);
    }
    park_stop(jni);
    spool_end();
    if (s != NULL) {
        stacks_stop(s);
    }
    if (jvmti != NULL) {
        set_mode(JVMTI_DISABLE);
    }
}
