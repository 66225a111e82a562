package dev.loadline.auction.web;

import dev.loadline.auction.data.DataGenerator;
import dev.loadline.bed.Png;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.zip.CRC32;

/**
 * The static part: home, browse and the forms to register, to sell and to log in (RUBiS's five static
 * interactions), style sheet, about page, logo (3.5 kB), buttons and item thumbnails (2 kB), category
 * icons (1 kB) and photos (some 35 kB). Generated at start from the seed, kept in memory, with an entity
 * tag; images and style sheet may be cached for a day, pages must be asked for again.
 */
final class StaticFiles extends HttpServlet {
    /** Different pictures; the items share them. */
    private static final int PHOTOS = 32;
    private static final String HTML = "text/html;charset=UTF-8";

    private static final String A_DAY = "public, max-age=86400";
    private static final String ASK_AGAIN = "no-cache";

    private record StaticFile(String type, String caching, String tag, byte[] bytes) {
    }

    private final transient Map<String, StaticFile> files = new HashMap<>();

    StaticFiles(long seed) {
        add("/images/logo.png", "image/png", Png.picture(160, 24, 4, seed));
        for (int i = 1; i <= DataGenerator.CATEGORIES; i++) {
            add("/images/icon-" + i + ".png", "image/png", Png.picture(32, 32, 4, seed + i));
        }
        for (int i = 0; i < PHOTOS; i++) {
            add("/images/thumb-" + i + ".png", "image/png", Png.picture(48, 36, 6, seed + 1000 + i));
            add("/images/photo-" + i + ".png", "image/png", Png.picture(320, 240, 1, seed + 1000 + i));
        }
        add("/images/bid-now.png", "image/png", Png.picture(96, 28, 5, seed + 501));
        add("/images/buy-now.png", "image/png", Png.picture(96, 28, 5, seed + 502));
        add("/style.css", "text/css;charset=UTF-8", STYLE.getBytes(StandardCharsets.UTF_8));
        add("/about.html", HTML, StaticPages.about().getBytes(StandardCharsets.UTF_8));
        add("/", HTML, StaticPages.home().getBytes(StandardCharsets.UTF_8));
        add("/browse", HTML, StaticPages.browse().getBytes(StandardCharsets.UTF_8));
        add(RegisterUser.FORM, HTML, RegisterUser.form().getBytes(StandardCharsets.UTF_8));
        add(SelectCategoryToSell.FORM, HTML, SelectCategoryToSell.form().getBytes(StandardCharsets.UTF_8));
        add(AboutMe.FORM, HTML, AboutMe.form().getBytes(StandardCharsets.UTF_8));
    }

    static String thumbOf(int item) {
        return "/images/thumb-" + item % PHOTOS + ".png";
    }

    static String photoOf(int item) {
        return "/images/photo-" + item % PHOTOS + ".png";
    }

    private void add(String path, String type, byte[] bytes) {
        var crc = new CRC32();
        crc.update(bytes);
        files.put(path, new StaticFile(type, type.equals(HTML) ? ASK_AGAIN : A_DAY, "\"" + Long.toHexString(crc.getValue()) + "\"", bytes));
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        String path = request.getServletPath() + (request.getPathInfo() == null ? "" : request.getPathInfo());
        StaticFile file = files.get(path);
        if (file == null) {
            response.setStatus(HttpServletResponse.SC_NOT_FOUND);
            response.setContentType("text/html;charset=UTF-8");
            response.getWriter().write(ErrorPage.of(HttpServletResponse.SC_NOT_FOUND, "There is no such file."));
            return;
        }
        response.setHeader("Cache-Control", file.caching);
        response.setHeader("ETag", file.tag);
        if (file.tag.equals(request.getHeader("If-None-Match"))) {
            response.setStatus(HttpServletResponse.SC_NOT_MODIFIED);
            return;
        }
        response.setContentType(file.type);
        response.setContentLength(file.bytes.length);
        response.getOutputStream().write(file.bytes);
    }

    private static final String STYLE = """
        :root { color-scheme: light dark; --line: #9993; --link: #1257a6; }
        body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 0 1rem; }
        header { display: flex; align-items: center; gap: 2rem; border-bottom: 1px solid var(--line); padding: 1rem 0; }
        nav ul { display: flex; gap: 1rem; list-style: none; margin: 0; padding: 0; }
        a { color: var(--link); text-decoration: none; }
        a:hover, a:focus { text-decoration: underline; }
        table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
        th { text-align: left; font-weight: 600; }
        td, th { padding: .3rem .6rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: middle; }
        .tiles { columns: 3; list-style: none; padding: 0; }
        .tiles li { break-inside: avoid; padding: .2rem 0; }
        .tiles img { vertical-align: middle; }
        aside { float: left; width: 12rem; margin-right: 2rem; font-size: .9rem; }
        aside ul { list-style: none; padding: 0; }
        form p { margin: .4rem 0; }
        .visitor { clear: both; font-size: .9rem; }
        .photo { float: right; margin: 0 0 1rem 1rem; border-radius: .3rem; }
        .pager { text-align: center; }
        dt { font-weight: 600; margin-top: .6rem; }
        footer { border-top: 1px solid var(--line); margin-top: 2rem; font-size: .85rem; opacity: .8; }
        @media (max-width: 40rem) { .tiles { columns: 1; } header { flex-direction: column; } .photo { float: none; } }
        """;
}
