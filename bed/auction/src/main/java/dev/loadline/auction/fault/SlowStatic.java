package dev.loadline.auction.fault;

import jakarta.servlet.Filter;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/** Images read from files by an unbuffered stream, one system call a byte. */
final class SlowStatic extends Fault {
    private final ConcurrentMap<String, Path> files = new ConcurrentHashMap<>();

    SlowStatic(String name) {
        super(name);
    }

    @Override
    public Optional<Filter> aroundImages(Path work) {
        return Optional.of((request, response, chain) -> chain.doFilter(request,
            new FromDisk((HttpServletResponse) response, work, ((HttpServletRequest) request).getRequestURI())));
    }

    /** Takes the bytes that the sound site writes, and sends what the file says instead. */
    private final class FromDisk extends HttpServletResponseWrapper {
        private final Path work;
        private final String uri;

        FromDisk(HttpServletResponse response, Path work, String uri) {
            super(response);
            this.work = work;
            this.uri = uri;
        }

        @Override
        public ServletOutputStream getOutputStream() throws IOException {
            ServletOutputStream out = super.getOutputStream();
            return new ServletOutputStream() {
                @Override
                public void write(byte[] bytes, int from, int length) throws IOException {
                    try (InputStream in = new FileInputStream(onDisk(bytes, from, length).toFile())) {
                        for (int b = in.read(); b >= 0; b = in.read()) {
                            out.write(b);
                        }
                    }
                }

                @Override
                public void write(int b) throws IOException {
                    out.write(b);
                }

                @Override
                public boolean isReady() {
                    return out.isReady();
                }

                @Override
                public void setWriteListener(WriteListener listener) {
                    out.setWriteListener(listener);
                }
            };
        }

        /** Images never change while a site runs, so each is written once. */
        private Path onDisk(byte[] bytes, int from, int length) throws IOException {
            Path known = files.get(uri);
            if (known != null) {
                return known;
            }
            Path file = Files.createTempFile(work, "image", ".png");
            try (var out = Files.newOutputStream(file)) {
                out.write(bytes, from, length);
            }
            Path first = files.putIfAbsent(uri, file);
            return first == null ? file : first;
        }
    }
}
