package dev.loadline.clinic.fault;

import jakarta.servlet.http.HttpServletRequest;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.stereotype.Component;

/** The most visited addresses, counted and ranked anew before every page, by one thread at a time. */
@Component
@ConditionalOnProperty(name = Fault.PROPERTY, havingValue = "hot-lock")
class HotLock extends PageFault {
    private static final int RANKED = 3000;

    private final Map<String, Integer> visits = new HashMap<>();
    private List<String> ranking = List.of();

    HotLock() {
        for (int owner = 1; owner <= RANKED; owner++) {
            visits.put("/owners/" + owner, 0);
        }
    }

    @Override
    protected void before(HttpServletRequest request) {
        visited(request.getRequestURI());
    }

    private synchronized void visited(String path) {
        visits.merge(path, 1, Integer::sum);
        var all = new ArrayList<>(visits.keySet());
        all.sort(Comparator.<String, Integer>comparing(visits::get).reversed().thenComparing(Comparator.naturalOrder()));
        ranking = all.subList(0, 10);
    }

    /** The most visited, first. */
    synchronized List<String> ranking() {
        return List.copyOf(ranking);
    }
}
