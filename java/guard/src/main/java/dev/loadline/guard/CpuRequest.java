package dev.loadline.guard;

/** Who says how many CPUs this server needs. */
public enum CpuRequest {
    /** The guard, to whoever gives this process its CPUs: by the rates of its connections and their learnt costs. */
    LEARNT,
    /** Somebody else: a CPU manager estimates it from outside, or the application says. */
    OFF
}
