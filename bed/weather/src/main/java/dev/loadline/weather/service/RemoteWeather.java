package dev.loadline.weather.service;

import org.omg.CORBA.portable.ApplicationException;

/** A weather server somewhere else. */
public final class RemoteWeather extends Remote implements Weather {
    private static final long serialVersionUID = 1;

    /** At a broker's reference. */
    public RemoteWeather(org.omg.CORBA.Object reference) {
        super(reference, TYPE);
    }

    @Override
    public Forecast forecast(Position here) {
        try {
            return call(FORECAST, here::write, Forecast::read);
        } catch (ApplicationException e) {
            throw undeclared(e);
        }
    }
}
