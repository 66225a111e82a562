package dev.loadline.clinic.fault;

import jakarta.servlet.http.HttpServletRequest;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.stereotype.Component;

/** A few megabytes in small objects for every page; those of the last pages stay for a while, and are copied by the collector. */
@Component
@ConditionalOnProperty(name = Fault.PROPERTY, havingValue = "gc-pressure")
class GcPressure extends PageFault {
    private static final int PIECES = 24_000;
    private static final int PIECE = 160;
    private static final int KEPT = 30;

    private final Deque<List<byte[]>> last = new ArrayDeque<>();

    @Override
    protected void before(HttpServletRequest request) {
        var made = new ArrayList<byte[]>(PIECES);
        for (int i = 0; i < PIECES; i++) {
            made.add(new byte[PIECE]);
        }
        keep(made);
    }

    private synchronized void keep(List<byte[]> made) {
        last.addLast(made);
        if (last.size() > KEPT) {
            last.removeFirst();
        }
    }
}
