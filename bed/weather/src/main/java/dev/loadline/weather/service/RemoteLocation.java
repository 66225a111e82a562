package dev.loadline.weather.service;

import org.omg.CORBA.portable.ApplicationException;

/** A location server somewhere else. */
public final class RemoteLocation extends Remote implements Location {
    private static final long serialVersionUID = 1;

    /** At a broker's reference. */
    public RemoteLocation(org.omg.CORBA.Object reference) {
        super(reference, TYPE);
    }

    @Override
    public Position locate(String phone) throws UnknownPhone {
        try {
            return call(LOCATE, out -> out.write_string(phone), Position::read);
        } catch (ApplicationException e) {
            if (e.getId().equals(UnknownPhone.ID)) {
                // Its id stands before what it holds.
                e.getInputStream().read_string();
                throw new UnknownPhone(e.getInputStream().read_string());
            }
            throw undeclared(e);
        }
    }
}
