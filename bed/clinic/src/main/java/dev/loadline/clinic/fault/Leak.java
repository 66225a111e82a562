package dev.loadline.clinic.fault;

import jakarta.servlet.http.HttpServletRequest;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.stereotype.Component;

/** A cache whose keys never come back: 80 kB stay for every page, up to three quarters of the heap. */
@Component
@ConditionalOnProperty(name = Fault.PROPERTY, havingValue = "leak")
class Leak extends PageFault {
    private static final int BYTES = 80_000;
    private static final long MOST = Runtime.getRuntime().maxMemory() / 4 * 3 / BYTES;

    private final Map<String, byte[]> rendered = new ConcurrentHashMap<>();
    private final AtomicLong served = new AtomicLong();

    @Override
    protected void before(HttpServletRequest request) {
        long number = served.incrementAndGet();
        if (number <= MOST) {
            byte[] page = new byte[BYTES];
            byte[] path = request.getRequestURI().getBytes(StandardCharsets.UTF_8);
            System.arraycopy(path, 0, page, 0, Math.min(path.length, BYTES));
            rendered.put(request.getRequestURI() + "#" + number, page);
        }
    }
}
