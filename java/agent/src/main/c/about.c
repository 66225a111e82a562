/* See about.h. */
#include "about.h"

#include <string.h>

#include "objects.h"

enum {
    /* Names that the headers of JDK 17 do not have. */
    VERSION_21 = 0x30150000,
    JNI_21 = 0x00150000,
    CAN_SUPPORT_VIRTUAL_THREADS_BIT = 44,
    IS_VIRTUAL_THREAD_SLOT = 234,
    /* In the tag of a class whose objects are wanted: ids of strings have no such bit. */
    CHOSEN = 1 << 30,
};

typedef jboolean (*is_virtual_thread)(JNIEnv *, jobject);

jvmtiEnv *jvmti;
static jfieldID thread_id, thread_name; /* Thread.tid, Thread.name */
static int has_virtual_threads;

const char *about_open(JavaVM *vm, JNIEnv *jni) {
    jvmtiEnv *env = NULL;
    int at_least_21 = (*vm)->GetEnv(vm, (void **)&env, VERSION_21) == JNI_OK;
    if (!at_least_21 && (*vm)->GetEnv(vm, (void **)&env, JVMTI_VERSION_11) != JNI_OK) {
        return "the JVM has no JVMTI of version 11 or later: no monitors, parks, collections and thread names";
    }
    has_virtual_threads = at_least_21 && (*jni)->GetVersion(jni) >= JNI_21;
    jclass type = (*jni)->FindClass(jni, "java/lang/Thread");
    thread_id = type == NULL ? NULL : (*jni)->GetFieldID(jni, type, "tid", "J");
    thread_name = thread_id == NULL ? NULL : (*jni)->GetFieldID(jni, type, "name", "Ljava/lang/String;");
    if (thread_name == NULL) {
        (*jni)->ExceptionClear(jni);
        (*env)->DisposeEnvironment(env);
        return "java.lang.Thread has no fields tid and name: no monitors, parks, collections and thread names";
    }
    jvmtiCapabilities wanted;
    memset(&wanted, 0, sizeof wanted);
    wanted.can_tag_objects = 1;
    wanted.can_generate_monitor_events = 1;
    wanted.can_generate_garbage_collection_events = 1;
    wanted.can_generate_native_method_bind_events = 1;
    wanted.can_get_source_file_name = 1;
    wanted.can_get_line_numbers = 1;
    if (has_virtual_threads) {
        uint8_t *bits = (uint8_t *)&wanted;
        bits[CAN_SUPPORT_VIRTUAL_THREADS_BIT / 8] |= 1u << CAN_SUPPORT_VIRTUAL_THREADS_BIT % 8;
    }
    if ((*env)->AddCapabilities(env, &wanted) != JVMTI_ERROR_NONE) {
        (*env)->DisposeEnvironment(env);
        return "the JVM refuses monitor events, perhaps because another agent has them";
    }
    jvmti = env;
    return NULL;
}

int about_virtual_threads(void) {
    return has_virtual_threads;
}

uint64_t about_java_id(JNIEnv *jni, jthread thread) {
    return (uint64_t)(*jni)->GetLongField(jni, thread, thread_id);
}

static int is_virtual(JNIEnv *jni, jthread thread) {
    if (!has_virtual_threads) {
        return 0;
    }
    void *function = ((void **)*jni)[IS_VIRTUAL_THREAD_SLOT];
    return ((is_virtual_thread)function)(jni, thread);
}

/* Cuts the number off that a text ends in, if it is one as people write it; returns it plus 1, or 0. */
static uint64_t cut_number(char *text) {
    enum { MOST_DIGITS = 18 };
    size_t length = strlen(text), at = length;
    while (at > 0 && text[at - 1] >= '0' && text[at - 1] <= '9' && length - at < MOST_DIGITS) {
        at--;
    }
    while (at + 1 < length && text[at] == '0') {
        at++; /* a zero in front belongs to the text */
    }
    if (at == length) {
        return 0;
    }
    uint64_t number = 0;
    for (size_t i = at; i < length; i++) {
        number = number * 10 + (uint64_t)(text[i] - '0');
    }
    text[at] = '\0';
    return number + 1;
}

uint32_t about_name(struct session *s, JNIEnv *jni, jthread thread, uint64_t *number) {
    jstring name = (*jni)->GetObjectField(jni, thread, thread_name);
    const char *chars = name == NULL ? NULL : (*jni)->GetStringUTFChars(jni, name, NULL);
    uint32_t id = 0;
    if (number != NULL) {
        *number = 0;
    }
    if (chars != NULL && number != NULL && strlen(chars) < MAX_STRING_BYTES) {
        char text[MAX_STRING_BYTES];
        strcpy(text, chars);
        *number = cut_number(text);
        id = spool_string(s, text);
    } else if (chars != NULL) {
        id = spool_string(s, chars);
    }
    if (chars != NULL) {
        (*jni)->ReleaseStringUTFChars(jni, name, chars);
    }
    (*jni)->DeleteLocalRef(jni, name);
    return id;
}

char *about_class_name(char *signature) {
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

void about_generalise(char *class) {
    char *hidden = strstr(class, ".0x");
    if (hidden != NULL) {
        *hidden = '\0';
    }
    char *lambda = strstr(class, "$$Lambda");
    if (lambda != NULL) {
        lambda[strlen("$$Lambda")] = '\0';
    } else if (strstr(class, "$Proxy") != NULL || strstr(class, ".reflect.Generated") != NULL) {
        for (size_t end = strlen(class); end > 0 && class[end - 1] >= '0' && class[end - 1] <= '9'; end--) {
            class[end - 1] = '\0';
        }
    }
}

/* It is kept in the class's tag, with the session it is good for, and whether the class is chosen. */
uint32_t about_class_id(struct session *s, jclass class, int *chosen) {
    jlong tag = 0;
    (*jvmti)->GetTag(jvmti, class, &tag);
    if ((uint32_t)(tag >> 32) == s->epoch) {
        if (chosen != NULL) {
            *chosen = (tag & CHOSEN) != 0;
        }
        return (uint32_t)tag & ~(uint32_t)CHOSEN;
    }
    char *signature = NULL;
    if ((*jvmti)->GetClassSignature(jvmti, class, &signature, NULL) != JVMTI_ERROR_NONE) {
        return 0;
    }
    char *name = about_class_name(signature);
    about_generalise(name);
    uint32_t id = spool_string(s, name), flag = objects_choose(s, name) ? CHOSEN : 0;
    (*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
    (*jvmti)->SetTag(jvmti, class, (jlong)((uint64_t)s->epoch << 32 | flag | id));
    if (chosen != NULL) {
        *chosen = flag != 0;
    }
    return id;
}

uint32_t about_class(struct session *s, JNIEnv *jni, jobject object) {
    jclass class = (*jni)->GetObjectClass(jni, object);
    uint32_t id = about_class_id(s, class, NULL);
    (*jni)->DeleteLocalRef(jni, class);
    return id;
}

uint64_t about_identity(jobject object) {
    jint hash = 0;
    (*jvmti)->GetObjectHashCode(jvmti, object, &hash);
    return (uint32_t)hash;
}

uint64_t about_speaker(struct session *s, JNIEnv *jni, jthread thread) {
    uint64_t id = is_virtual(jni, thread) ? about_java_id(jni, thread) : 0;
    if (!spool_speaks(s, id)) {
        uint64_t number = 0;
        uint32_t name = id == 0 ? 0 : about_name(s, jni, thread, &number);
        spool_emit(s, SWITCH_TO, name, id, number);
    }
    return id;
}
