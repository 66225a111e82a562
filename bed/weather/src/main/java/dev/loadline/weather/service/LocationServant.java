package dev.loadline.weather.service;

import org.omg.CORBA.BAD_OPERATION;
import org.omg.CORBA.portable.InputStream;
import org.omg.CORBA.portable.InvokeHandler;
import org.omg.CORBA.portable.OutputStream;
import org.omg.CORBA.portable.ResponseHandler;
import org.omg.PortableServer.POA;
import org.omg.PortableServer.Servant;

/** A location as an object of CORBA. */
final class LocationServant extends Servant implements InvokeHandler {
    private final Location location;

    LocationServant(Location location) {
        this.location = location;
    }

    @Override
    public OutputStream _invoke(String operation, InputStream in, ResponseHandler handler) {
        if (!operation.equals(Location.LOCATE)) {
            throw new BAD_OPERATION("a location has no operation " + operation);
        }
        try {
            Position found = location.locate(in.read_string());
            OutputStream out = handler.createReply();
            found.write(out);
            return out;
        } catch (UnknownPhone e) {
            OutputStream out = handler.createExceptionReply();
            out.write_string(UnknownPhone.ID);
            out.write_string(e.phone());
            return out;
        }
    }

    @Override
    public String[] _all_interfaces(POA poa, byte[] id) {
        return new String[] {Location.TYPE};
    }
}
