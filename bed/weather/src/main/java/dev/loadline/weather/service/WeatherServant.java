package dev.loadline.weather.service;

import org.omg.CORBA.BAD_OPERATION;
import org.omg.CORBA.portable.InputStream;
import org.omg.CORBA.portable.InvokeHandler;
import org.omg.CORBA.portable.OutputStream;
import org.omg.CORBA.portable.ResponseHandler;
import org.omg.PortableServer.POA;
import org.omg.PortableServer.Servant;

/** A weather service as an object of CORBA. */
final class WeatherServant extends Servant implements InvokeHandler {
    private final Weather weather;

    WeatherServant(Weather weather) {
        this.weather = weather;
    }

    @Override
    public OutputStream _invoke(String operation, InputStream in, ResponseHandler handler) {
        if (!operation.equals(Weather.FORECAST)) {
            throw new BAD_OPERATION("a weather service has no operation " + operation);
        }
        Forecast forecast = weather.forecast(Position.read(in));
        OutputStream out = handler.createReply();
        forecast.write(out);
        return out;
    }

    @Override
    public String[] _all_interfaces(POA poa, byte[] id) {
        return new String[] {Weather.TYPE};
    }
}
