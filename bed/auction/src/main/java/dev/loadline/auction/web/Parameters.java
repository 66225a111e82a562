package dev.loadline.auction.web;

import jakarta.servlet.http.HttpServletRequest;

/** Query parameters, read strictly: what is not a number in range is a bad request, and says so. */
final class Parameters {
    /** Last page number accepted; far past the end of any category, and no overflow when multiplied. */
    private static final int LAST_PAGE = 1_000_000;

    private Parameters() {
    }

    /** A row's id, from 1. */
    static int id(HttpServletRequest request, String name) throws Refusal {
        String value = request.getParameter(name);
        if (value == null) {
            throw Refusal.badRequest("The parameter " + name + " is missing.");
        }
        return number(name, value, 1, Integer.MAX_VALUE);
    }

    /** A row's id, or 0 if the parameter is absent. */
    static int optionalId(HttpServletRequest request, String name) throws Refusal {
        return request.getParameter(name) == null ? 0 : id(request, name);
    }

    /** A page number from 0, 0 if absent. */
    static int page(HttpServletRequest request) throws Refusal {
        String value = request.getParameter("page");
        return value == null ? 0 : number("page", value, 0, LAST_PAGE);
    }

    private static int number(String name, String value, int low, int high) throws Refusal {
        try {
            int n = Integer.parseInt(value);
            if (n >= low && n <= high) {
                return n;
            }
        } catch (NumberFormatException e) {
            // Refused below, as a number out of range is.
        }
        throw Refusal.badRequest("The parameter " + name + " must be a whole number from " + low + " to " + high + ".");
    }
}
