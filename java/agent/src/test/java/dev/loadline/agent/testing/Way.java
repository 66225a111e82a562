package dev.loadline.agent.testing;

/** How the server level gets into a JVM. */
public enum Way {
    /** Attached late; no class is redefined. */
    HOOKS,
    /** Attached late; classes are redefined, the first time. */
    REDEFINE,
    /** The agent is there at start. */
    START;

    /** What the JVM is started with. */
    public String[] options() {
        return this == START ? new String[] {"-javaagent:" + TestRecorder.JAR} : new String[0];
    }

    /** A recorder of all levels that goes this way. */
    public TestRecorder recorder() throws Exception {
        return TestRecorder.prepare(this == REDEFINE ? TestRecorder.MAY_REDEFINE : 0);
    }
}
