/* See samples.h. */
#define _GNU_SOURCE
#include "samples.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "about.h"
#include "budget.h"
#include "layout.h"
#include "stacks.h"
#include "tids.h"
#include "walk.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

enum {
    /* Threads with a timer; how they are found. */
    MAX_TIMED = 65536,
    BUCKETS = 8192,
    /* Room for the samples of two seconds; they are drained twice in one. */
    LEAST_SLOTS = 64,
    MOST_SLOTS = 8192,
    NAMED = 512,
};

/* A thread's timer. Its address is what its signals carry. */
struct timed {
    uint32_t tid;
    int32_t timer;
    uint32_t next;        /* in its bucket or among the free, as index plus 1 */
    _Atomic uint32_t owed; /* samples that were left out since the last one */
};

/* A sample on its way from a handler to the drain: a bounded queue in which each slot tells whose turn it is. */
struct slot {
    _Atomic uint64_t turn; /* n: of the n-th handler; n + 1: of the drain */
    uint64_t at, weight;
    uintptr_t outside; /* of Java's code: where, else 0 */
    uint32_t tid;
    int in_kernel;
    jint count;
    struct call_frame frames[MAX_DEPTH];
};

struct samples {
    uint64_t every; /* ns of a thread's CPU time */
    uint64_t slot_count;
    struct slot *slots;
    _Atomic uint64_t claimed;
    uint64_t drained, latest;
    struct budget budget;
    pthread_mutex_t draining; /* of `drained`, `latest`, the chunk and `named`: the program's end may come between */
    struct chunk chunk;
    /* What native code is called, by where it was: found anew where another took its place. */
    struct {
        uintptr_t pc;
        jlocation name;
    } named[NAMED];
};

/* NULL while nothing is sampled: then a signal that is still on its way does nothing. */
static _Atomic(struct session *) sampled;
static JavaVM *java_vm;
static struct sigaction before; /* what SIGPROF did before it was ours */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the timers */
static struct timed *timed; /* MAX_TIMED of them, for good: a signal may carry the address of any */
static uint32_t buckets[BUCKETS], free_timed, timed_count;

/* ---- the handler: what it calls is safe in one ---- */

/* The slot that is this handler's; NULL if all are full. */
static struct slot *claim(struct samples *all, uint64_t *turn) {
    uint64_t at = atomic_load_explicit(&all->claimed, memory_order_relaxed);
    for (;;) {
        struct slot *slot = &all->slots[at % all->slot_count];
        int64_t ahead = (int64_t)(atomic_load_explicit(&slot->turn, memory_order_acquire) - at);
        if (ahead < 0) {
            return NULL;
        }
        if (ahead > 0) {
            at = atomic_load_explicit(&all->claimed, memory_order_relaxed); /* another was quicker */
        } else if (atomic_compare_exchange_weak_explicit(&all->claimed, &at, at + 1, memory_order_relaxed,
                                                         memory_order_relaxed)) {
            *turn = at;
            return slot;
        }
    }
}

static void sample(struct session *s, struct timed *its, uint32_t expired, void *context) {
    struct samples *all = s->samples;
    uint32_t owed = atomic_load_explicit(&its->owed, memory_order_relaxed) + expired;
    uint64_t now = spool_now(), turn;
    atomic_store_explicit(&its->owed, owed, memory_order_relaxed);
    if (!budget_affords(&all->budget, now)) {
        spool_spared_sample(s);
        return;
    }
    JNIEnv *env = NULL;
    /* NULL of a thread that has left the JVM, or is about to: AsyncGetCallTrace must not see it. */
    if ((*java_vm)->GetEnv(java_vm, (void **)&env, JNI_VERSION_1_6) != JNI_OK || env == NULL) {
        return;
    }
    struct slot *slot = claim(all, &turn);
    if (slot == NULL) {
        spool_lost_sample(s);
        return;
    }
    uint64_t begun = budget_cpu_ns();
    struct call_trace trace = {.env = env, .frames = slot->frames};
    walk(&trace, MAX_DEPTH, context);
    slot->at = now;
    slot->tid = its->tid;
    slot->weight = owed * all->every;
    slot->count = trace.count;
    slot->outside = walk_outside(context);
    slot->in_kernel = slot->outside != 0 && walk_in_kernel(slot->outside);
    atomic_store_explicit(&its->owed, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->turn, turn + 1, memory_order_release);
    budget_pay(&all->budget, now, budget_cpu_ns() - begun);
}

static void on_signal(int number, siginfo_t *info, void *context) {
    int error = errno;
    struct timed *its = info->si_value.sival_ptr;
    uintptr_t offset = (uintptr_t)its - (uintptr_t)timed;
    if (info->si_code == SI_TIMER && offset < MAX_TIMED * sizeof *timed) {
        struct session *s = atomic_load_explicit(&sampled, memory_order_acquire);
        if (s != NULL) {
            sample(s, its, 1 + (uint32_t)(info->si_overrun > 0 ? info->si_overrun : 0), context);
        }
    } else if ((before.sa_flags & SA_SIGINFO) != 0) {
        before.sa_sigaction(number, info, context);
    } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
        before.sa_handler(number);
    }
    errno = error;
}

static int is_ours(const struct sigaction *action) {
    return (action->sa_flags & SA_SIGINFO) != 0 && action->sa_sigaction == on_signal;
}

static int take_signal(void) {
    struct sigaction ours, now;
    memset(&ours, 0, sizeof ours);
    ours.sa_sigaction = on_signal;
    ours.sa_flags = SA_SIGINFO | SA_RESTART;
    sigemptyset(&ours.sa_mask);
    if (sigaction(SIGPROF, NULL, &now) != 0) {
        return 0;
    }
    if (is_ours(&now)) {
        return 1;
    }
    before = now;
    return sigaction(SIGPROF, &ours, NULL) == 0;
}

/* A signal of a timer that was just deleted may still come: it is ignored. If there was another handler, ours stays,
 * to tell such signals from that one's. */
static void leave_signal(void) {
    struct sigaction now;
    int had_none = (before.sa_flags & SA_SIGINFO) == 0 && (before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN);
    if (had_none && sigaction(SIGPROF, NULL, &now) == 0 && is_ours(&now)) {
        memset(&now, 0, sizeof now);
        now.sa_handler = SIG_IGN;
        sigaction(SIGPROF, &now, NULL);
    }
}

/* ---- timers ---- */

/* The clock of a thread's CPU time, as the kernel numbers them. */
static clockid_t clock_of(uint32_t tid) {
    enum { PER_THREAD = 4, SCHEDULED = 2 };
    return (clockid_t)(~tid << 3 | PER_THREAD | SCHEDULED);
}

/* Where it first expires: anywhere within its period, so that threads that live shorter have their share. */
static uint64_t anywhere(uint64_t period, uint32_t tid) {
    uint64_t x = spool_now() ^ (uint64_t)tid << 32;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return 1 + (x ^ x >> 31) % period;
}

static struct timespec time_of(uint64_t ns) {
    return (struct timespec){.tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)};
}

static uint32_t *find(uint32_t tid) {
    uint32_t *at = &buckets[tid % BUCKETS];
    while (*at != 0 && timed[*at - 1].tid != tid) {
        at = &timed[*at - 1].next;
    }
    return at;
}

/* The caller holds the lock, as below. */
static void end_timer(uint32_t *at) {
    struct timed *its = &timed[*at - 1];
    uint32_t index = *at;
    syscall(SYS_timer_delete, its->timer);
    *at = its->next;
    its->next = free_timed;
    free_timed = index;
}

/* Gives a thread its timer; 0 if the kernel has none for it. */
static int begin_timer(struct session *s, uint32_t tid) {
    uint32_t index = free_timed;
    if (index != 0) {
        free_timed = timed[index - 1].next;
    } else if (timed_count < MAX_TIMED) {
        index = ++timed_count;
    } else {
        return 0;
    }
    struct timed *its = &timed[index - 1];
    struct sigevent event;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGPROF;
    event.sigev_value.sival_ptr = its;
    event.sigev_notify_thread_id = (pid_t)tid;
    /* Not through libc, which would give it an id of its own that is none of the kernel's. */
    if (syscall(SYS_timer_create, clock_of(tid), &event, &its->timer) != 0) {
        its->next = free_timed;
        free_timed = index;
        return errno == EINVAL || errno == ESRCH; /* it has ended */
    }
    its->tid = tid;
    its->next = buckets[tid % BUCKETS];
    atomic_store_explicit(&its->owed, 0, memory_order_relaxed);
    buckets[tid % BUCKETS] = index;
    uint64_t every = s->samples->every;
    struct itimerspec when = {.it_interval = time_of(every), .it_value = time_of(anywhere(every, tid))};
    syscall(SYS_timer_settime, its->timer, 0, &when, NULL);
    return 1;
}

void samples_thread_begins(struct session *s) {
    if (s->samples == NULL) {
        return;
    }
    uint32_t tid = spool_gettid();
    pthread_mutex_lock(&lock);
    if (atomic_load(&sampled) == s) {
        uint32_t *at = find(tid);
        if (*at != 0) {
            end_timer(at); /* of a thread that had this id before, or already its own */
        }
        if (!begin_timer(s, tid)) {
            spool_lost_sample(s);
        }
    }
    pthread_mutex_unlock(&lock);
}

void samples_thread_ends(void) {
    if (atomic_load_explicit(&sampled, memory_order_acquire) == NULL) {
        return;
    }
    uint32_t tid = spool_gettid();
    pthread_mutex_lock(&lock);
    uint32_t *at = find(tid);
    if (*at != 0) {
        end_timer(at); /* a signal that it has raised is delivered on the way out of this call */
    }
    pthread_mutex_unlock(&lock);
}

/* Gives those their timer that live already; those that begin meanwhile see to it themselves. */
static void begin_timers(struct session *s, JNIEnv *jni) {
    jint count = 0;
    jthread *threads = NULL;
    if ((*jvmti)->GetAllThreads(jvmti, &count, &threads) != JVMTI_ERROR_NONE) {
        return;
    }
    for (jint i = 0; i < count; i++) {
        uint32_t tid = tids_of(jni, threads[i]);
        if (tid != 0) {
            pthread_mutex_lock(&lock);
            if (*find(tid) == 0 && !begin_timer(s, tid)) {
                spool_lost_sample(s);
            }
            pthread_mutex_unlock(&lock);
        }
        (*jni)->DeleteLocalRef(jni, threads[i]);
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)threads);
}

/* ---- ids of methods ---- */

/* The JVM gives a method its id when it is first asked for, which AsyncGetCallTrace must not do. */
static void name_methods(jclass class) {
    jint count = 0;
    jmethodID *methods = NULL;
    if ((*jvmti)->GetClassMethods(jvmti, class, &count, &methods) == JVMTI_ERROR_NONE) {
        (*jvmti)->Deallocate(jvmti, (unsigned char *)methods);
    }
}

void JNICALL samples_class_load(jvmtiEnv *env, JNIEnv *jni, jthread thread, jclass class) {
    (void)env, (void)jni, (void)thread, (void)class; /* AsyncGetCallTrace refuses to work where nobody listens to it */
}

void JNICALL samples_class_prepare(jvmtiEnv *env, JNIEnv *jni, jthread thread, jclass class) {
    (void)env, (void)jni, (void)thread;
    name_methods(class);
}

static void set_class_events(jvmtiEventMode mode) {
    (*jvmti)->SetEventNotificationMode(jvmti, mode, JVMTI_EVENT_CLASS_LOAD, NULL);
    (*jvmti)->SetEventNotificationMode(jvmti, mode, JVMTI_EVENT_CLASS_PREPARE, NULL);
}

static void name_all_methods(JNIEnv *jni) {
    jint count = 0;
    jclass *classes = NULL;
    if ((*jvmti)->GetLoadedClasses(jvmti, &count, &classes) != JVMTI_ERROR_NONE) {
        return;
    }
    for (jint i = 0; i < count; i++) {
        name_methods(classes[i]);
        (*jni)->DeleteLocalRef(jni, classes[i]);
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)classes);
}

/* ---- a session ---- */

static struct samples *room(uint64_t every) {
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t wanted = (uint64_t)(cpus < 1 ? 1 : cpus) * 2 * 1000000000u / every, slots = LEAST_SLOTS;
    while (slots < wanted && slots < MOST_SLOTS) {
        slots *= 2;
    }
    struct samples *all = calloc(1, sizeof *all);
    struct slot *queue = mmap(NULL, slots * sizeof *queue, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == NULL || queue == MAP_FAILED) {
        free(all);
        return NULL;
    }
    for (uint64_t i = 0; i < slots; i++) {
        atomic_init(&queue[i].turn, i);
    }
    *all = (struct samples){.every = every, .slot_count = slots, .slots = queue};
    pthread_mutex_init(&all->draining, NULL);
    return all;
}

static int room_for_timers(void) {
    if (timed == NULL) {
        struct timed *all = mmap(NULL, MAX_TIMED * sizeof *all, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        timed = all == MAP_FAILED ? NULL : all;
    }
    return timed != NULL;
}

const char *samples_start(struct session *s, JavaVM *vm, JNIEnv *jni) {
    uint64_t every = spool_samples_wanted(s);
    if (every == 0) {
        return NULL;
    }
    void *library = layout_libjvm(vm);
    if (library == NULL || !walk_open(library)) {
        return "this JVM has no AsyncGetCallTrace: the code that runs is not sampled";
    }
    struct samples *all = s->stacks != NULL && room_for_timers() ? room(every) : NULL;
    if (all == NULL) {
        return "no memory for samples: the code that runs is not sampled";
    }
    if (!take_signal()) {
        return "SIGPROF cannot be caught: the code that runs is not sampled";
    }
    java_vm = vm;
    s->samples = all;
    set_class_events(JVMTI_ENABLE); /* before they are listed, so that none is missed */
    name_all_methods(jni);
    pthread_mutex_lock(&lock);
    atomic_store_explicit(&sampled, s, memory_order_release);
    pthread_mutex_unlock(&lock);
    int known = tids_open(jni, library);
    if (known) {
        begin_timers(s, jni);
    }
    tids_close();
    return known ? NULL : "this JVM does not tell which threads are whose: of those that ran already the code is not sampled";
}

/* What stands for a stack that could not be walked. */
static jlocation reason(jint count) {
    switch (count) {
    case IN_COLLECTION:
        return STACK_IN_COLLECTION;
    case IN_DEOPTIMIZATION:
        return STACK_IN_DEOPTIMIZATION;
    default:
        return STACK_NOT_WALKABLE;
    }
}

static jlocation native(struct samples *all, uintptr_t pc) {
    size_t at = (pc ^ pc >> 12) % NAMED;
    if (all->named[at].pc != pc) {
        all->named[at].pc = pc;
        all->named[at].name = stacks_native(pc);
    }
    return all->named[at].name;
}

static void write_sample(struct session *s, JNIEnv *jni, const struct slot *slot) {
    struct samples *all = s->samples;
    jvmtiFrameInfo frames[MAX_DEPTH + 2];
    jint count = slot->count, above = 0;
    if (count == NO_JAVA_FRAME || count == THREAD_EXITS) {
        return; /* native code that no Java called, as a compiler's */
    }
    if (count > 0 && slot->outside != 0) {
        if (slot->in_kernel) {
            frames[above++] = (jvmtiFrameInfo){.method = NULL, .location = STACK_SYSTEM_CALL};
        }
        frames[above++] = (jvmtiFrameInfo){.method = NULL, .location = native(all, slot->outside)};
    }
    for (jint i = 0; i < count; i++) {
        const struct call_frame *frame = &slot->frames[i];
        frames[above + i].method = frame->method;
        frames[above + i].location = frame->method == NULL ? STACK_UNKNOWN_METHOD : frame->bci < 0 ? -1 : frame->bci;
    }
    count += count > 0 ? above : 0;
    if (count < 0) {
        frames[0] = (jvmtiFrameInfo){.method = NULL, .location = reason(count)};
        count = 1;
    }
    uint32_t id = stacks_id(s, jni, frames, count);
    if (id == 0) {
        spool_lost_sample(s);
        return;
    }
    /* Handlers end in another order than they began, now and then: a chunk is in the order of time. */
    all->latest = slot->at > all->latest ? slot->at : all->latest;
    uint64_t us = slot->weight / 1000;
    spool_emit_into(s, &all->chunk, all->latest, SAMPLE, 0, slot->tid, (uint64_t)id << 32 | (us > UINT32_MAX ? UINT32_MAX : us));
}

void samples_drain(struct session *s, JNIEnv *jni) {
    struct samples *all = s->samples;
    if (all == NULL) {
        return;
    }
    uint64_t begun = budget_cpu_ns();
    pthread_mutex_lock(&all->draining);
    for (;;) {
        struct slot *slot = &all->slots[all->drained % all->slot_count];
        if (atomic_load_explicit(&slot->turn, memory_order_acquire) != all->drained + 1) {
            break;
        }
        write_sample(s, jni, slot);
        atomic_store_explicit(&slot->turn, all->drained + all->slot_count, memory_order_release);
        all->drained++;
    }
    pthread_mutex_unlock(&all->draining);
    budget_pay(&all->budget, spool_now(), budget_cpu_ns() - begun);
}

void samples_stop(struct session *s, JNIEnv *jni) {
    if (s->samples == NULL) {
        return;
    }
    pthread_mutex_lock(&lock);
    atomic_store_explicit(&sampled, NULL, memory_order_release);
    for (uint32_t i = 0; i < BUCKETS; i++) {
        while (buckets[i] != 0) {
            end_timer(&buckets[i]);
        }
    }
    pthread_mutex_unlock(&lock);
    leave_signal();
    set_class_events(JVMTI_DISABLE);
    samples_drain(s, jni);
    /* A handler that is still on its way finds the queue full. */
    madvise(s->samples->slots, s->samples->slot_count * sizeof *s->samples->slots, MADV_DONTNEED);
}
