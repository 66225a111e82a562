package dev.loadline.weather.web;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;

/** The picture of a page that was asked for before. Its MD5 goes with it, computed anew each time (RFC 1864). */
final class RadarServlet extends HttpServlet {
    static final String PATH = "/radar/";
    private static final long serialVersionUID = 1;

    private final transient Pictures pictures;

    RadarServlet(Pictures pictures) {
        this.pictures = pictures;
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        String path = request.getPathInfo();
        byte[] picture = path == null ? null : pictures.read(path.substring(1));
        if (picture == null) {
            response.sendError(HttpServletResponse.SC_NOT_FOUND, "no such picture, or no more: ask for a new forecast");
            return;
        }
        response.setContentType("image/png");
        response.setHeader("Content-MD5", Base64.getEncoder().encodeToString(md5(picture)));
        response.setContentLength(picture.length);
        response.getOutputStream().write(picture);
    }

    private static byte[] md5(byte[] bytes) {
        try {
            return MessageDigest.getInstance("MD5").digest(bytes);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has MD5", e);
        }
    }
}
