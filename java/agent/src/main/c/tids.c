/* See tids.h. */
#define _GNU_SOURCE
#include "tids.h"

#include <fcntl.h>
#include <unistd.h>

#include "layout.h"

static jfieldID eetop; /* Thread.eetop: where HotSpot's own thread is; 0 once it has ended */
static int64_t osthread_at, id_at;
static int probe[2] = {-1, -1};

int tids_open(JNIEnv *jni, void *libjvm) {
    jclass type = (*jni)->FindClass(jni, "java/lang/Thread");
    eetop = type == NULL ? NULL : (*jni)->GetFieldID(jni, type, "eetop", "J");
    if (eetop == NULL) {
        (*jni)->ExceptionClear(jni);
        return 0;
    }
    osthread_at = layout_offset(libjvm, "Thread", "_osthread"); /* of JavaThread or of Thread, depending on the release */
    id_at = layout_offset(libjvm, "OSThread", "_thread_id");
    return osthread_at >= 0 && id_at >= 0 && pipe2(probe, O_CLOEXEC | O_NONBLOCK) == 0;
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
    int known = vm_thread != 0 && read_at(vm_thread + (uint64_t)osthread_at, &os_thread, sizeof os_thread) &&
                read_at(os_thread + (uint64_t)id_at, &id, sizeof id);
    /* It was what it seemed if the thread has not ended since: that comes before its memory goes. */
    return known && (uint64_t)(*jni)->GetLongField(jni, thread, eetop) == vm_thread ? id : 0;
}
