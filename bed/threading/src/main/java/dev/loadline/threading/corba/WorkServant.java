package dev.loadline.threading.corba;

import dev.loadline.threading.Work;
import org.omg.CORBA.BAD_OPERATION;
import org.omg.CORBA.portable.InputStream;
import org.omg.CORBA.portable.InvokeHandler;
import org.omg.CORBA.portable.OutputStream;
import org.omg.CORBA.portable.ResponseHandler;
import org.omg.PortableServer.POA;
import org.omg.PortableServer.Servant;

/** What an IDL compiler would make of {@code interface Work { long work(in long number, in long cpu_us, in long delay_us); }}. */
public final class WorkServant extends Servant implements InvokeHandler {
    private final Work work;

    /** Of what does the work. */
    public WorkServant(Work work) {
        this.work = work;
    }

    @Override
    public OutputStream _invoke(String operation, InputStream in, ResponseHandler handler) {
        if (!operation.equals(Work.OPERATION)) {
            throw new BAD_OPERATION("the servant has no operation " + operation);
        }
        int answer = work.work(in.read_long(), in.read_long(), in.read_long());
        OutputStream out = handler.createReply();
        out.write_long(answer);
        return out;
    }

    @Override
    public String[] _all_interfaces(POA poa, byte[] id) {
        return new String[] {Work.TYPE};
    }
}
