package dev.loadline.agent;

import java.lang.instrument.Instrumentation;
import java.util.Map;
import java.util.Set;

/** Ways into packages of named modules, for those who must look into classes that are not theirs. */
public final class Modules {
    private Modules() {}

    /** Opens a class's package to a module; this redefines no class. */
    public static void open(Instrumentation instrumentation, Class<?> type, Module to) {
        Module module = type.getModule();
        if (module.isNamed() && !module.isOpen(type.getPackageName(), to)) {
            Map<String, Set<Module>> opened = Map.of(type.getPackageName(), Set.of(to));
            instrumentation.redefineModule(module, Set.of(to), Map.of(), opened, Set.of(), Map.of());
        }
    }
}
