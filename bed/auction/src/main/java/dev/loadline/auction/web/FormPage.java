package dev.loadline.auction.web;

import dev.loadline.auction.data.Store;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/** A page that one reaches by a static form, which is posted back to its own path. */
abstract class FormPage<T> extends PageServlet<T> {
    private final transient StaticFiles files;
    private final String form;

    FormPage(Store store, StaticFiles files, String form) {
        super(store);
        this.files = files;
        this.form = form;
    }

    @Override
    protected final void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        if (form.equals(request.getServletPath())) {
            files.doGet(request, response);
        } else {
            super.doGet(request, response);
        }
    }
}
