package dev.loadline.programs;

import dev.loadline.agent.testing.Program;
import org.omg.CORBA.Context;
import org.omg.CORBA.ContextList;
import org.omg.CORBA.ExceptionList;
import org.omg.CORBA.NVList;
import org.omg.CORBA.NamedValue;
import org.omg.CORBA.Request;
import org.omg.CORBA.portable.Delegate;
import org.omg.CORBA.portable.InputStream;
import org.omg.CORBA.portable.InvokeHandler;
import org.omg.CORBA.portable.ObjectImpl;
import org.omg.CORBA.portable.OutputStream;
import org.omg.CORBA.portable.ResponseHandler;

/**
 * Calls a skeleton through a stub, as a broker would do it: by CORBA's standard interfaces, and without a network. Not in the
 * package of the other programs, because whatever lies below the agent's own is not probed.
 */
public final class Calls extends Program {
    public static void main(String[] arguments) throws Exception {
        new Calls().serve();
    }

    @Override
    protected String handle(String command) throws Exception {
        var stub = new Stub();
        stub._set_delegate(new Near(new Skeleton()));
        stub._invoke(stub._request(command, true));
        return "";
    }

    private static final class Stub extends ObjectImpl {
        private static final long serialVersionUID = 1;

        @Override
        public String[] _ids() {
            return new String[] {"IDL:loadline/Calls:1.0"};
        }
    }

    private static final class Skeleton implements InvokeHandler {
        @Override
        public OutputStream _invoke(String operation, InputStream in, ResponseHandler handler) {
            if (operation.equals("fail")) {
                throw new org.omg.CORBA.NO_PERMISSION();
            }
            return null;
        }
    }

    /** What a broker is to a stub. */
    private static final class Near extends Delegate {
        private final InvokeHandler servant;
        private String operation;

        Near(InvokeHandler servant) {
            this.servant = servant;
        }

        @Override
        public OutputStream request(org.omg.CORBA.Object self, String asked, boolean responseExpected) {
            operation = asked;
            return null;
        }

        @Override
        public InputStream invoke(org.omg.CORBA.Object self, OutputStream out) {
            try {
                servant._invoke(operation, null, null);
            } catch (org.omg.CORBA.NO_PERMISSION e) {
                // As a reply would bring it: told to the caller by what it reads.
            }
            return null;
        }

        @Override
        public org.omg.CORBA.InterfaceDef get_interface(org.omg.CORBA.Object self) {
            throw new UnsupportedOperationException();
        }

        @Override
        public org.omg.CORBA.Object get_interface_def(org.omg.CORBA.Object self) {
            throw new UnsupportedOperationException();
        }

        @Override
        public String repository_id(org.omg.CORBA.Object self) {
            throw new UnsupportedOperationException();
        }

        @Override
        public org.omg.CORBA.Object duplicate(org.omg.CORBA.Object self) {
            return self;
        }

        @Override
        public void release(org.omg.CORBA.Object self) {
        }

        @Override
        public boolean is_a(org.omg.CORBA.Object self, String id) {
            return false;
        }

        @Override
        public boolean non_existent(org.omg.CORBA.Object self) {
            return false;
        }

        @Override
        public boolean is_equivalent(org.omg.CORBA.Object self, org.omg.CORBA.Object other) {
            return self == other;
        }

        @Override
        public int hash(org.omg.CORBA.Object self, int most) {
            return 0;
        }

        @Override
        public Request request(org.omg.CORBA.Object self, String asked) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Request create_request(org.omg.CORBA.Object self, Context context, String asked, NVList arguments, NamedValue result) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Request create_request(org.omg.CORBA.Object self, Context context, String asked, NVList arguments, NamedValue result,
                ExceptionList exceptions, ContextList contexts) {
            throw new UnsupportedOperationException();
        }
    }
}
