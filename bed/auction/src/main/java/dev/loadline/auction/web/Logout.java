package dev.loadline.auction.web;

import dev.loadline.auction.data.Store;
import jakarta.servlet.http.HttpServletRequest;

/** {@code /logout}, posted: the visitor stays, their name goes. */
final class Logout extends PageServlet<String> {
    Logout(Store store) {
        super(store);
    }

    @Override
    String find(HttpServletRequest request, Visit visit) throws Refusal {
        throw Refusal.seeOther("/");
    }

    @Override
    Html render(String nothing, Visit visit) {
        throw new IllegalStateException("this page always leads elsewhere");
    }

    @Override
    String submit(HttpServletRequest request, Visit visit) {
        visit.logout();
        return "/";
    }
}
