package dev.loadline.auction.fault;

import jakarta.servlet.Filter;
import jakarta.servlet.ServletException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;

/** Every page writes an entry of an audit log and waits until it is on the disk. */
final class Disk extends Fault {
    private static final int ENTRY = 64 << 10;

    private FileChannel log;

    Disk(String name) {
        super(name);
    }

    @Override
    public Optional<Filter> aroundPages(Path work) {
        return Optional.of((request, response, chain) -> {
            try {
                write(work);
            } catch (IOException e) {
                throw new ServletException("the audit log", e);
            }
            chain.doFilter(request, response);
        });
    }

    private void write(Path work) throws IOException {
        FileChannel to = open(work);
        // Round and round: a log that grew for ever would fill the disk.
        to.write(ByteBuffer.allocate(ENTRY), (System.nanoTime() >>> 10) % 64 * ENTRY);
        to.force(false);
    }

    private synchronized FileChannel open(Path work) throws IOException {
        if (log == null) {
            log = FileChannel.open(work.resolve("audit.log"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        }
        return log;
    }

    @Override
    public synchronized void close() {
        if (log != null) {
            try {
                log.close();
            } catch (IOException e) {
                System.err.println("auction: closing the audit log: " + e.getMessage());
            }
        }
    }
}
