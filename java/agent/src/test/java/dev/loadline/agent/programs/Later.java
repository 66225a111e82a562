package dev.loadline.agent.programs;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/** Answers 202 from another thread, 50 ms later. */
final class Later extends HttpServlet {
    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) {
        AsyncContext async = request.startAsync();
        new Thread(() -> {
            try {
                Thread.sleep(50);
                response.setStatus(202);
                response.setContentLength(5);
                response.getOutputStream().print("later");
                async.complete();
            } catch (IOException | InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }, "later").start();
    }
}
