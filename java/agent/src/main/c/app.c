/* See app.h. */
#define _GNU_SOURCE
#include "app.h"

#include <jvmti.h>
#include <stdatomic.h>

#include "about.h"
#include "loadline.h"
#include "spool.h"

/* A span's id has the session above, and its number below. The highest bit tells it from those of the Java half. */
enum { EPOCH_SHIFT = 48, EPOCHS = 0x7FFF };
static const uint64_t OURS = (uint64_t)1 << 63;

static JavaVM *java;
static _Atomic uint64_t spans;

void app_open(JavaVM *vm) {
    java = vm;
}

static uint64_t prefix(struct session *s) {
    return OURS | (uint64_t)(s->epoch & EPOCHS) << EPOCH_SHIFT;
}

/* The session that wants application events now, its chunk speaking for the calling thread; or NULL. */
static struct session *session(void) {
    struct session *s = spool_session();
    if (s == NULL || !spool_wants_app(s)) {
        return NULL;
    }
    JNIEnv *jni = NULL;
    jthread thread = NULL;
    if ((*java)->GetEnv(java, (void **)&jni, JNI_VERSION_1_8) == JNI_OK && about_virtual_threads()
        && (*jvmti)->GetCurrentThread(jvmti, &thread) == JVMTI_ERROR_NONE && thread != NULL) {
        about_speaker(s, jni, thread);
        (*jni)->DeleteLocalRef(jni, thread);
    } else if (!spool_speaks(s, 0)) {
        spool_emit(s, SWITCH_TO, 0, 0, 0);
    }
    return s;
}

static uint64_t begin(const char *name) {
    struct session *s = session();
    if (s == NULL) {
        return 0;
    }
    uint64_t span = prefix(s) | (atomic_fetch_add_explicit(&spans, 1, memory_order_relaxed) & (((uint64_t)1 << EPOCH_SHIFT) - 1));
    spool_emit(s, SPAN_BEGIN, spool_string(s, name), span, 0);
    return span;
}

/* A span of another session ends in silence. */
static void end(uint64_t span) {
    struct session *s = session();
    if (s != NULL && span >> EPOCH_SHIFT == prefix(s) >> EPOCH_SHIFT) {
        spool_emit(s, SPAN_END, 0, span, 0);
    }
}

static void event(const char *type, int64_t value) {
    struct session *s = session();
    if (s != NULL) {
        spool_emit(s, APP_EVENT, spool_string(s, type), (uint64_t)value, 0);
    }
}

__attribute__((visibility("default"))) extern const struct loadline_recorder loadline_recorder_1;
const struct loadline_recorder loadline_recorder_1 = {begin, end, event};
