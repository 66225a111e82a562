package dev.loadline.weather.service;

import java.util.ArrayList;
import java.util.List;
import org.omg.CORBA.portable.InputStream;
import org.omg.CORBA.portable.OutputStream;

/**
 * For a place: a few sentences, the next days, and a picture of the rain radar.
 *
 * @param radar a PNG
 */
public record Forecast(String text, List<Day> days, byte[] radar) {
    /** One day; temperatures in degrees Celsius. */
    public record Day(String sky, int lowest, int highest) {
    }

    static Forecast read(InputStream in) {
        String text = in.read_string();
        List<Day> days = new ArrayList<>();
        for (int left = in.read_long(); left > 0; left--) {
            days.add(new Day(in.read_string(), in.read_long(), in.read_long()));
        }
        byte[] radar = new byte[in.read_long()];
        in.read_octet_array(radar, 0, radar.length);
        return new Forecast(text, days, radar);
    }

    void write(OutputStream out) {
        out.write_string(text);
        out.write_long(days.size());
        for (Day day : days) {
            out.write_string(day.sky());
            out.write_long(day.lowest());
            out.write_long(day.highest());
        }
        out.write_long(radar.length);
        out.write_octet_array(radar, 0, radar.length);
    }
}
