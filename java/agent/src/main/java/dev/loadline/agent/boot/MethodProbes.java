package dev.loadline.agent.boot;

import jdk.internal.vm.annotation.DontInline;

/**
 * Called from methods with a probe: where they begin, before each return, and where an exception leaves them.
 *
 * <p>An invocation becomes one record, when it ends. How deep it was in its thread's stack says in which other it was: the
 * one that ends next on a level less. An invocation that the recording did not see begin is not one.
 *
 * <p>Where a thread has no stack left, a probe may not have been called: then nobody knows any more which invocation the next
 * call of one ends. So what a thread is in when its stack overflows is not recorded, and it begins anew.
 */
public final class MethodProbes {
    private static final ThreadLocal<Calls> CALLS = new ThreadLocal<>();

    private MethodProbes() {}

    public static void enter(int method) {
        Session s = Emit.methods();
        if (s != null) {
            begin(s, s.methods, method);
        }
    }

    public static void exit(int method) {
        Session s = Emit.methods();
        if (s != null) {
            end(s, s.methods, method, 0);
        }
    }

    public static void threw(Throwable what, int method) {
        Session s = Emit.methods();
        if (s != null) {
            if (what instanceof StackOverflowError) {
                forget();
            } else {
                end(s, s.methods, method, Emit.METHOD_THREW);
            }
        }
    }

    /** For {@link Rehearsal}: the calling thread is in no method, and never was. */
    static void forgetThread() {
        CALLS.remove();
    }

    /** The calling thread begins anew. */
    private static void forget() {
        Calls calls = CALLS.get();
        if (calls != null) {
            calls.epoch = 0;
        }
    }

    private static void begin(Session s, MethodScope scope, int method) {
        Calls calls = null;
        try {
            calls = CALLS.get();
            if (calls == null || calls.epoch != s.epoch) {
                calls = join(s, scope, calls);
            }
            int id = scope.ids[method];
            if (id == MethodScope.UNKNOWN) {
                id = scope.find(method);
            }
            if (id == MethodScope.UNWANTED || !calls.wanted) {
                leaveOut(scope, calls, 1);
                return;
            }
            int at = calls.top;
            if (at == calls.levels.length) {
                calls.grow();
            }
            long[] levels = calls.levels;
            levels[at + Calls.METHOD] = method;
            levels[at + Calls.LEFT_OUT] = 0;
            calls.top = at + Calls.LEVEL;
            levels[at + Calls.BEGIN] = System.nanoTime();
            if (scope.cpu) {
                levels[at + Calls.CPU] = Native.cpuNanos();
            }
        } catch (StackOverflowError e) { // as it would have come a call later
            if (calls != null) {
                calls.epoch = 0;
            }
            throw e;
        } catch (Throwable e) {
            if (calls != null) {
                calls.epoch = 0;
            }
            Faults.caught(e);
        }
    }

    private static void end(Session s, MethodScope scope, int method, long how) {
        Calls calls = null;
        try {
            calls = CALLS.get();
            // Not on the stack: it began before the recording, or is not wanted.
            if (calls == null || calls.epoch != s.epoch || calls.top == 0 || scope.ids[method] <= 0) {
                return;
            }
            long cpu = scope.cpu ? Native.cpuNanos() : 0;
            long now = System.nanoTime();
            long[] levels = calls.levels;
            int at = calls.top - Calls.LEVEL;
            if (levels[at + Calls.METHOD] != method) {
                at = calls.find(method);
                if (at < 0) {
                    return;
                }
            }
            calls.top = at;
            long duration = now - levels[at + Calls.BEGIN];
            long leftOut = levels[at + Calls.LEFT_OUT];
            if (duration < scope.shortest) {
                leaveOut(scope, calls, leftOut + 1);
                return;
            }
            int id = scope.ids[method] - 1;
            if (leftOut > 0) {
                Emit.method(s, calls, now, Type.METHOD_LEFT_OUT, id, leftOut, 0);
            }
            // The clock of a virtual thread's carrier also counts others.
            if (scope.cpu && calls.slot != null) {
                how |= Emit.METHOD_HAS_CPU | cpu - levels[at + Calls.CPU] & Emit.METHOD_CPU;
            }
            long depth = Math.min(at / Calls.LEVEL, Emit.METHOD_DEEPEST);
            Emit.method(s, calls, now, Type.METHOD, id, duration, how | depth << Emit.METHOD_DEPTH_SHIFT);
        } catch (Throwable e) {
            if (calls != null) {
                calls.epoch = 0;
            }
            Faults.caught(e);
        }
    }

    /** Counts calls as left out in the innermost invocation that is recorded. */
    private static void leaveOut(MethodScope scope, Calls calls, long count) {
        if (calls.top == 0) {
            scope.leaveOut(calls.thread, count);
        } else {
            calls.levels[calls.top - Calls.LEVEL + Calls.LEFT_OUT] += count;
        }
    }

    /** The calling thread's first in this session. */
    @DontInline
    private static Calls join(Session s, MethodScope scope, Calls known) {
        Thread thread = Thread.currentThread();
        Calls calls = known;
        if (calls == null) {
            calls = new Calls(Emit.isVirtual(thread) ? null : Emit.slot(thread, false), Emit.threadId(thread));
            CALLS.set(calls);
        }
        calls.begin(s.epoch, scope.wants(thread));
        return calls;
    }
}
