/* The native methods of dev.loadline.agent.boot.Native. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <jni.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "budget.h"
#include "events.h"
#include "spool.h"
#include "stacks.h"

#define NATIVE(type, name) JNIEXPORT type JNICALL Java_dev_loadline_agent_boot_Native_##name

/* Results of awaitControl, as in Native.java. */
enum { SILENT = 0, STOP = 1, CLOSED = 2, NOBODY = 3 };

static void throw_io(JNIEnv *jni, const char *path, const char *what) {
    char message[PATH_MAX + 128];
    snprintf(message, sizeof message, "%s: cannot %s: %s", path, what, strerror(errno));
    jclass type = (*jni)->FindClass(jni, "java/io/IOException");
    if (type != NULL) {
        (*jni)->ThrowNew(jni, type, message);
    }
}

/* Opens a file whose name is a Java string; -1 with an exception pending if it cannot. */
static int open_path(JNIEnv *jni, jstring path, int flags, char name[PATH_MAX]) {
    const char *chars = (*jni)->GetStringUTFChars(jni, path, NULL);
    if (chars == NULL) {
        return -1;
    }
    snprintf(name, PATH_MAX, "%s", chars);
    (*jni)->ReleaseStringUTFChars(jni, path, chars);
    int fd = open(name, flags | O_CLOEXEC);
    if (fd < 0) {
        throw_io(jni, name, "open it");
    }
    return fd;
}

NATIVE(jlong, atWork)(JNIEnv *jni, jclass type) {
    (void)jni;
    (void)type;
    return (jlong)(intptr_t)stacks_at_work();
}

NATIVE(jint, gettid)(JNIEnv *jni, jclass type) {
    (void)jni, (void)type;
    return (jint)spool_gettid();
}

NATIVE(jlong, cpuNanos)(JNIEnv *jni, jclass type) {
    (void)jni, (void)type;
    return (jlong)budget_cpu_ns();
}

NATIVE(jlong, map)(JNIEnv *jni, jclass type, jstring path) {
    (void)type;
    char name[PATH_MAX];
    int fd = open_path(jni, path, O_RDWR, name);
    if (fd < 0) {
        return 0;
    }
    void *base = MAP_FAILED;
    off_t size = lseek(fd, 0, SEEK_END); /* fstat is a function of glibc's from 2.33 on only */
    if (size >= 0) {
        base = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
    if (base == MAP_FAILED) {
        throw_io(jni, name, "map it");
    }
    close(fd);
    return base == MAP_FAILED ? 0 : (jlong)(intptr_t)base;
}

NATIVE(void, seal)(JNIEnv *jni, jclass type, jlong address, jlong size) {
    (void)jni, (void)type;
    /* If this fails (strict overcommit) the file stays mapped, which is as safe for the JVM. */
    (void)!mmap((void *)(intptr_t)address, (size_t)size, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

NATIVE(jstring, start)(JNIEnv *jni, jclass type, jlong address) {
    (void)type;
    JavaVM *vm;
    const char *missing = (*jni)->GetJavaVM(jni, &vm) == JNI_OK
                              ? events_start(vm, jni, (uint8_t *)(intptr_t)address)
                              : "JNI has no VM";
    return missing == NULL ? NULL : (*jni)->NewStringUTF(jni, missing);
}

NATIVE(jboolean, names)(JNIEnv *jni, jclass type) {
    (void)jni, (void)type;
    return events_name_threads() ? JNI_TRUE : JNI_FALSE;
}

NATIVE(void, drain)(JNIEnv *jni, jclass type) {
    (void)type;
    events_drain(jni);
}

NATIVE(void, stop)(JNIEnv *jni, jclass type) {
    (void)type;
    events_stop(jni);
}

NATIVE(jint, openControl)(JNIEnv *jni, jclass type, jstring path) {
    (void)type;
    char name[PATH_MAX];
    return open_path(jni, path, O_RDONLY | O_NONBLOCK, name);
}

NATIVE(jint, awaitControl)(JNIEnv *jni, jclass type, jint fd, jint timeout_ms) {
    (void)jni, (void)type;
    struct pollfd control = {.fd = fd, .events = POLLIN};
    int ready = poll(&control, 1, timeout_ms);
    if (ready < 0) {
        return errno == EINTR ? SILENT : CLOSED;
    }
    /* POLLHUP says that there was a writer and is none; without it, only read() can tell. */
    char line[256];
    ssize_t length = read(fd, line, sizeof line - 1);
    if (length > 0) {
        line[length] = '\0';
        return strstr(line, "stop") != NULL ? STOP : SILENT;
    }
    if (length < 0) {
        return errno == EAGAIN || errno == EINTR ? SILENT : CLOSED;
    }
    return ready > 0 && (control.revents & POLLHUP) != 0 ? CLOSED : NOBODY;
}

NATIVE(void, closeControl)(JNIEnv *jni, jclass type, jint fd) {
    (void)jni, (void)type;
    close(fd);
}
