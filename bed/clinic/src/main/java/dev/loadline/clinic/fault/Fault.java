package dev.loadline.clinic.fault;

/** A mistake. Exists as a bean only if it was asked for. */
interface Fault {
    /** The property that names it. */
    String PROPERTY = "clinic.fault";
}
