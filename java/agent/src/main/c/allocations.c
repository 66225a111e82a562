/* See allocations.h. */
#include "allocations.h"

#include <stdlib.h>
#include <string.h>

#include "about.h"
#include "budget.h"
#include "objects.h"
#include "stacks.h"

/* The JVM's own. */
enum { DEFAULT_INTERVAL = 512 * 1024 };

struct allocations {
    uint64_t interval; /* bytes */
    struct budget budget;
};

/* Bytes that samples of the calling thread stand for which were left out. */
static _Thread_local struct {
    uint32_t epoch;
    uint64_t owed;
} mine;

/* 1 - exp(-x), without the library of mathematics: by its series where x is small, and from there by doubling x. */
static double one_less_exp(double x) {
    int doublings = 0;
    if (x > 40) {
        return 1;
    }
    while (x > 0.125) {
        x /= 2;
        doublings++;
    }
    double p = x * (1 - x / 2 * (1 - x / 3 * (1 - x / 4 * (1 - x / 5 * (1 - x / 6)))));
    while (doublings-- > 0) {
        p *= 2 - p;
    }
    return p;
}

/* What the sample of an object stands for, in bytes. */
static uint64_t stands_for(uint64_t size, uint64_t interval) {
    return size == 0 ? 0 : (uint64_t)((double)size / one_less_exp((double)size / (double)interval) + 0.5);
}

uint32_t allocations_units(uint64_t size) {
    uint64_t units = (size + 7) / 8;
    return units > UINT32_MAX ? UINT32_MAX : (uint32_t)units;
}

void JNICALL allocations_sampled(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject object, jclass class, jlong size) {
    (void)env;
    struct session *s = spool_session();
    if (s != NULL && s->objects != NULL) {
        objects_allocated(s, jni, thread, object, class, (uint64_t)size);
        return;
    }
    if (s == NULL || s->allocations == NULL) {
        return;
    }
    struct allocations *all = s->allocations;
    if (mine.epoch != s->epoch) {
        mine.epoch = s->epoch;
        mine.owed = 0;
    }
    mine.owed += stands_for((uint64_t)size, all->interval);
    uint64_t now = spool_now();
    if (!budget_affords(&all->budget, now)) {
        spool_spared_allocation(s);
        return;
    }
    uint64_t before = budget_cpu_ns();
    uint32_t stack = stacks_take(s, jni, thread);
    if (stack != 0) { /* else a thread without a frame of Java, or lost and counted there */
        about_speaker(s, jni, thread);
        spool_emit(s, ALLOCATION, about_class_id(s, class, NULL), mine.owed, (uint64_t)stack << 32 | allocations_units((uint64_t)size));
        mine.owed = 0;
    }
    budget_pay(&all->budget, now, budget_cpu_ns() - before);
}

static jvmtiCapabilities sampling(void) {
    jvmtiCapabilities wanted;
    memset(&wanted, 0, sizeof wanted);
    wanted.can_generate_sampled_object_alloc_events = 1;
    return wanted;
}

/* Begins with an interval of so many bytes; 0: each allocation. */
static const char *begin(struct session *s, uint64_t interval) {
    jvmtiCapabilities wanted = sampling();
    if ((*jvmti)->AddCapabilities(jvmti, &wanted) != JVMTI_ERROR_NONE) {
        return "another agent samples allocations, which the JVM grants one at a time: they are not recorded";
    }
    if ((*jvmti)->SetHeapSamplingInterval(jvmti, (jint)interval) != JVMTI_ERROR_NONE ||
        (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, NULL) != JVMTI_ERROR_NONE) {
        allocations_stop(s);
        return "the JVM refuses to sample allocations: they are not recorded";
    }
    return NULL;
}

const char *allocations_start(struct session *s) {
    uint64_t interval = spool_allocations_wanted(s);
    if (interval == 0) {
        return NULL;
    }
    struct allocations *all = s->stacks == NULL ? NULL : calloc(1, sizeof *all);
    if (all == NULL) {
        return "no memory for samples of allocations: they are not recorded";
    }
    all->interval = interval;
    s->allocations = all; /* before the first event: callbacks read it without a lock */
    return begin(s, interval);
}

const char *allocations_each(struct session *s) {
    return begin(s, 0);
}

void allocations_stop(struct session *s) {
    if (s->allocations == NULL && s->objects == NULL) {
        return; /* what they point to stays: a callback may be using it */
    }
    jvmtiCapabilities held = sampling();
    (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_DISABLE, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, NULL);
    (*jvmti)->SetHeapSamplingInterval(jvmti, DEFAULT_INTERVAL); /* for agents that set none */
    (*jvmti)->RelinquishCapabilities(jvmti, &held);
}
