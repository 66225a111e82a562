package dev.loadline.wholesale;

/** Of a point. */
enum Phase {
    /** Code is compiled, the heap takes its shape. */
    RAMP,
    /** What begins now counts. */
    MEASURED,
    /** Clerks end after the transaction that they are in. */
    OVER;

    /** What all clerks of a point look at. */
    static final class Clock {
        private volatile Phase phase = RAMP;

        Phase phase() {
            return phase;
        }

        void set(Phase next) {
            phase = next;
        }
    }
}
