/* See objects.h. */
#define _GNU_SOURCE
#include "objects.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "about.h"
#include "allocations.h"
#include "budget.h"
#include "stacks.h"

/* In front of a line of the header's text that names a class; where nothing matters behind a star. */
enum { OF_CLASSES = '+', ANY = '*' };
enum { MAX_PATTERNS = 32, EPOCH_SHIFT = 47, EPOCHS = 0xFFFF };

struct objects {
    char text[METHODS_TEXT + 1];
    const char *patterns[MAX_PATTERNS];
    int count;
    _Atomic uint64_t next;
    struct budget budget; /* of their stacks */
};

int objects_wanted(struct session *s) {
    const char *text = spool_methods(s);
    return text[0] == OF_CLASSES || memmem(text, METHODS_TEXT, "\n+", 2) != NULL;
}

static int is_chosen(const struct objects *all, const char *class) {
    for (int i = 0; i < all->count; i++) {
        const char *star = strchr(all->patterns[i], ANY);
        size_t length = star == NULL ? strlen(class) + 1 : (size_t)(star - all->patterns[i]);
        if (strncmp(all->patterns[i], class, length) == 0) {
            return 1;
        }
    }
    return 0;
}

int objects_choose(struct session *s, const char *class) {
    return s->objects != NULL && is_chosen(s->objects, class);
}

static uint64_t prefix(struct session *s) {
    return (uint64_t)1 << 63 | (uint64_t)(s->epoch & EPOCHS) << EPOCH_SHIFT;
}

void objects_allocated(struct session *s, JNIEnv *jni, jthread thread, jobject object, jclass class, uint64_t size) {
    struct objects *all = s->objects;
    int chosen = 0;
    uint32_t type = about_class_id(s, class, &chosen);
    if (!chosen) {
        return;
    }
    uint64_t number = atomic_fetch_add_explicit(&all->next, 1, memory_order_relaxed), now = spool_now();
    uint32_t stack = 0;
    if (budget_affords(&all->budget, now)) {
        uint64_t before = budget_cpu_ns();
        stack = stacks_take(s, jni, thread);
        budget_pay(&all->budget, now, budget_cpu_ns() - before);
    } else {
        spool_spared_stack(s);
    }
    about_speaker(s, jni, thread);
    spool_emit(s, OBJECT_NEW, type, number, (uint64_t)stack << 32 | allocations_units(size));
    (*jvmti)->SetTag(jvmti, object, (jlong)(prefix(s) | number));
}

void JNICALL objects_freed(jvmtiEnv *env, jlong tag) {
    (void)env;
    struct session *s = spool_session();
    if (s != NULL && tag < 0 && (uint64_t)tag >> EPOCH_SHIFT == prefix(s) >> EPOCH_SHIFT) {
        spool_emit(s, OBJECT_FREED, 0, (uint64_t)tag & (((uint64_t)1 << EPOCH_SHIFT) - 1), 0);
    }
}

/* Takes the lines that name classes out of the header's text. */
static void read_patterns(struct session *s, struct objects *all) {
    char *rest = NULL;
    memcpy(all->text, spool_methods(s), METHODS_TEXT);
    for (char *line = strtok_r(all->text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        if (line[0] == OF_CLASSES && all->count < MAX_PATTERNS) {
            all->patterns[all->count++] = line + 1;
        }
    }
}

const char *objects_start(struct session *s) {
    if (!objects_wanted(s)) {
        return NULL;
    }
    struct objects *all = s->stacks == NULL ? NULL : calloc(1, sizeof *all);
    if (all == NULL) {
        return "no memory for objects: they are not recorded";
    }
    read_patterns(s, all);
    jvmtiCapabilities wanted;
    memset(&wanted, 0, sizeof wanted);
    wanted.can_generate_object_free_events = 1;
    if ((*jvmti)->AddCapabilities(jvmti, &wanted) != JVMTI_ERROR_NONE) {
        free(all);
        return "the JVM does not tell when objects are gone: they are not recorded";
    }
    s->objects = all;
    (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_OBJECT_FREE, NULL);
    return allocations_each(s);
}

void objects_stop(struct session *s) {
    if (s->objects != NULL) {
        (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_DISABLE, JVMTI_EVENT_OBJECT_FREE, NULL);
    }
}
