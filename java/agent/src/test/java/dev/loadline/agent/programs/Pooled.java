package dev.loadline.agent.programs;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Answers 202 from an executor's thread; before it goes asynchronous, it waits 15 ms for one that does something for it. */
final class Pooled extends HttpServlet {
    private static final ExecutorService POOL = Executors.newCachedThreadPool();

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) {
        try {
            POOL.submit(() -> {
                Thread.sleep(15);
                return "done";
            }).get();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
        AsyncContext async = request.startAsync();
        POOL.execute(() -> {
            try {
                Thread.sleep(20);
                response.setStatus(202);
                response.setContentLength(6);
                response.getOutputStream().print("pooled");
            } catch (IOException | InterruptedException e) {
                throw new IllegalStateException(e);
            }
            async.complete();
        });
    }
}
