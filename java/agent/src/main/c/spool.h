/*
 * The native half's side of the spool: chunks, events and strings.
 *
 * The layout is told in crates/trace/src/spool/agent.rs. A thread writes events into chunks of its
 * own; what is rare (threads, strings) goes into two chunks that all share, under a lock. Nothing
 * here is ever freed or unmapped: a callback that was on its way when the recording stopped may
 * still use it. A session costs 7 MB of address space then, and of 2 MB the pages that it touched.
 */
#ifndef LOADLINE_SPOOL_H
#define LOADLINE_SPOOL_H

#include <pthread.h>
#include <stdint.h>

enum {
    CHUNK = 64 * 1024,
    CHUNK_HEADER = 32,
    MAX_STRINGS = 65536,
    MAX_STRING_BYTES = 2000,
    STRING_SLOTS = 2 * MAX_STRINGS,
    METHODS_TEXT = 832,
};

/* Types of events. */
enum {
    THREAD = 1,
    THREAD_END = 2,
    SWITCH_TO = 3,
    MOUNT = 4,
    UNMOUNT = 5,
    MONITOR_ENTER = 10,
    MONITOR_ENTERED = 11,
    MONITOR_WAIT = 12,
    MONITOR_WAITED = 13,
    PARK = 14,
    UNPARKED = 15,
    SAMPLE = 17,
    ALLOCATION = 18,
    OBJECT_NEW = 19,
    GC_START = 20,
    GC_END = 21,
    OBJECT_FREED = 23,
    APP_EVENT = 63,
    SPAN_BEGIN = 64,
    SPAN_END = 65,
};

/* Why a virtual thread leaves its carrier. */
enum {
    LEFT_UNKNOWN = 0,
    LEFT_PARKS = 1,
    LEFT_ENDED = 2,
    LEFT_YIELDS = 3,
    LEFT_MONITOR = 4,
};

/* A text in the spool: where, how long, and its id (0: free). */
struct text {
    const char *bytes;
    uint32_t length;
    uint32_t id;
};

/* A chunk that is being filled. */
struct chunk {
    uint8_t *at, *end;
};

/* One recording. */
struct session {
    uint8_t *base;
    uint32_t epoch;
    uint32_t ring; /* entries of the ring's table; 0: chunks lie one behind the other */
    uint64_t began;
    struct stacks *stacks; /* NULL if none are wanted */
    struct samples *samples; /* the same */
    struct allocations *allocations; /* the same */
    struct objects *objects; /* the same */
    pthread_mutex_t lock; /* of what follows */
    struct chunk threads;
    struct chunk strings;
    uint32_t string_count;
    struct text *dictionary; /* open addressing, STRING_SLOTS */
};

/* The session that records now, or NULL. */
struct session *spool_session(void);

/* Makes a session on a mapped spool; NULL if there is no memory for it. */
struct session *spool_new(uint8_t *base);

/* From here on it is the session that records. */
void spool_begin(struct session *s);

/* From here on spool_session() is NULL. */
void spool_end(void);

/* Kernel's id of the calling thread. */
uint32_t spool_gettid(void);

/* Whether the calling thread's chunk speaks of this virtual thread (0: of the thread itself).
 * Makes room for a SWITCH_TO and one event after it. */
int spool_speaks(struct session *s, uint64_t speaker);

/* CLOCK_MONOTONIC, in ns. */
uint64_t spool_now(void);

/* Writes an event of this time into the calling thread's chunk. */
void spool_emit_at(struct session *s, uint64_t ts, uint32_t type, uint32_t c, uint64_t a, uint64_t b);

/* Writes an event into the calling thread's chunk. */
void spool_emit(struct session *s, uint32_t type, uint32_t c, uint64_t a, uint64_t b);

/* Writes an event into the chunk that all threads share. */
void spool_emit_shared(struct session *s, uint32_t type, uint32_t c, uint64_t a, uint64_t b);

/* Id of a text; 0 if it is empty or the dictionary is full. */
uint32_t spool_string(struct session *s, const char *text);

/* A frame as the spool has it: see there. */
struct frame {
    uint32_t id, parent, name, file;
    int32_t line;
    uint32_t kind;
};

/* Of a frame: a method, or what stands for one that could not be seen; a function of a library; a system call. */
enum { FRAME_JAVA = 0, FRAME_NATIVE = 1, FRAME_KERNEL = 2 };

/* Whether the application level is wanted. */
int spool_wants_app(struct session *s);

/* From how long a wait on its stack is wanted, in ns; 0: never. */
uint64_t spool_stacks_wanted(struct session *s);

/* After how much CPU time of a thread on its stack is wanted, in ns; 0: never. */
uint64_t spool_samples_wanted(struct session *s);

/* After how many bytes that a thread allocates, on average, the allocation is sampled; 0: never. */
uint64_t spool_allocations_wanted(struct session *s);

/* Text of METHODS_TEXT bytes: filters of methods, and classes whose objects are wanted; NUL-terminated if it is shorter. */
const char *spool_methods(struct session *s);

/* Writes an event into a chunk that is the caller's and of which it is the only writer. */
void spool_emit_into(struct session *s, struct chunk *chunk, uint64_t ts, uint32_t type, uint32_t c, uint64_t a,
                     uint64_t b);

/* Writes a frame into a chunk of frames, which is the caller's; 0 if the spool is full. */
int spool_frame(struct session *s, struct chunk *chunk, const struct frame *frame);

/* Counts a stack that was not taken for lack of room. */
void spool_lost_stack(struct session *s);

/* Counts a stack that was not taken for what it costs. */
void spool_spared_stack(struct session *s);

/* The same of samples. Safe in a signal's handler. */
void spool_lost_sample(struct session *s);
void spool_spared_sample(struct session *s);

/* Counts a sample of an allocation that was not taken for what it costs. */
void spool_spared_allocation(struct session *s);

#endif
