package dev.loadline.weather.service;

import org.omg.CORBA.portable.InputStream;
import org.omg.CORBA.portable.OutputStream;

/** In degrees, north and east. */
public record Position(double latitude, double longitude) {
    static Position read(InputStream in) {
        return new Position(in.read_double(), in.read_double());
    }

    void write(OutputStream out) {
        out.write_double(latitude);
        out.write_double(longitude);
    }
}
