/*
 * See events.h.
 *
 * One JVMTI environment serves all recordings and is never disposed: a callback may be inside it.
 * Callbacks of monitors and threads run on the thread concerned and may use JNI; those of garbage
 * collections run on the VM's own thread at a safepoint and may use neither JNI nor most of JVMTI.
 */
#include "events.h"

#include <jvmti.h>
#include <string.h>

#include "spool.h"

enum {
    /* Names that the headers of JDK 17 do not have. */
    VERSION_21 = 0x30150000,
    JNI_21 = 0x00150000,
    CAN_SUPPORT_VIRTUAL_THREADS_BIT = 44,
    IS_VIRTUAL_THREAD_SLOT = 234,
};

typedef jboolean (*is_virtual_thread)(JNIEnv *, jobject);

static jvmtiEnv *jvmti;
static jfieldID thread_id; /* Thread.tid */
static int has_virtual_threads;

static const jvmtiEvent EVENTS[] = {
    JVMTI_EVENT_MONITOR_CONTENDED_ENTER, JVMTI_EVENT_MONITOR_CONTENDED_ENTERED,
    JVMTI_EVENT_MONITOR_WAIT,            JVMTI_EVENT_MONITOR_WAITED,
    JVMTI_EVENT_GARBAGE_COLLECTION_START, JVMTI_EVENT_GARBAGE_COLLECTION_FINISH,
    JVMTI_EVENT_THREAD_START,            JVMTI_EVENT_THREAD_END,
};
enum { EVENT_COUNT = sizeof EVENTS / sizeof EVENTS[0] };

static uint64_t java_id(JNIEnv *jni, jthread thread) {
    return (uint64_t)(*jni)->GetLongField(jni, thread, thread_id);
}

static int is_virtual(JNIEnv *jni, jthread thread) {
    if (!has_virtual_threads) {
        return 0;
    }
    void *function = ((void **)*jni)[IS_VIRTUAL_THREAD_SLOT];
    return ((is_virtual_thread)function)(jni, thread);
}

static uint32_t thread_name(struct session *s, JNIEnv *jni, jthread thread) {
    jvmtiThreadInfo info;
    if ((*jvmti)->GetThreadInfo(jvmti, thread, &info) != JVMTI_ERROR_NONE) {
        return 0; /* it is gone */
    }
    uint32_t id = info.name == NULL ? 0 : spool_string(s, info.name);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)info.name);
    (*jni)->DeleteLocalRef(jni, info.thread_group);
    (*jni)->DeleteLocalRef(jni, info.context_class_loader);
    return id;
}

/* "Lorg/x/Y;" to "org.x.Y", as Class.getName() says it; arrays stay as they are, but with dots. */
static char *class_name(char *signature) {
    size_t length = strlen(signature);
    char *name = signature;
    if (signature[0] == 'L' && length > 2) {
        signature[length - 1] = '\0';
        name++;
    }
    for (char *c = name; *c != '\0'; c++) {
        if (*c == '/') {
            *c = '.';
        }
    }
    return name;
}

/* String id of an object's class. It is kept in the class's tag, with the session it is good for. */
static uint32_t class_of(struct session *s, JNIEnv *jni, jobject object) {
    jclass class = (*jni)->GetObjectClass(jni, object);
    jlong tag = 0;
    uint32_t id = 0;
    (*jvmti)->GetTag(jvmti, class, &tag);
    if ((uint32_t)(tag >> 32) == s->epoch) {
        id = (uint32_t)tag;
    } else {
        char *signature = NULL;
        if ((*jvmti)->GetClassSignature(jvmti, class, &signature, NULL) == JVMTI_ERROR_NONE) {
            id = spool_string(s, class_name(signature));
            (*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
            (*jvmti)->SetTag(jvmti, class, (jlong)((uint64_t)s->epoch << 32 | id));
        }
    }
    (*jni)->DeleteLocalRef(jni, class);
    return id;
}

static uint64_t identity(jobject object) {
    jint hash = 0;
    (*jvmti)->GetObjectHashCode(jvmti, object, &hash);
    return (uint32_t)hash;
}

/* Says which virtual thread the chunk speaks of from here on. Returns its id, 0 if it is none. */
static uint64_t speak(struct session *s, JNIEnv *jni, jthread thread) {
    uint64_t id = is_virtual(jni, thread) ? java_id(jni, thread) : 0;
    if (!spool_speaks(s, id)) {
        uint32_t name = id == 0 ? 0 : thread_name(s, jni, thread);
        spool_emit(s, SWITCH_TO, name, id, 0);
    }
    return id;
}

static void JNICALL contended_enter(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject object) {
    (void)env;
    struct session *s = spool_session();
    if (s != NULL) {
        uint64_t id = speak(s, jni, thread);
        spool_emit(s, MONITOR_ENTER, class_of(s, jni, object), identity(object), id);
    }
}

static void JNICALL contended_entered(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject object) {
    (void)env;
    struct session *s = spool_session();
    if (s != NULL) {
        uint64_t id = speak(s, jni, thread);
        spool_emit(s, MONITOR_ENTERED, class_of(s, jni, object), identity(object), id);
    }
}

static void JNICALL monitor_wait(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject object,
                                 jlong timeout_ms) {
    (void)env;
    struct session *s = spool_session();
    if (s != NULL) {
        speak(s, jni, thread);
        spool_emit(s, MONITOR_WAIT, class_of(s, jni, object), identity(object),
                   (uint64_t)timeout_ms);
    }
}

static void JNICALL monitor_waited(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject object,
                                   jboolean timed_out) {
    (void)env;
    struct session *s = spool_session();
    if (s != NULL) {
        speak(s, jni, thread);
        spool_emit(s, MONITOR_WAITED, class_of(s, jni, object), identity(object), timed_out != 0);
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
        spool_emit_shared(s, THREAD, thread_name(s, jni, thread), java_id(jni, thread),
                          spool_gettid());
    }
}

static void JNICALL thread_end(jvmtiEnv *env, JNIEnv *jni, jthread thread) {
    (void)env;
    struct session *s = spool_session();
    if (s != NULL) {
        spool_emit_shared(s, THREAD_END, 0, java_id(jni, thread), spool_gettid());
    }
}

/* Gets the JVMTI environment with its capabilities and callbacks. Returns NULL, or what is missing. */
static const char *prepare(JavaVM *vm, JNIEnv *jni) {
    jvmtiEnv *env = NULL;
    int at_least_21 = (*vm)->GetEnv(vm, (void **)&env, VERSION_21) == JNI_OK;
    if (!at_least_21 && (*vm)->GetEnv(vm, (void **)&env, JVMTI_VERSION_11) != JNI_OK) {
        return "the JVM has no JVMTI of version 11 or later: no monitors, collections and thread names";
    }
    has_virtual_threads = at_least_21 && (*jni)->GetVersion(jni) >= JNI_21;
    jclass type = (*jni)->FindClass(jni, "java/lang/Thread");
    thread_id = type == NULL ? NULL : (*jni)->GetFieldID(jni, type, "tid", "J");
    if (thread_id == NULL) {
        (*jni)->ExceptionClear(jni);
        (*env)->DisposeEnvironment(env);
        return "java.lang.Thread has no field tid: no monitors, collections and thread names";
    }
    jvmtiCapabilities wanted;
    memset(&wanted, 0, sizeof wanted);
    wanted.can_tag_objects = 1;
    wanted.can_generate_monitor_events = 1;
    wanted.can_generate_garbage_collection_events = 1;
    if (has_virtual_threads) {
        uint8_t *bits = (uint8_t *)&wanted;
        bits[CAN_SUPPORT_VIRTUAL_THREADS_BIT / 8] |= 1u << CAN_SUPPORT_VIRTUAL_THREADS_BIT % 8;
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
    if ((*env)->AddCapabilities(env, &wanted) != JVMTI_ERROR_NONE ||
        (*env)->SetEventCallbacks(env, &callbacks, sizeof callbacks) != JVMTI_ERROR_NONE) {
        (*env)->DisposeEnvironment(env);
        return "the JVM refuses monitor events, perhaps because another agent has them";
    }
    jvmti = env;
    return NULL;
}

static void set_mode(jvmtiEventMode mode) {
    for (int i = 0; i < EVENT_COUNT; i++) {
        (*jvmti)->SetEventNotificationMode(jvmti, mode, EVENTS[i], NULL);
    }
}

/* Names the threads that live already; their kernel ids are not known here. */
static void name_threads(struct session *s, JNIEnv *jni) {
    jint count = 0;
    jthread *threads = NULL;
    if ((*jvmti)->GetAllThreads(jvmti, &count, &threads) != JVMTI_ERROR_NONE) {
        return;
    }
    for (jint i = 0; i < count; i++) {
        spool_emit_shared(s, THREAD, thread_name(s, jni, threads[i]), java_id(jni, threads[i]), 0);
        (*jni)->DeleteLocalRef(jni, threads[i]);
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)threads);
}

const char *events_start(JavaVM *vm, JNIEnv *jni, uint8_t *base) {
    const char *missing = jvmti == NULL ? prepare(vm, jni) : NULL;
    if (missing != NULL) {
        return missing;
    }
    struct session *s = spool_begin(base);
    if (s == NULL) {
        return "no memory for the native half: no monitors, collections and thread names";
    }
    set_mode(JVMTI_ENABLE); /* before the threads are named, so that none is missed */
    name_threads(s, jni);
    return NULL;
}

void events_stop(void) {
    spool_end();
    if (jvmti != NULL) {
        set_mode(JVMTI_DISABLE);
    }
}
