package dev.loadline.clinic.fault;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

/** A mistake in what is done before each page. */
abstract class PageFault implements Fault, HandlerInterceptor, WebMvcConfigurer {
    /** What is done before a page. */
    protected abstract void before(HttpServletRequest request) throws Exception;

    @Override
    public final boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler) throws Exception {
        before(request);
        return true;
    }

    @Override
    public final void addInterceptors(InterceptorRegistry registry) {
        registry.addInterceptor(this);
    }
}
