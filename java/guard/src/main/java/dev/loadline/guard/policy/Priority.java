package dev.loadline.guard.policy;

/** How much a request matters: lower ones are shed first. */
public enum Priority {
    LOW, NORMAL, HIGH;

    /** Gold counts one step more, bronze one less. */
    public Priority of(Customer customer) {
        return switch (customer) {
            case GOLD -> this == LOW ? NORMAL : HIGH;
            case SILVER -> this;
            case BRONZE -> this == HIGH ? NORMAL : LOW;
        };
    }
}
