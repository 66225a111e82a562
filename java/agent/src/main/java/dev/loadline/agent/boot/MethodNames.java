package dev.loadline.agent.boot;

/** Names of methods with a probe, by the number that is woven into them. They outlive recordings, and classes. */
public final class MethodNames {
    /** The most that there can be: half of what a recording has room for in its dictionary, and a number that fits into sipush. */
    public static final int MOST = 1 << 15;

    private static final String[] NAMES = new String[MOST];

    private MethodNames() {}

    /** Called before a class with this probe is defined, which is what makes the name visible to who runs it. */
    public static void put(int method, String name) {
        NAMES[method] = name;
    }

    static String of(int method) {
        return NAMES[method];
    }
}
