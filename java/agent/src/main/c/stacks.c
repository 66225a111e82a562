/*
 * See stacks.h.
 *
 * What always holds: whoever reads a stack's id out of the table of stacks finds all of its frames in the
 * spool; frames are numbered from 1 in the order in which they are written, a caller before those that it called.
 *
 * A stack costs some 200 to 400 ns a frame, so what they all take is bounded too: beyond the budget waits go without.
 *
 * A method is known by its jmethodID. HotSpot never gives one to another class's method, unloaded or not.
 */
#define _GNU_SOURCE
#include "stacks.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "about.h"
#include "budget.h"
#include "dynamic.h"
#include "objects.h"

enum {
    MAX_FRAMES = 65536,
    FRAME_SLOTS = 2 * MAX_FRAMES,
    MAX_STACKS = 16384,
    STACK_SLOTS = 2 * MAX_STACKS,
    /* More virtual threads than wait at a time for long: ids are given in order, and seldom meet. */
    VIRTUALS = 65536,
};
/* From how long a wait on its stack is taken, if of none. */
static const uint64_t NEVER = UINT64_MAX;

/* A frame by what it is: free if its id is 0. */
struct known_frame {
    jmethodID method;
    jlocation location;
    uint32_t parent;
    uint32_t id;
};

/* A stack by the hash of its frames: free if that is 0. Set once, the hash last. */
struct known_stack {
    _Atomic uint64_t hash;
    uint32_t id;
};

/* Since when a virtual thread waits, and in what: `since * WAITS + wait`. Two threads that meet here may
 * take each other's time, and a stack too many or too few be taken: no wrong one. */
struct virtual_wait {
    _Atomic uint64_t speaker, since;
};

struct stacks {
    uint64_t least; /* ns that a wait must have lasted */
    struct budget budget; /* of the waits' stacks */
    struct tables *tables;
    pthread_mutex_t lock; /* of what follows, of `frames`, and of writing into `stacks`; the session's is taken inside it */
    struct chunk chunk;
    uint32_t frame_count, stack_count;
};

/* Since when the calling thread itself waits; 0: it does not, or did already when the session began. */
static _Thread_local struct {
    uint32_t epoch;
    uint64_t since[WAITS];
} mine;

static _Thread_local uint32_t at_work;

/* The tables of one session, in one mapping. */
struct tables {
    struct virtual_wait virtuals[VIRTUALS];
    struct known_stack stacks[STACK_SLOTS];
    struct known_frame frames[FRAME_SLOTS];
};

int stacks_start(struct session *s) {
    uint64_t least = spool_stacks_wanted(s);
    if (least == 0 && spool_samples_wanted(s) == 0 && spool_allocations_wanted(s) == 0 && !objects_wanted(s)) {
        return 1;
    }
    struct stacks *all = calloc(1, sizeof *all);
    struct tables *tables = mmap(NULL, sizeof *tables, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == NULL || tables == MAP_FAILED) {
        free(all);
        return 0; /* the address space stays, for sessions to come */
    }
    all->least = least == 0 ? NEVER : least;
    all->tables = tables;
    pthread_mutex_init(&all->lock, NULL);
    s->stacks = all;
    return 1;
}

void stacks_stop(struct session *s) {
    if (s->stacks != NULL) {
        /* Who is on the way finds empty tables, and fills a page or two again. */
        madvise(s->stacks->tables, sizeof *s->stacks->tables, MADV_DONTNEED);
    }
}

/* ---- how long ---- */

void stacks_wait_begins(struct session *s, uint64_t speaker, enum wait wait, uint64_t now) {
    if (s->stacks == NULL) {
        return;
    }
    if (speaker != 0) {
        struct virtual_wait *its = &s->stacks->tables->virtuals[speaker % VIRTUALS];
        atomic_store_explicit(&its->speaker, speaker, memory_order_relaxed);
        atomic_store_explicit(&its->since, now * WAITS + wait, memory_order_relaxed);
        return;
    }
    if (mine.epoch != s->epoch) {
        mine.epoch = s->epoch;
        memset(mine.since, 0, sizeof mine.since);
    }
    mine.since[wait] = now;
}

/* Since when it waits, and that it does so no longer; `now` if that is not known. */
static uint64_t since(struct session *s, uint64_t speaker, enum wait wait, uint64_t now) {
    if (speaker != 0) {
        struct virtual_wait *its = &s->stacks->tables->virtuals[speaker % VIRTUALS];
        uint64_t begun = atomic_load_explicit(&its->since, memory_order_relaxed);
        if (atomic_load_explicit(&its->speaker, memory_order_relaxed) != speaker || begun % WAITS != wait) {
            return now;
        }
        atomic_store_explicit(&its->speaker, 0, memory_order_relaxed);
        return begun / WAITS;
    }
    uint64_t begun = mine.epoch == s->epoch ? mine.since[wait] : 0;
    if (mine.epoch == s->epoch) {
        mine.since[wait] = 0;
    }
    return begun != 0 ? begun : s->began; /* it waited before the session began */
}

/* ---- frames ---- */

static const char *const UNKNOWN_METHOD = "(unknown method)";

static int32_t line_of(jmethodID method, jlocation at) {
    jint count = 0;
    jvmtiLineNumberEntry *table = NULL;
    if ((*jvmti)->GetLineNumberTable(jvmti, method, &count, &table) != JVMTI_ERROR_NONE) {
        return 0; /* a native method, or a class compiled without */
    }
    int32_t line = 0;
    jlocation nearest = -1;
    for (jint i = 0; i < count; i++) {
        if (table[i].start_location <= at && table[i].start_location > nearest) {
            nearest = table[i].start_location;
            line = table[i].line_number;
        }
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)table);
    return line;
}

/* What stands for a frame that is no method, by its `location`; such names begin with a parenthesis. */
static const char *no_method(jlocation why) {
    switch (why) {
    case STACK_IN_COLLECTION:
        return "(stopped for the garbage collector)";
    case STACK_IN_DEOPTIMIZATION:
        return "(being deoptimized)";
    case STACK_NOT_WALKABLE:
        return "(stack not walkable)";
    default:
        return UNKNOWN_METHOD;
    }
}

jlocation stacks_native(uintptr_t pc) {
    Dl_info function;
    if (dladdr((void *)pc, &function) == 0) {
        return STACK_NATIVE_CODE;
    }
    return function.dli_saddr != NULL ? (jlocation)(intptr_t)function.dli_saddr : -(jlocation)(intptr_t)function.dli_fbase;
}

/* The same of native code, see stacks_native. */
static int describe_native(struct session *s, jlocation where, struct frame *frame) {
    Dl_info function;
    frame->kind = FRAME_NATIVE;
    if (where == STACK_NATIVE_CODE || dladdr((void *)(intptr_t)(where < 0 ? -where : where), &function) == 0) {
        frame->name = spool_string(s, "native code"); /* of no library, or of one that was unloaded meanwhile */
        return frame->name != 0;
    }
    const char *slash = strrchr(function.dli_fname, '/'), *library = slash == NULL ? function.dli_fname : slash + 1;
    frame->file = spool_string(s, library);
    frame->name = where < 0 || function.dli_sname == NULL ? frame->file : spool_string(s, function.dli_sname);
    return frame->name != 0;
}

/* Fills in what a frame is called; 0 if there is no room for it. */
static int describe(struct session *s, JNIEnv *jni, const jvmtiFrameInfo *of, struct frame *frame) {
    if (of->method == NULL && of->location == STACK_SYSTEM_CALL) {
        frame->kind = FRAME_KERNEL;
        frame->name = spool_string(s, "system call");
        return frame->name != 0;
    }
    if (of->method == NULL && (of->location < 0 || of->location >= STACK_NATIVE_CODE)) {
        return describe_native(s, of->location, frame);
    }
    if (of->method == NULL) {
        frame->name = spool_string(s, no_method(of->location));
        return frame->name != 0;
    }
    jclass class = NULL;
    char *method = NULL, *signature = NULL, *source = NULL, name[MAX_STRING_BYTES];
    if ((*jvmti)->GetMethodName(jvmti, of->method, &method, NULL, NULL) == JVMTI_ERROR_NONE &&
        (*jvmti)->GetMethodDeclaringClass(jvmti, of->method, &class) == JVMTI_ERROR_NONE &&
        (*jvmti)->GetClassSignature(jvmti, class, &signature, NULL) == JVMTI_ERROR_NONE) {
        char *type = about_class_name(signature);
        about_generalise(type);
        snprintf(name, sizeof name, "%s.%s", type, method);
        frame->name = spool_string(s, name);
        if ((*jvmti)->GetSourceFileName(jvmti, class, &source) == JVMTI_ERROR_NONE) {
            frame->file = spool_string(s, source);
        }
        frame->line = line_of(of->method, of->location);
    } else {
        frame->name = spool_string(s, UNKNOWN_METHOD); /* its class was unloaded meanwhile */
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)method);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)source);
    (*jni)->DeleteLocalRef(jni, class);
    return frame->name != 0;
}

static uint64_t mix(uint64_t hash, uint64_t with) {
    hash = (hash ^ with) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 29;
}

/* Id of a frame below its caller's; 0 if there is no room. The caller holds the lock. */
static uint32_t frame_id(struct session *s, JNIEnv *jni, uint32_t parent, const jvmtiFrameInfo *of) {
    struct stacks *all = s->stacks;
    struct known_frame *slot;
    for (uint64_t i = mix(mix((uintptr_t)of->method, (uint64_t)of->location), parent);; i++) {
        slot = &all->tables->frames[i % FRAME_SLOTS];
        if (slot->id == 0 || (slot->method == of->method && slot->location == of->location && slot->parent == parent)) {
            break;
        }
    }
    if (slot->id == 0) {
        struct frame frame = {.id = all->frame_count + 1, .parent = parent};
        if (all->frame_count == MAX_FRAMES || !describe(s, jni, of, &frame) || !spool_frame(s, &all->chunk, &frame)) {
            return 0;
        }
        all->frame_count++;
        *slot = (struct known_frame){of->method, of->location, parent, frame.id};
    }
    return slot->id;
}

/* ---- stacks ---- */

/* Where a stack of this hash is or belongs. */
static struct known_stack *find(struct stacks *all, uint64_t hash) {
    for (uint64_t i = hash;; i++) {
        struct known_stack *slot = &all->tables->stacks[i % STACK_SLOTS];
        uint64_t is = atomic_load_explicit(&slot->hash, memory_order_acquire);
        if (is == 0 || is == hash) {
            return slot;
        }
    }
}

/* Writes a new stack, the innermost frame first; 0 if there is no room. The caller holds the lock. */
static uint32_t add(struct session *s, JNIEnv *jni, const jvmtiFrameInfo *frames, jint count, uint64_t hash) {
    struct stacks *all = s->stacks;
    struct known_stack *slot = find(all, hash);
    if (atomic_load_explicit(&slot->hash, memory_order_relaxed) != 0) {
        return slot->id; /* another thread was there first */
    }
    if (all->stack_count == MAX_STACKS) {
        return 0;
    }
    uint32_t id = 0;
    for (jint i = count; i-- > 0;) {
        id = frame_id(s, jni, id, &frames[i]);
        if (id == 0) {
            return 0;
        }
    }
    all->stack_count++;
    slot->id = id;
    atomic_store_explicit(&slot->hash, hash, memory_order_release);
    return id;
}

uint32_t stacks_id(struct session *s, JNIEnv *jni, const jvmtiFrameInfo *frames, jint count) {
    struct stacks *all = s->stacks;
    uint64_t hash = (uint64_t)count;
    for (jint i = 0; i < count; i++) {
        hash = mix(mix(hash, (uintptr_t)frames[i].method), (uint64_t)frames[i].location);
    }
    hash |= hash == 0;
    struct known_stack *known = find(all, hash);
    if (atomic_load_explicit(&known->hash, memory_order_acquire) == hash) {
        return known->id;
    }
    pthread_mutex_lock(&all->lock);
    uint32_t id = add(s, jni, frames, count, hash);
    pthread_mutex_unlock(&all->lock);
    return id;
}

uint32_t stacks_take(struct session *s, JNIEnv *jni, jthread thread) {
    jvmtiFrameInfo frames[MAX_DEPTH];
    jint count = 0;
    /* Not NULL for the thread itself: from 21 on the JVM would stop the mounts of all virtual threads. */
    if ((*jvmti)->GetStackTrace(jvmti, thread, 0, MAX_DEPTH, frames, &count) != JVMTI_ERROR_NONE || count == 0) {
        return 0; /* a thread without a frame of Java */
    }
    uint32_t id = stacks_id(s, jni, frames, count);
    if (id == 0) {
        spool_lost_stack(s);
    }
    return id;
}

uint32_t *stacks_at_work(void) {
    return &at_work;
}

uint32_t stacks_wait_ended(struct session *s, JNIEnv *jni, jthread thread, uint64_t speaker, enum wait wait,
                           uint64_t now) {
    if (speaker != 0 && wait == IN_WAIT) {
        /* From 24 on the JVM tells of this while it mounts the thread; JVMTI would wait for the end of that. */
        return 0;
    }
    if (s->stacks == NULL || now - since(s, speaker, wait, now) < s->stacks->least) {
        return 0;
    }
    if (speaker == 0 && wait != IN_ENTER && at_work == s->epoch << 1) {
        return 0;
    }
    if (!budget_affords(&s->stacks->budget, now)) {
        spool_spared_stack(s);
        return 0;
    }
    uint64_t before = budget_cpu_ns();
    uint32_t id = stacks_take(s, jni, thread);
    budget_pay(&s->stacks->budget, now, budget_cpu_ns() - before);
    return id;
}
