package dev.loadline.auction.web;

import dev.loadline.auction.data.Store;
import jakarta.servlet.http.HttpServletRequest;
import java.sql.SQLException;

/** The fields {@code nickname} and {@code password} of every login form. */
final class Login {
    private static final int MOST_CHARS = 80;

    private Login() {
    }

    /** Makes the visitor the user of that name, or refuses with 403. */
    static void of(HttpServletRequest request, Visit visit, Store store) throws Refusal, SQLException {
        String nickname = Parameters.text(request, "nickname", MOST_CHARS);
        String password = Parameters.text(request, "password", MOST_CHARS);
        visit.login(request, store.members().login(nickname, password)
            .orElseThrow(() -> Refusal.forbidden("There is no such user, or the password is another.")));
    }
}
