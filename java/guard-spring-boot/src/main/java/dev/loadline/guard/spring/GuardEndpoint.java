package dev.loadline.guard.spring;

import dev.loadline.guard.Figures;
import dev.loadline.guard.Guard;
import dev.loadline.guard.GuardMXBean;
import java.util.LinkedHashMap;
import java.util.Map;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;

/** {@code /actuator/loadlineguard}: what the guard does; {@code POST …/mode} and {@code …/objective} with {"value": …} change it. */
@Endpoint(id = "loadlineguard")
class GuardEndpoint {
    private final GuardInUse inUse;

    GuardEndpoint(GuardInUse inUse) {
        this.inUse = inUse;
    }

    @ReadOperation
    Map<String, Object> figures() {
        Guard guard = inUse.guard().orElse(null);
        if (guard == null) {
            return Map.of("guarded", false);
        }
        var said = new LinkedHashMap<String, Object>();
        said.put("guarded", true);
        said.putAll(Figures.of(guard));
        return said;
    }

    @WriteOperation
    Map<String, Object> change(@Selector String option, String value) {
        GuardMXBean figures = inUse.guard().map(Guard::figures)
            .orElseThrow(() -> new InvalidEndpointRequestException("nothing is guarded", "no guard runs yet"));
        try {
            switch (option) {
                case "mode" -> figures.setMode(value);
                case "objective" -> figures.setObjective(value);
                default -> throw new IllegalArgumentException("'" + option + "' cannot be changed; mode and objective can");
            }
        } catch (IllegalArgumentException e) {
            throw new InvalidEndpointRequestException(e.getMessage(), "wrong option or value");
        }
        return figures();
    }
}
