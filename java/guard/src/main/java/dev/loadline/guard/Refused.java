package dev.loadline.guard;

/** Why somebody was not served, as counters and events name it. */
public enum Refused {
    BUDGET, CEILING, REPLAY, ADDRESS, BAD_CLAIM, NOT_TLS, SLOW_HELLO, SHED_REQUEST
}
