/* Native code that says what it does: a span with an event in it, on the thread that calls and on one of its own. */
#include "loadline.h"

#include <jni.h>
#include <pthread.h>

static void land(int64_t crates) {
    uint64_t span = loadline_span_begin("land");
    loadline_event("crates", crates);
    loadline_span_end(span);
}

static void *dock(void *crates) {
    land(*(int64_t *)crates);
    return NULL;
}

JNIEXPORT void JNICALL Java_Quay_land(JNIEnv *jni, jclass type, jlong crates) {
    (void)jni, (void)type;
    int64_t own = crates;
    land(own);
    pthread_t thread;
    if (pthread_create(&thread, NULL, dock, &own) == 0) {
        pthread_join(thread, NULL);
    }
}
