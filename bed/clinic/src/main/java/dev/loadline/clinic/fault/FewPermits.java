package dev.loadline.clinic.fault;

import dev.loadline.bed.Delay;
import jakarta.servlet.http.HttpServletRequest;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.stereotype.Component;

/** Two clients of a partner's service, pooled in a queue, for pages that ask it first. */
@Component
@ConditionalOnProperty(name = Fault.PROPERTY, havingValue = "few-permits")
class FewPermits extends PageFault {
    private static final int CLIENTS = 2;
    private static final long ASKS_NANOS = TimeUnit.MILLISECONDS.toNanos(12);

    private final BlockingQueue<Object> clients = new ArrayBlockingQueue<>(CLIENTS, false, List.of("one", "other"));

    @Override
    protected void before(HttpServletRequest request) throws InterruptedException {
        Object client = clients.take();
        try {
            Delay.nanos(ASKS_NANOS);
        } finally {
            clients.put(client);
        }
    }
}
