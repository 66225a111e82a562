package dev.loadline.weather.service;

import org.omg.CORBA.UNKNOWN;
import org.omg.CORBA.portable.ApplicationException;
import org.omg.CORBA.portable.Delegate;
import org.omg.CORBA.portable.InputStream;
import org.omg.CORBA.portable.ObjectImpl;
import org.omg.CORBA.portable.OutputStream;
import org.omg.CORBA.portable.RemarshalException;

/** The other side of a servant: what an IDL compiler calls a stub. */
abstract class Remote extends ObjectImpl {
    private static final long serialVersionUID = 1;
    private final String type;

    /** Of the object that an ORB's reference means. */
    Remote(org.omg.CORBA.Object reference, String type) {
        this.type = type;
        Delegate delegate = ((ObjectImpl) reference)._get_delegate();
        _set_delegate(delegate);
    }

    /** Writes what an operation is given. */
    interface Arguments {
        void write(OutputStream out);
    }

    /** Reads what it answers. */
    interface Answer<T> {
        T read(InputStream in);
    }

    /** Calls, again if the broker has found another address for the object. */
    final <T> T call(String operation, Arguments arguments, Answer<T> answer) throws ApplicationException {
        while (true) {
            InputStream in = null;
            try {
                OutputStream out = _request(operation, true);
                arguments.write(out);
                in = _invoke(out);
                return answer.read(in);
            } catch (RemarshalException e) {
                continue;
            } finally {
                _releaseReply(in);
            }
        }
    }

    static UNKNOWN undeclared(ApplicationException e) {
        return new UNKNOWN("an exception that the interface does not declare: " + e.getId());
    }

    @Override
    public String[] _ids() {
        return new String[] {type};
    }
}
