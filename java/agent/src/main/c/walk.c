/* See walk.h. */
#define _GNU_SOURCE
#include "walk.h"

#include <stdint.h>
#include <string.h>
#include <ucontext.h>

#include "dynamic.h"
#include "layout.h"

typedef void (*get_call_trace)(struct call_trace *, jint depth, void *context);

static get_call_trace call_trace;

#ifdef __x86_64__

enum {
    MOST_HEAPS = 8,
    /* Bytes of code that are looked at before and after a place. */
    AROUND = 24,
    /* From a method's entry to where its frame is complete; an adapter. */
    AN_ENTRY = 256,
    /* A routine of the JVM's. */
    A_ROUTINE = 65536,
    /* What such a one has on the stack, and a method that begins. */
    A_FRAME = 2048,
    MOST_WORDS = A_FRAME / 8,
};

/* Bounds of what is in use of each part of the code cache. They move as it grows; it never shrinks. */
static struct {
    const uintptr_t *low, *high;
} heaps[MOST_HEAPS];
static int heap_count;
static uintptr_t interpreter, interpreter_end;

struct place {
    uintptr_t pc, sp, fp;
};

/* Whether the bytes around this place are code that can be read. */
static int is_code(uintptr_t at) {
    for (int i = 0; i < heap_count; i++) {
        if (*heaps[i].low + AROUND <= at && at < *heaps[i].high - AROUND) {
            return 1;
        }
    }
    return 0;
}

static int is(const uint8_t *code, const char *bytes, size_t count) {
    return memcmp(code, bytes, count) == 0;
}

static int32_t number_at(const uint8_t *code) {
    int32_t number;
    memcpy(&number, code, 4);
    return number;
}

/* The address that a call led to which returns to this place, by a register or not; 0 if there is none before it. */
static uintptr_t called_from(uintptr_t back, int *by_register) {
    const uint8_t *code = (const uint8_t *)back;
    *by_register = code[-5] != 0xe8;
    if (code[-5] == 0xe8) {
        return back + (uintptr_t)(intptr_t)number_at(code - 4);
    }
    if (is(code - 13, "\x49\xba", 2) && is(code - 3, "\x41\xff\xd2", 3)) { /* mov r10, address; call r10 */
        uintptr_t to;
        memcpy(&to, code - 11, 8);
        return to;
    }
    return 0;
}

/* Whether a call led to code at most so far before `pc`, and returns to `back`. */
static int led_here(uintptr_t back, uintptr_t pc, uintptr_t most) {
    int by_register;
    uintptr_t to = is_code(back) ? called_from(back, &by_register) : 0;
    return to != 0 && to <= pc && pc - to < most;
}

/* Whether a call led to a routine of the JVM's that is generated, too, and returns to `back`. Some share their code's end. */
static int led_to_a_routine(uintptr_t back) {
    int by_register;
    uintptr_t to = is_code(back) ? called_from(back, &by_register) : 0;
    return to != 0 && by_register && is_code(to);
}

static int is_interpreters(uintptr_t at) {
    return interpreter <= at && at < interpreter_end;
}

/* Whether somebody's code goes on there after a call of a method; the interpreter jumps, and C++ calls by a register. */
static int goes_on(uintptr_t back) {
    const uint8_t *code = (const uint8_t *)back;
    int by_register;
    return is_code(back) && (called_from(back, &by_register) != 0 || is_interpreters(back) ||
                             (code[-2] == 0xff && (code[-1] & 0xf8) == 0xd0));
}

/* Length of the instruction by which a method that ends looks whether the JVM wants to stop it (from JDK 16 on); 0: it is none. */
static int a_look(const uint8_t *code) {
    return is(code, "\x49\x3b\xa7", 3) ? 7 : is(code, "\x49\x3b\x67", 3) ? 4 : 0; /* cmp rsp, [r15 + offset] */
}

static int is_leap(const uint8_t *code) {
    return is(code, "\x0f\x87", 2); /* ja, 6 bytes */
}

/* Length of the instruction before a place by which a method makes so much room: sub rsp, size; 0: it is none. */
static int makes_room(const uint8_t *end, int *words) {
    if (is(end - 7, "\x48\x81\xec", 3)) {
        *words = number_at(end - 4) / 8;
        return 7;
    }
    if (is(end - 4, "\x48\x83\xec", 3)) { /* of few words; C2 has it so from JDK 27 on */
        *words = end[-1] / 8;
        return 4;
    }
    return 0;
}

/* Whether it saves rbp in its room: mov [rsp + offset], rbp, 5 bytes. */
static int saves_rbp(const uint8_t *code) {
    return is(code, "\x48\x89\x6c\x24", 4);
}

/* Length of what does nothing before a place. */
static int padding(const uint8_t *end) {
    int length = 0;
    if (is(end - 3, "\x0f\x1f\x00", 3)) {
        return 3;
    }
    if (end[-1] == 0x90) {
        for (length = 1; length < 3 && end[-1 - length] == 0x66; length++) {
        }
    }
    return length;
}

/*
 * How many words lie above the address that a method returns to, seen by the code where it begins; -1 if that is something
 * else. It touches the stack where it may grow to, saves rbp and makes room; or makes room, and saves it there. Then it may look
 * whether it has to wait for the collector.
 */
static int words_at_the_begin(const uint8_t *code) {
    const uint8_t PUSH = 0x55; /* push rbp */
    int words = 0;
    if (is(code, "\x89\x84\x24", 3) && code[6] == 0xff && code[7] == PUSH) { /* mov [rsp - distance], eax */
        return 0;
    }
    if (is(code - 7, "\x89\x84\x24", 3) && code[-1] == 0xff && code[0] == PUSH) {
        return 0;
    }
    if (is(code - 8, "\x89\x84\x24", 3) && code[-2] == 0xff && code[-1] == PUSH) {
        return 1;
    }
    for (int length = 4; length <= 7; length += 3) {
        if (makes_room(code + length, &words) == length && saves_rbp(code + length)) {
            return 0;
        }
    }
    if (saves_rbp(code) && makes_room(code, &words)) {
        return words;
    }
    if (is(code - 8, "\x41\x81\x7f", 3) && is(code, "\x0f\x85", 2)) { /* jne, which belongs to what is before it */
        code -= 8;
    }
    if (is(code, "\x41\x81\x7f", 3)) { /* cmp [r15 + offset], epoch: 8 bytes */
        code -= padding(code);
    }
    if (saves_rbp(code - 5) && makes_room(code - 5, &words)) {
        return words;
    }
    int length = makes_room(code, &words);
    return length > 0 && code[-length - 1] == PUSH ? words + 1 : -1;
}

/* The same where it ends: rbp is restored already, or next. */
static int words_at_the_end(const uint8_t *code) {
    const uint8_t POP = 0x5d, RETURN = 0xc3;
    if (code[0] == POP && a_look(code + 1) && is_leap(code + 1 + a_look(code + 1))) {
        return 1;
    }
    if (code[-1] == POP && a_look(code) && is_leap(code + a_look(code))) {
        return 0;
    }
    for (int length = 4; length <= 7; length += 3) {
        if (is_leap(code) && code[6] == RETURN && a_look(code - length) == length) {
            return 0;
        }
        if (code[0] == RETURN && is_leap(code - 6) && a_look(code - 6 - length) == length) {
            return 0;
        }
    }
    return -1;
}

/* Where the thread was before it called what it is in; 0 if that is not certain. */
static int before_the_call(struct place *at) {
    if (!is_code(at->pc)) {
        return 0;
    }
    const uintptr_t *stack = (const uintptr_t *)at->sp;
    int words = words_at_the_begin((const uint8_t *)at->pc);
    if (words < 0) {
        words = words_at_the_end((const uint8_t *)at->pc);
    }
    if (words > MOST_WORDS || (words >= 0 && !goes_on(stack[words]))) {
        return 0;
    }
    if (words < 0 && is_interpreters(stack[0]) && !is_interpreters(at->pc)) {
        words = 0; /* an adapter between the two */
    }
    for (int i = 0; i < 2 && words < 0; i++) {
        if (led_here(stack[i], at->pc, AN_ENTRY)) {
            words = i;
        }
    }
    if (words >= 0) {
        at->pc = stack[words];
        at->sp += 8 * ((uintptr_t)words + 1);
        return 1;
    }
    if (at->fp < at->sp || at->fp - at->sp > A_FRAME || at->fp % 8 != 0) {
        return 0;
    }
    const uintptr_t *frame = (const uintptr_t *)at->fp;
    if (!led_here(frame[1], at->pc, A_ROUTINE) && !led_to_a_routine(frame[1])) {
        return 0;
    }
    *at = (struct place){.pc = frame[1], .sp = at->fp + 16, .fp = frame[0]};
    return 1;
}

static void walk_from_before(struct call_trace *trace, jint depth, const ucontext_t *context) {
    ucontext_t moved = *context;
    greg_t *registers = moved.uc_mcontext.gregs;
    struct place at = {(uintptr_t)registers[REG_RIP], (uintptr_t)registers[REG_RSP], (uintptr_t)registers[REG_RBP]};
    if (before_the_call(&at)) {
        registers[REG_RIP] = (greg_t)at.pc;
        registers[REG_RSP] = (greg_t)at.sp;
        registers[REG_RBP] = (greg_t)at.fp;
        call_trace(trace, depth, &moved);
    }
}

/* Whether it was in a compiled method that ends: with its frame given up, which AsyncGetCallTrace does not know of. */
static int ends(const ucontext_t *context) {
    uintptr_t pc = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
    return is_code(pc) && !is_interpreters(pc) && words_at_the_end((const uint8_t *)pc) >= 0;
}

uintptr_t walk_outside(void *context) {
    uintptr_t pc = (uintptr_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    for (int i = 0; i < heap_count; i++) {
        if (*heaps[i].low <= pc && pc < *heaps[i].high) {
            return 0;
        }
    }
    return heap_count == 0 ? 0 : pc;
}

/* A timer that runs out in the kernel interrupts on the way back, behind the instruction that led there. */
int walk_in_kernel(uintptr_t outside) {
    const uintptr_t A_PAGE = 4096;
    return outside % A_PAGE >= 2 && is((const uint8_t *)outside - 2, "\x0f\x05", 2); /* syscall */
}

/* Learns where the JVM's code is. Where that is not told, no place is code, and no stack is walked from before. */
static void find_code(void *libjvm) {
    int64_t length_at = layout_offset(libjvm, "GrowableArrayBase", "_len");
    int64_t data_at = layout_offset(libjvm, "GrowableArray<int>", "_data"); /* of any type that is */
    int64_t memory_at = layout_offset(libjvm, "CodeHeap", "_memory");
    int64_t low_at = layout_offset(libjvm, "VirtualSpace", "_low");
    int64_t high_at = layout_offset(libjvm, "VirtualSpace", "_high");
    uint8_t **all = layout_static(libjvm, "CodeCache", "_heaps");
    heap_count = 0;
    if (all == NULL || *all == NULL || length_at < 0 || data_at < 0 || memory_at < 0 || low_at < 0 || high_at < 0) {
        return;
    }
    int32_t count = *(int32_t *)(*all + length_at);
    uint8_t **each = *(uint8_t ***)(*all + data_at);
    for (int32_t i = 0; i < count && i < MOST_HEAPS; i++) {
        uint8_t *memory = each[i] + memory_at;
        heaps[i].low = (const uintptr_t *)(memory + low_at);
        heaps[i].high = (const uintptr_t *)(memory + high_at);
        heap_count = i + 1;
    }
    int64_t buffer_at = layout_offset(libjvm, "StubQueue", "_stub_buffer");
    int64_t limit_at = layout_offset(libjvm, "StubQueue", "_buffer_limit");
    uint8_t **queue = layout_static(libjvm, "AbstractInterpreter", "_code");
    if (queue != NULL && *queue != NULL && buffer_at >= 0 && limit_at >= 0) {
        interpreter = *(uintptr_t *)(*queue + buffer_at);
        interpreter_end = interpreter + (uintptr_t)*(int32_t *)(*queue + limit_at);
    }
}

#else

/* Elsewhere a call leaves the address in a register, and begins look different: not told yet. */
static void walk_from_before(struct call_trace *trace, jint depth, const ucontext_t *context) {
    (void)trace, (void)depth, (void)context;
}

static int ends(const ucontext_t *context) {
    (void)context;
    return 0;
}

uintptr_t walk_outside(void *context) {
    (void)context;
    return 0;
}

int walk_in_kernel(uintptr_t outside) {
    (void)outside;
    return 0;
}

static void find_code(void *libjvm) {
    (void)libjvm;
}

#endif

int walk_open(void *libjvm) {
    call_trace = (get_call_trace)(uintptr_t)dlsym(libjvm, "AsyncGetCallTrace");
    if (call_trace != NULL) {
        find_code(libjvm);
    }
    return call_trace != NULL;
}

void walk(struct call_trace *trace, jint depth, void *context) {
    int is_over = ends(context);
    trace->count = NOT_JAVA;
    call_trace(trace, is_over ? 1 : depth, context);
    if (is_over || trace->count == UNKNOWN_JAVA) {
        int itself = trace->count == 1;
        struct call_trace before = {.env = trace->env, .count = NOT_JAVA, .frames = trace->frames + itself};
        walk_from_before(&before, depth - itself, context);
        if (before.count > 0) {
            trace->count = before.count + itself;
        } else if (itself) {
            trace->count = UNKNOWN_JAVA;
        }
    }
}
