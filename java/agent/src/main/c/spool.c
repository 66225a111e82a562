/* See spool.h. */
#define _GNU_SOURCE
#include "spool.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    AT_CAPACITY = 16,
    AT_NEXT = 24,
    AT_LOST = 32,
    AT_LOST_STRINGS = 40,
    AT_RING = 80,
    AT_LEVELS = 52,
    AT_STACKS = 88,
    AT_LOST_STACKS = 96,
    AT_SPARED_STACKS = 104,
    AT_SAMPLES = 112,
    AT_LOST_SAMPLES = 120,
    AT_SPARED_SAMPLES = 128,
    AT_ALLOCATIONS = 160,
    AT_SPARED_ALLOCATIONS = 168,
    AT_METHODS = 192,
    AT_TABLE = 4096,
    CHUNK_LEFT = 12,
    CHUNK_PLACE = 24,
    KIND_EVENTS = 1,
    KIND_STRINGS = 2,
    KIND_FRAMES = 3,
    EVENT = 32,
    LEVEL_APP = 4,
};

static const uint32_t CHUNK_MAGIC = 'L' | 'L' << 8 | 'C' << 16 | (uint32_t)'K' << 24;
static const uint32_t FIRST_STRING = 0x80000001u;

static _Atomic(struct session *) current;

/* The calling thread's chunk, and the virtual thread for which it speaks. */
static _Thread_local struct {
    uint32_t epoch;
    struct chunk chunk;
    uint64_t speaker;
} mine;

struct session *spool_session(void) {
    return atomic_load_explicit(&current, memory_order_acquire);
}

struct session *spool_new(uint8_t *base) {
    static uint32_t epochs;
    struct session *s = calloc(1, sizeof *s);
    struct text *dictionary = calloc(STRING_SLOTS, sizeof *dictionary);
    if (s == NULL || dictionary == NULL) {
        free(s);
        free(dictionary);
        return NULL;
    }
    s->base = base;
    memcpy(&s->ring, base + AT_RING, 4);
    s->epoch = ++epochs;
    s->dictionary = dictionary;
    s->began = spool_now();
    pthread_mutex_init(&s->lock, NULL);
    return s;
}

void spool_begin(struct session *s) {
    atomic_store_explicit(&current, s, memory_order_release);
}

void spool_end(void) {
    atomic_store_explicit(&current, NULL, memory_order_release);
}

uint32_t spool_gettid(void) {
    return (uint32_t)syscall(SYS_gettid);
}

static uint64_t *word(struct session *s, int offset) {
    return (uint64_t *)(s->base + offset);
}

static void count(struct session *s, int offset) {
    __atomic_fetch_add(word(s, offset), 1, __ATOMIC_RELAXED);
}

/* Where the chunk with this place in the order of claims lies. */
static uint64_t offset(struct session *s, uint64_t place) {
    if (s->ring == 0) {
        return place;
    }
    uint32_t *table = (uint32_t *)(s->base + AT_TABLE);
    return (uint64_t)__atomic_load_n(table + place / CHUNK % s->ring, __ATOMIC_RELAXED) * CHUNK;
}

/* Says that nobody writes into this chunk any more. */
static void leave(struct chunk *chunk) {
    if (chunk->end != NULL) {
        __atomic_store_n((uint32_t *)(chunk->end - CHUNK + CHUNK_LEFT), 1, __ATOMIC_RELEASE);
    }
}

/* Claims a chunk and writes its header; 0 if the spool is full. */
static int claim(struct session *s, struct chunk *chunk, uint32_t kind, uint32_t tid) {
    uint64_t next = __atomic_load_n(word(s, AT_NEXT), __ATOMIC_ACQUIRE);
    uint64_t at;
    do {
        if (next + CHUNK > __atomic_load_n(word(s, AT_CAPACITY), __ATOMIC_ACQUIRE)) {
            chunk->at = chunk->end = NULL;
            return 0;
        }
        at = offset(s, next); /* before it is ours: until then nobody changes what the table says of it */
    } while (!__atomic_compare_exchange_n(word(s, AT_NEXT), &next, next + CHUNK, 0,
                                          __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
    uint8_t *start = s->base + at;
    memcpy(start + 4, &kind, 4);
    memcpy(start + 8, &tid, 4);
    memcpy(start + CHUNK_PLACE, &next, 8);
    __atomic_store_n((uint32_t *)start, CHUNK_MAGIC, __ATOMIC_RELEASE);
    chunk->at = start + CHUNK_HEADER;
    chunk->end = start + CHUNK;
    return 1;
}

uint64_t spool_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void store(struct chunk *chunk, uint64_t ts, uint32_t type, uint32_t c, uint64_t a, uint64_t b) {
    uint8_t *at = chunk->at;
    chunk->at += EVENT;
    memcpy(at, &ts, 8);
    memcpy(at + 12, &c, 4);
    memcpy(at + 16, &a, 8);
    memcpy(at + 24, &b, 8);
    __atomic_store_n((uint32_t *)(at + 8), type, __ATOMIC_RELEASE);
}

/* Room for that many events in the calling thread's chunk. */
static int room(struct session *s, int events) {
    if (mine.epoch != s->epoch) {
        mine.epoch = s->epoch;
        mine.chunk.at = mine.chunk.end = NULL;
    }
    if (mine.chunk.end - mine.chunk.at >= events * EVENT) {
        return 1;
    }
    mine.speaker = 0;
    leave(&mine.chunk);
    return claim(s, &mine.chunk, KIND_EVENTS, spool_gettid());
}

int spool_speaks(struct session *s, uint64_t speaker) {
    return !room(s, 2) || mine.speaker == speaker; /* no room: the event after it will be lost anyway */
}

void spool_emit(struct session *s, uint32_t type, uint32_t c, uint64_t a, uint64_t b) {
    spool_emit_at(s, spool_now(), type, c, a, b);
}

void spool_emit_at(struct session *s, uint64_t ts, uint32_t type, uint32_t c, uint64_t a, uint64_t b) {
    if (!room(s, 1)) {
        count(s, AT_LOST);
        return;
    }
    if (type == SWITCH_TO) {
        mine.speaker = a;
    }
    store(&mine.chunk, ts, type, c, a, b);
}

void spool_emit_shared(struct session *s, uint32_t type, uint32_t c, uint64_t a, uint64_t b) {
    pthread_mutex_lock(&s->lock);
    spool_emit_into(s, &s->threads, spool_now(), type, c, a, b);
    pthread_mutex_unlock(&s->lock);
}

/* Longest prefix within the limit that does not end inside a character. */
static uint32_t cut(const char *text, size_t length) {
    if (length <= MAX_STRING_BYTES) {
        return (uint32_t)length;
    }
    uint32_t end = MAX_STRING_BYTES;
    while (end > 0 && ((uint8_t)text[end] & 0xC0) == 0x80) {
        end--;
    }
    return end;
}

/* Writes a new text; the caller holds the lock. */
static uint32_t add(struct session *s, struct text *slot, const char *text, uint32_t length) {
    size_t size = (8 + (size_t)length + 7) & ~(size_t)7;
    if (s->string_count == MAX_STRINGS) {
        return 0;
    }
    if ((size_t)(s->strings.end - s->strings.at) < size && !claim(s, &s->strings, KIND_STRINGS, 0)) {
        return 0;
    }
    uint8_t *at = s->strings.at;
    s->strings.at += size;
    uint32_t id = FIRST_STRING + s->string_count++;
    memcpy(at + 4, &length, 4);
    memcpy(at + 8, text, length);
    __atomic_store_n((uint32_t *)at, id, __ATOMIC_RELEASE);
    *slot = (struct text){(const char *)at + 8, length, id};
    return id;
}

uint32_t spool_string(struct session *s, const char *text) {
    uint32_t length = cut(text, strlen(text));
    if (length == 0) {
        return 0;
    }
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (uint32_t i = 0; i < length; i++) {
        hash = (hash ^ (uint8_t)text[i]) * 16777619u;
    }
    pthread_mutex_lock(&s->lock);
    struct text *slot;
    for (uint32_t i = hash;; i++) {
        slot = &s->dictionary[i % STRING_SLOTS];
        if (slot->id == 0 || (slot->length == length && memcmp(slot->bytes, text, length) == 0)) {
            break;
        }
    }
    uint32_t id = slot->id != 0 ? slot->id : add(s, slot, text, length);
    if (id == 0) {
        count(s, AT_LOST_STRINGS);
    }
    pthread_mutex_unlock(&s->lock);
    return id;
}

int spool_wants_app(struct session *s) {
    return (*(uint32_t *)(s->base + AT_LEVELS) & LEVEL_APP) != 0;
}

uint64_t spool_stacks_wanted(struct session *s) {
    return *word(s, AT_STACKS);
}

uint64_t spool_samples_wanted(struct session *s) {
    return *word(s, AT_SAMPLES);
}

uint64_t spool_allocations_wanted(struct session *s) {
    return *word(s, AT_ALLOCATIONS);
}

const char *spool_methods(struct session *s) {
    return (const char *)s->base + AT_METHODS;
}

void spool_emit_into(struct session *s, struct chunk *chunk, uint64_t ts, uint32_t type, uint32_t c, uint64_t a,
                     uint64_t b) {
    if (chunk->at == chunk->end) {
        leave(chunk);
        claim(s, chunk, KIND_EVENTS, 0);
    }
    if (chunk->at != NULL) {
        store(chunk, ts, type, c, a, b);
    } else {
        count(s, AT_LOST);
    }
}

int spool_frame(struct session *s, struct chunk *chunk, const struct frame *frame) {
    if ((size_t)(chunk->end - chunk->at) < sizeof *frame && !claim(s, chunk, KIND_FRAMES, 0)) {
        return 0;
    }
    uint8_t *at = chunk->at;
    chunk->at += sizeof *frame;
    memcpy(at + 4, (const uint8_t *)frame + 4, sizeof *frame - 4);
    __atomic_store_n((uint32_t *)at, frame->id, __ATOMIC_RELEASE);
    return 1;
}

void spool_lost_stack(struct session *s) {
    count(s, AT_LOST_STACKS);
}

void spool_spared_stack(struct session *s) {
    count(s, AT_SPARED_STACKS);
}

void spool_lost_sample(struct session *s) {
    count(s, AT_LOST_SAMPLES);
}

void spool_spared_sample(struct session *s) {
    count(s, AT_SPARED_SAMPLES);
}

void spool_spared_allocation(struct session *s) {
    count(s, AT_SPARED_ALLOCATIONS);
}
