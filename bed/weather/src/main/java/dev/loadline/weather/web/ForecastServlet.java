package dev.loadline.weather.web;

import dev.loadline.Loadline;
import dev.loadline.Span;
import dev.loadline.bed.Delay;
import dev.loadline.weather.service.Forecast;
import dev.loadline.weather.service.Location;
import dev.loadline.weather.service.Position;
import dev.loadline.weather.service.UnknownPhone;
import dev.loadline.weather.service.Weather;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.omg.CORBA.SystemException;

/** The page: authenticates, asks the location server, then the weather server, and stores the picture for the next request. */
final class ForecastServlet extends HttpServlet {
    private static final long serialVersionUID = 1;
    private static final String STYLE = """
        body { font: 16px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 40em; padding: 0 1em; color: #1b2733; background: #fbfcfd; }
        h1 { font-size: 1.4em; margin-bottom: 0.2em; } table { border-collapse: collapse; margin: 1em 0; width: 100%; }
        th, td { text-align: left; padding: 0.3em 0.8em 0.3em 0; border-bottom: 1px solid #d5dde5; } td.number { font-variant-numeric: tabular-nums; }
        img { display: block; width: 100%; max-width: 400px; border: 1px solid #d5dde5; } p.where { color: #5a6b7b; margin-top: 0; }
        """;

    private final transient Location location;
    private final transient Weather weather;
    private final transient Pictures pictures;
    private final long authenticateNs;

    ForecastServlet(Location location, Weather weather, Pictures pictures, long authenticateNs) {
        this.location = location;
        this.weather = weather;
        this.pictures = pictures;
        this.authenticateNs = authenticateNs;
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        String phone = request.getParameter("phone");
        if (phone == null) {
            response.sendError(HttpServletResponse.SC_BAD_REQUEST, "whose forecast? ask for /forecast?phone=06 and eight digits");
            return;
        }
        try {
            authenticate();
            Position here = locate(phone);
            Forecast forecast = forecast(here);
            byte[] page = page(here, forecast, pictures.store(forecast.radar())).getBytes(StandardCharsets.UTF_8);
            response.setContentType("text/html;charset=UTF-8");
            response.setContentLength(page.length);
            response.getOutputStream().write(page);
        } catch (UnknownPhone e) {
            response.sendError(HttpServletResponse.SC_NOT_FOUND, e.getMessage());
        } catch (SystemException e) {
            // A server behind this one is away or full: not this server's fault, and perhaps over soon.
            getServletContext().log("forecast for " + phone.length() + " digits: " + e);
            response.sendError(HttpServletResponse.SC_BAD_GATEWAY);
        }
    }

    private void authenticate() {
        try (Span span = Loadline.span("authenticate")) {
            Delay.nanos(authenticateNs);
        }
    }

    private Position locate(String phone) throws UnknownPhone {
        try (Span span = Loadline.span("location call")) {
            return location.locate(phone);
        }
    }

    private Forecast forecast(Position here) {
        try (Span span = Loadline.span("weather call")) {
            return weather.forecast(here);
        }
    }

    private static String page(Position here, Forecast forecast, String picture) {
        var page = new StringBuilder(3_000).append("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Local weather</title><style>\n").append(STYLE)
            .append("</style></head>\n<body id=\"forecast\">\n<h1>The weather where you are</h1>\n<p class=\"where\">")
            .append(String.format(Locale.ROOT, "%.2f° N, %.2f° E", here.latitude(), here.longitude())).append("</p>\n<p>").append(forecast.text())
            .append("</p>\n<table><tr><th>day</th><th>sky</th><th>lowest</th><th>highest</th></tr>\n");
        int number = 1;
        for (Forecast.Day day : forecast.days()) {
            page.append("<tr><td>").append(number++).append("</td><td>").append(day.sky()).append("</td><td class=\"number\">").append(day.lowest())
                .append(" °C</td><td class=\"number\">").append(day.highest()).append(" °C</td></tr>\n");
        }
        return page.append("</table>\n<img src=\"").append(RadarServlet.PATH).append(picture).append("\" alt=\"rain radar\" width=\"400\" height=\"330\">\n</body></html>\n").toString();
    }
}
