package dev.loadline.guard.servers;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/** A shop that works for each reply, and knows its visitors by the server's own sessions. */
public final class Shop extends HttpServlet {
    /** About a millisecond of a CPU: more on a slow one, half of it on a fast one. */
    private static final long TURNS_PER_MILLI = 1_000_000;

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        switch (request.getRequestURI()) {
            case "/burn" -> {
                request.getSession();
                burn(Long.parseLong(request.getParameter("ms")));
            }
            case "/later" -> {
                request.getSession();
                later(request.startAsync());
                return;
            }
            default -> { }
        }
        response.getWriter().print("hello " + request.getRequestURI());
    }

    private static void later(AsyncContext context) {
        new Thread(() -> {
            try {
                Thread.sleep(20);
                context.getResponse().getWriter().print("hello later");
            } catch (IOException | InterruptedException e) {
                throw new IllegalStateException(e);
            } finally {
                context.complete();
            }
        }).start();
    }

    /** Work, not time: what it takes of a CPU that is shared is the same. */
    static void burn(long millis) {
        long sum = millis;
        for (long i = 0; i < millis * TURNS_PER_MILLI; i++) {
            sum = sum * 31 + Long.rotateLeft(sum, 7);
        }
        if (sum == 42) {
            throw new IllegalStateException("never: so that it is not compiled away");
        }
    }
}
