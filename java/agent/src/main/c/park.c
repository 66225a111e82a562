/* See park.h. */
#include "park.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "about.h"
#include "spool.h"
#include "stacks.h"

typedef void(JNICALL *park_function)(JNIEnv *, jobject, jboolean, jlong);
typedef void(JNICALL *transition)(jvmtiEnv *, ...);

static _Atomic(park_function) jvms_own;
static jmethodID park_method;
static jclass unsafe_class, owned_class;
static jfieldID blocker_field, owner_field;

/* Java id of the thread that has a synchronizer; 0 if none has, or it is none. */
static uint64_t owner_of(JNIEnv *jni, jobject blocker) {
    uint64_t id = 0;
    jobject owner = (*jni)->IsInstanceOf(jni, blocker, owned_class)
                        ? (*jni)->GetObjectField(jni, blocker, owner_field)
                        : NULL;
    if (owner != NULL) {
        id = about_java_id(jni, owner);
        (*jni)->DeleteLocalRef(jni, owner);
    }
    return id;
}

/* Says that a thread (which speaks for `speaker`) begins to park, on what and who has that. `without` is
 * the class to name where it does not say on what. */
static void tell_park(struct session *s, JNIEnv *jni, jthread thread, uint64_t speaker, const char *without) {
    uint32_t class = 0;
    uint64_t identity = 0, owner_id = 0;
    jobject blocker = (*jni)->GetObjectField(jni, thread, blocker_field);
    if (blocker == NULL) {
        class = without == NULL ? 0 : spool_string(s, without);
    } else {
        owner_id = owner_of(jni, blocker);
        class = about_class(s, jni, blocker);
        identity = about_identity(blocker);
        (*jni)->DeleteLocalRef(jni, blocker);
    }
    uint64_t now = spool_now();
    stacks_wait_begins(s, speaker, IN_PARK, now);
    spool_emit_at(s, now, PARK, class, identity, owner_id);
}

static void JNICALL recorded_park(JNIEnv *jni, jobject unsafe, jboolean absolute, jlong time) {
    park_function own = atomic_load_explicit(&jvms_own, memory_order_acquire);
    if (own == NULL) {
        sched_yield(); /* being bound right now; park may return for no reason */
        return;
    }
    struct session *s = spool_session();
    jthread thread = NULL;
    if (s == NULL || (*jvmti)->GetCurrentThread(jvmti, &thread) != JVMTI_ERROR_NONE || thread == NULL) {
        own(jni, unsafe, absolute, time);
        return;
    }
    tell_park(s, jni, thread, about_speaker(s, jni, thread), NULL);
    own(jni, unsafe, absolute, time);
    if (spool_session() == s) {
        uint64_t speaker = about_speaker(s, jni, thread), now = spool_now();
        uint32_t stack = stacks_wait_ended(s, jni, thread, speaker, IN_PARK, now);
        spool_emit_at(s, now, UNPARKED, 0, 0, (uint64_t)stack << 32);
    }
    (*jni)->DeleteLocalRef(jni, thread);
}

void JNICALL park_bound(jvmtiEnv *env, JNIEnv *jni, jthread thread, jmethodID method, void *address,
                        void **instead) {
    (void)env, (void)jni, (void)thread;
    if (method == park_method && address != (void *)recorded_park) {
        atomic_store_explicit(&jvms_own, (park_function)address, memory_order_release);
        *instead = (void *)recorded_park;
    }
}

static int bind(JNIEnv *jni, park_function function) {
    JNINativeMethod method = {"park", "(ZJ)V", (void *)function};
    return (*jni)->RegisterNatives(jni, unsafe_class, &method, 1) == JNI_OK;
}

static int look_up(JNIEnv *jni) {
    jclass unsafe = (*jni)->FindClass(jni, "jdk/internal/misc/Unsafe");
    jclass owned = (*jni)->FindClass(jni, "java/util/concurrent/locks/AbstractOwnableSynchronizer");
    jclass type = (*jni)->FindClass(jni, "java/lang/Thread");
    if (unsafe == NULL || owned == NULL || type == NULL) {
        return 0;
    }
    unsafe_class = (*jni)->NewGlobalRef(jni, unsafe);
    owned_class = (*jni)->NewGlobalRef(jni, owned);
    park_method = (*jni)->GetMethodID(jni, unsafe, "park", "(ZJ)V");
    blocker_field = park_method == NULL ? NULL : (*jni)->GetFieldID(jni, type, "parkBlocker", "Ljava/lang/Object;");
    owner_field = blocker_field == NULL
                      ? NULL
                      : (*jni)->GetFieldID(jni, owned, "exclusiveOwnerThread", "Ljava/lang/Thread;");
    return owner_field != NULL;
}

/* Lets the JVM bind its own natives again, which tells where its own park is, and puts ours there. */
static int find_own(JNIEnv *jni) {
    jmethodID natives = (*jni)->GetStaticMethodID(jni, unsafe_class, "registerNatives", "()V");
    if (natives == NULL || !bind(jni, recorded_park)) {
        return 0;
    }
    (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_NATIVE_METHOD_BIND, NULL);
    (*jni)->CallStaticVoidMethod(jni, unsafe_class, natives);
    int threw = (*jni)->ExceptionCheck(jni);
    (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_DISABLE, JVMTI_EVENT_NATIVE_METHOD_BIND, NULL);
    return !threw && atomic_load(&jvms_own) != NULL;
}

/* ---- virtual threads: states of java.lang.VirtualThread that say why it leaves its carrier ---- */

/* Where the JDK lets virtual threads wait for a socket: they park there for any time, and say not on
 * what. Who sleeps parks for a time, and locks say what they are. */
static const char *const SOCKETS = "sun.nio.ch.Poller";

enum { RUNNING, PARKING, TIMED_PARKING, YIELDING, BLOCKING, WAITING, TIMED_WAITING, STATE_COUNT };
static const char *const STATE_NAMES[STATE_COUNT] = {
    "RUNNING", "PARKING", "TIMED_PARKING", "YIELDING", "BLOCKING", "WAITING", "TIMED_WAITING",
};

/* Known from the first virtual thread that leaves its carrier. To ask their class for it before there is any would
 * initialize it, which has a price in a JVM that has none: compiled code counts on it that no class overrides Thread's
 * methods, and all that waits, selects or asks whether it was interrupted would be thrown away; and it starts a thread. */
static enum { NOT_ASKED, KNOWN, NOT_THERE } _Atomic asked_states;
static jfieldID state_field;
static jint states[STATE_COUNT]; /* -1: this JDK has none */
static int mounts_are_told;

static uint64_t why_it_leaves(jint state) {
    static const uint64_t why[STATE_COUNT] = {
        LEFT_ENDED, LEFT_PARKS, LEFT_PARKS, LEFT_YIELDS, LEFT_MONITOR, LEFT_MONITOR, LEFT_MONITOR,
    };
    for (int i = 0; i < STATE_COUNT; i++) {
        if (states[i] == state) {
            return why[i];
        }
    }
    return LEFT_UNKNOWN;
}

/* Reads a constant, -1 if there is none; the states begin with 0. */
static jint state_constant(JNIEnv *jni, jclass type, const char *name) {
    jfieldID field = (*jni)->GetStaticFieldID(jni, type, name, "I");
    if (field == NULL) {
        (*jni)->ExceptionClear(jni);
        return -1;
    }
    return (*jni)->GetStaticIntField(jni, type, field);
}

/* Whether this virtual thread says why it leaves. More than one thread may ask at first: they find the same. */
static int knows_states(JNIEnv *jni, jthread thread) {
    int asked = atomic_load_explicit(&asked_states, memory_order_acquire);
    if (asked != NOT_ASKED) {
        return asked == KNOWN;
    }
    jclass type = (*jni)->GetObjectClass(jni, thread);
    state_field = (*jni)->GetFieldID(jni, type, "state", "I");
    if (state_field == NULL) {
        (*jni)->ExceptionClear(jni);
    }
    for (int i = 0; i < STATE_COUNT; i++) {
        states[i] = state_constant(jni, type, STATE_NAMES[i]);
    }
    (*jni)->DeleteLocalRef(jni, type);
    asked = state_field != NULL && states[PARKING] >= 0 ? KNOWN : NOT_THERE;
    atomic_store_explicit(&asked_states, asked, memory_order_release);
    return asked == KNOWN;
}

static void JNICALL unmounted(jvmtiEnv *env, JNIEnv *jni, jthread thread) {
    (void)env;
    struct session *s = spool_session();
    if (s == NULL) {
        return;
    }
    uint64_t speaker = about_speaker(s, jni, thread);
    jint state = knows_states(jni, thread) ? (*jni)->GetIntField(jni, thread, state_field) : -1;
    uint64_t why = state < 0 ? LEFT_UNKNOWN : why_it_leaves(state);
    if (why == LEFT_PARKS) {
        /* Up to 21 it parks in the same state for a time. */
        int for_ever = state == states[PARKING] && states[TIMED_PARKING] >= 0;
        tell_park(s, jni, thread, speaker, for_ever ? SOCKETS : NULL);
    }
    spool_emit(s, UNMOUNT, 0, 0, why);
}

static void JNICALL mounted(jvmtiEnv *env, JNIEnv *jni, jthread thread) {
    (void)env;
    struct session *s = spool_session();
    if (s != NULL) {
        uint64_t speaker = about_speaker(s, jni, thread), now = spool_now();
        uint32_t stack = stacks_wait_ended(s, jni, thread, speaker, IN_PARK, now);
        spool_emit_at(s, now, MOUNT, 0, 0, (uint64_t)stack << 32);
    }
}

/* Finds an extension event by the end of its id; 0 if the JVM has none. */
static jint extension(const char *end) {
    jint count = 0, found = 0;
    jvmtiExtensionEventInfo *events = NULL;
    if ((*jvmti)->GetExtensionEvents(jvmti, &count, &events) != JVMTI_ERROR_NONE) {
        return 0;
    }
    for (jint i = 0; i < count; i++) {
        size_t length = strlen(events[i].id), tail = strlen(end);
        if (length >= tail && strcmp(events[i].id + length - tail, end) == 0) {
            found = events[i].extension_event_index;
        }
        for (jint p = 0; p < events[i].param_count; p++) {
            (*jvmti)->Deallocate(jvmti, (unsigned char *)events[i].params[p].name);
        }
        (*jvmti)->Deallocate(jvmti, (unsigned char *)events[i].params);
        (*jvmti)->Deallocate(jvmti, (unsigned char *)events[i].id);
        (*jvmti)->Deallocate(jvmti, (unsigned char *)events[i].short_description);
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)events);
    return found;
}

static int set_mounts(jvmtiEventMode mode) {
    static jint mount, unmount;
    if (mount == 0) {
        mount = extension(".VirtualThreadMount");
        unmount = extension(".VirtualThreadUnmount");
    }
    return mount != 0 && unmount != 0 &&
           (*jvmti)->SetExtensionEventCallback(jvmti, mount, (transition)mounted) == JVMTI_ERROR_NONE &&
           (*jvmti)->SetExtensionEventCallback(jvmti, unmount, (transition)unmounted) == JVMTI_ERROR_NONE &&
           (*jvmti)->SetEventNotificationMode(jvmti, mode, (jvmtiEvent)mount, NULL) == JVMTI_ERROR_NONE &&
           (*jvmti)->SetEventNotificationMode(jvmti, mode, (jvmtiEvent)unmount, NULL) == JVMTI_ERROR_NONE;
}

/* What is mounted all along has nothing else to tell that by: of no thread, it says that mounts are told from here on. */
static void say_that_mounts_are_told(void) {
    struct session *s = spool_session();
    if (s != NULL) {
        spool_emit_shared(s, MOUNT, 0, 0, 0);
    }
}

/* ---- */

const char *park_start(JNIEnv *jni) {
    char *vm = NULL;
    (*jvmti)->GetSystemProperty(jvmti, "java.vm.name", &vm);
    int hotspot = vm != NULL && strstr(vm, "J9") == NULL;
    (*jvmti)->Deallocate(jvmti, (unsigned char *)vm);
    /* What follows relies on how HotSpot binds natives. */
    if (!hotspot || (owner_field == NULL && !look_up(jni)) || !(jvms_own == NULL ? find_own(jni) : bind(jni, recorded_park))) {
        (*jni)->ExceptionClear(jni);
        return "this JVM's Unsafe.park cannot be bound: parks are not recorded";
    }
    if (!about_virtual_threads()) {
        return NULL;
    }
    mounts_are_told = set_mounts(JVMTI_ENABLE);
    if (!mounts_are_told) {
        return "this JVM does not tell of mounts: parks of virtual threads are not recorded";
    }
    say_that_mounts_are_told();
    return NULL;
}

void park_stop(JNIEnv *jni) {
    park_function own = atomic_load(&jvms_own);
    if (own != NULL) {
        bind(jni, own);
    }
    if (mounts_are_told) {
        set_mounts(JVMTI_DISABLE);
        mounts_are_told = 0;
    }
}
