package dev.loadline.auction.web;

import jakarta.servlet.http.HttpServletRequest;
import java.util.regex.Pattern;

/** Parameters of queries and forms, read strictly: what does not fit is a bad request, and says so. */
final class Parameters {
    /** Last page number accepted; far past the end of any category, and no overflow when multiplied. */
    private static final int LAST_PAGE = 1_000_000;
    private static final Pattern EUROS = Pattern.compile("(\\d{1,7})(?:\\.(\\d{1,2}))?");
    /** Databases differ in what they make of these, and no visitor means them. */
    private static final Pattern CONTROL = Pattern.compile("[\\p{Cntrl}&&[^\\r\\n\\t]]");

    private Parameters() {
    }

    /** A row's id, from 1. */
    static int id(HttpServletRequest request, String name) throws Refusal {
        return number(request, name, 1, Integer.MAX_VALUE);
    }

    /** A row's id, or 0 if the parameter is absent. */
    static int optionalId(HttpServletRequest request, String name) throws Refusal {
        return request.getParameter(name) == null ? 0 : id(request, name);
    }

    /** A page number from 0, 0 if absent. */
    static int page(HttpServletRequest request) throws Refusal {
        return request.getParameter("page") == null ? 0 : number(request, "page", 0, LAST_PAGE);
    }

    /** A whole number in a range. */
    static int number(HttpServletRequest request, String name, int low, int high) throws Refusal {
        String value = present(request, name);
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

    /** Some text of 1 to {@code most} characters; blanks around it do not count. */
    static String text(HttpServletRequest request, String name, int most) throws Refusal {
        String value = optionalText(request, name, most);
        if (value.isEmpty()) {
            throw Refusal.badRequest("The field " + name + " must not be empty.");
        }
        return value;
    }

    /** Some text, or nothing. */
    static String optionalText(HttpServletRequest request, String name, int most) throws Refusal {
        String value = request.getParameter(name) == null ? "" : request.getParameter(name).strip();
        if (value.length() > most || CONTROL.matcher(value).find()) {
            throw Refusal.badRequest("The field " + name + " takes at most " + most + " printable characters.");
        }
        return value;
    }

    /** A price in euros, as cents; more than nothing. */
    static int cents(HttpServletRequest request, String name) throws Refusal {
        int cents = optionalCents(request, name);
        if (cents == 0) {
            throw Refusal.badRequest("The field " + name + " must be a price above 0.");
        }
        return cents;
    }

    /** A price in euros, as cents; 0 if absent or empty. */
    static int optionalCents(HttpServletRequest request, String name) throws Refusal {
        String value = request.getParameter(name);
        if (value == null || value.isBlank()) {
            return 0;
        }
        var euros = EUROS.matcher(value.strip());
        if (!euros.matches()) {
            throw Refusal.badRequest("The field " + name + " must be a price like 12 or 12.50, below 10 million.");
        }
        String fraction = euros.group(2) == null ? "00" : (euros.group(2) + "0").substring(0, 2);
        return Integer.parseInt(euros.group(1)) * 100 + Integer.parseInt(fraction);
    }

    private static String present(HttpServletRequest request, String name) throws Refusal {
        String value = request.getParameter(name);
        if (value == null) {
            throw Refusal.badRequest("The parameter " + name + " is missing.");
        }
        return value;
    }
}
