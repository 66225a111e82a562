package com.shop;

import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/** Lets nobody see what is secret, and wraps what others ask. Here because classes of the agent's own package have no probes. */
public final class Door implements Filter {
    @Override
    public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain) throws IOException, ServletException {
        HttpServletRequest asked = (HttpServletRequest) request;
        if (asked.getRequestURI().equals("/secret")) {
            ((HttpServletResponse) response).setStatus(403);
        } else {
            chain.doFilter(new HttpServletRequestWrapper(asked), response);
        }
    }
}
