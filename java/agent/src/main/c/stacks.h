/*
 * Stacks: where in the code a wait was, taken where it ends, if it was long enough.
 *
 * A thread takes its own stack, in a callback or native method that runs on it anyway: no safepoint, and
 * no other thread is stopped. A stack that was seen before costs the walk, a hash and a look-up without
 * a lock. A new one is written frame by frame, each frame below its caller's, once (crates/trace/src/spool/frames.rs).
 * Both are bounded; what does not fit is counted. So is the CPU time that they take: what is beyond that has no stack, and is counted too. A wait ends before its stack is taken: what that takes
 * is running time.
 */
#ifndef LOADLINE_STACKS_H
#define LOADLINE_STACKS_H

#include <jni.h>
#include <jvmti.h>
#include <stdint.h>

#include "spool.h"

/* Frames of a stack that are kept: the innermost. */
enum { MAX_DEPTH = 256 };

/* Instead of a method: why there is none, as the `location` of a frame whose `method` is NULL. */
enum {
    STACK_UNKNOWN_METHOD = 0,
    STACK_IN_COLLECTION = 1,
    STACK_IN_DEOPTIMIZATION = 2,
    STACK_NOT_WALKABLE = 3,
    STACK_NATIVE_CODE = 4,
    STACK_SYSTEM_CALL = 5,
};

/*
 * The same of native code: where its function begins; if its library does not say that, where the library begins, negative; if it is
 * no library's, STACK_NATIVE_CODE.
 */
jlocation stacks_native(uintptr_t pc);

/* What a thread waits in: at most one of each at a time. */
enum wait { IN_ENTER, IN_WAIT, IN_PARK, WAITS };

/* Makes room for the session's stacks, of waits, of what runs or of what allocates, if any are wanted; 0 if there is none.
 * Before the session begins. */
int stacks_start(struct session *s);

/* Gives its memory back, but not its addresses: a thread may be using them. After the session has ended. */
void stacks_stop(struct session *s);

/* The calling thread, which speaks for `speaker` (see about_speaker), begins to wait. */
void stacks_wait_begins(struct session *s, uint64_t speaker, enum wait wait, uint64_t now);

/*
 * A word of the calling thread's: a session's epoch, shifted left by one, plus whether it serves a connection. Who served one in this
 * session and serves none now is a worker without work: where it waits is known, and of no request.
 */
uint32_t *stacks_at_work(void);

/* It has waited. Returns the id of its stack; 0 if the wait was too short, was a worker's without work, or its stack is lost or too dear now. */
uint32_t stacks_wait_ended(struct session *s, JNIEnv *jni, jthread thread, uint64_t speaker, enum wait wait,
                           uint64_t now);

/* Id of the calling thread's stack; 0 if it has no frame of Java, or if its stack is lost. Of a session with room for stacks. */
uint32_t stacks_take(struct session *s, JNIEnv *jni, jthread thread);

/* Id of a stack, the innermost frame first; 0 if there is no room for it. Of a session with room for stacks. */
uint32_t stacks_id(struct session *s, JNIEnv *jni, const jvmtiFrameInfo *frames, jint count);

#endif
