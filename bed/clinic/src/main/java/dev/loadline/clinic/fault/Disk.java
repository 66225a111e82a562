package dev.loadline.clinic.fault;

import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.stereotype.Component;

/** A protocol of who saw what, which has to be on the disk before the page is shown. */
@Component
@ConditionalOnProperty(name = Fault.PROPERTY, havingValue = "disk")
class Disk extends PageFault implements DisposableBean {
    private static final int ENTRY = 32 << 10;
    /** Then it begins anew: one that grew would fill the disk. */
    private static final int ENTRIES = 128;

    private final Path file;
    private final FileChannel protocol;
    private final AtomicInteger next = new AtomicInteger();

    Disk() throws IOException {
        file = Files.createTempFile(Path.of(""), "clinic-protocol-", ".log");
        protocol = FileChannel.open(file, StandardOpenOption.WRITE);
    }

    @Override
    protected void before(HttpServletRequest request) throws IOException {
        protocol.write(ByteBuffer.allocate(ENTRY), (long) ENTRY * Math.floorMod(next.getAndIncrement(), ENTRIES));
        protocol.force(false);
    }

    @Override
    public void destroy() throws IOException {
        protocol.close();
        Files.deleteIfExists(file);
    }
}
