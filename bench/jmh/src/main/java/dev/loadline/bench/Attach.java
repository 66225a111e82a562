package dev.loadline.bench;

import com.sun.tools.attach.VirtualMachine;

/** Attaches an agent to a JVM: pid, jar, argument. */
public final class Attach {
    private Attach() {}

    /** See the class. */
    public static void main(String[] arguments) throws Exception {
        VirtualMachine vm = VirtualMachine.attach(arguments[0]);
        try {
            vm.loadAgent(arguments[1], arguments[2]);
        } finally {
            vm.detach();
        }
    }
}
