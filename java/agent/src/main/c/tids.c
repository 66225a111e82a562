/* See tids.h. */
#define _GNU_SOURCE
#include "tids.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static jfieldID eetop; /* Thread.eetop: where HotSpot's own thread is; 0 once it has ended */
static uint64_t osthread_at, id_at;
static int probe[2] = {-1, -1};

static uint64_t number(void *libjvm, const char *name) {
    uint64_t *symbol = dlsym(libjvm, name);
    return symbol == NULL ? 0 : *symbol;
}

/* Offset of a field by the names of its type and itself; 0 if the tables do not have it. */
static uint64_t field(void *libjvm, const char *type_suffix, const char *name) {
    uint8_t **entries = dlsym(libjvm, "gHotSpotVMStructs");
    uint64_t stride = number(libjvm, "gHotSpotVMStructEntryArrayStride");
    uint64_t type_at = number(libjvm, "gHotSpotVMStructEntryTypeNameOffset");
    uint64_t name_at = number(libjvm, "gHotSpotVMStructEntryFieldNameOffset");
    uint64_t offset_at = number(libjvm, "gHotSpotVMStructEntryOffsetOffset");
    if (entries == NULL || *entries == NULL || stride == 0) {
        return 0;
    }
    for (uint8_t *entry = *entries; *(const char **)(entry + type_at) != NULL; entry += stride) {
        const char *type = *(const char **)(entry + type_at), *its = *(const char **)(entry + name_at);
        size_t length = strlen(type), tail = strlen(type_suffix);
        if (its != NULL && strcmp(its, name) == 0 && length >= tail && strcmp(type + length - tail, type_suffix) == 0) {
            return *(uint64_t *)(entry + offset_at);
        }
    }
    return 0;
}

int tids_open(JNIEnv *jni, void *libjvm) {
    jclass type = (*jni)->FindClass(jni, "java/lang/Thread");
    eetop = type == NULL ? NULL : (*jni)->GetFieldID(jni, type, "eetop", "J");
    if (eetop == NULL) {
        (*jni)->ExceptionClear(jni);
        return 0;
    }
    osthread_at = field(libjvm, "Thread", "_osthread"); /* of JavaThread or of Thread, depending on the release */
    id_at = field(libjvm, "OSThread", "_thread_id");
    return osthread_at != 0 && id_at != 0 && pipe2(probe, O_CLOEXEC | O_NONBLOCK) == 0;
}

void tids_close(void) {
    for (int i = 0; i < 2; i++) {
        if (probe[i] >= 0) {
            close(probe[i]);
            probe[i] = -1;
        }
    }
}

/* The kernel copies it, and refuses where there is nothing. */
static int read_at(uint64_t address, void *to, size_t size) {
    return write(probe[1], (const void *)(uintptr_t)address, size) == (ssize_t)size && read(probe[0], to, size) == (ssize_t)size;
}

uint32_t tids_of(JNIEnv *jni, jthread thread) {
    uint64_t vm_thread = (uint64_t)(*jni)->GetLongField(jni, thread, eetop), os_thread = 0;
    uint32_t id = 0;
    int known = vm_thread != 0 && read_at(vm_thread + osthread_at, &os_thread, sizeof os_thread) &&
                read_at(os_thread + id_at, &id, sizeof id);
    /* It was what it seemed if the thread has not ended since: that comes before its memory goes. */
    return known && (uint64_t)(*jni)->GetLongField(jni, thread, eetop) == vm_thread ? id : 0;
}
