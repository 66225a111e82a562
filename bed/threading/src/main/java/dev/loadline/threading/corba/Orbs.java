package dev.loadline.threading.corba;

import dev.loadline.threading.Broker;
import org.omg.CORBA.ORB;
import org.omg.CORBA.Policy;
import org.omg.PortableServer.POA;
import org.omg.PortableServer.POAHelper;
import org.omg.PortableServer.Servant;
import org.omg.PortableServer.ThreadPolicyValue;

/** Puts a servant into an object request broker that has just been made. */
public final class Orbs {
    private Orbs() {
    }

    /**
     * Serves from an object adapter of its own.
     *
     * @param threads whether the adapter runs one request at a time, or as the broker sees fit
     */
    public static Broker.Running serve(ORB orb, Servant servant, ThreadPolicyValue threads) throws Exception {
        POA root = POAHelper.narrow(orb.resolve_initial_references("RootPOA"));
        Policy[] policies = {root.create_thread_policy(threads)};
        POA adapter = root.create_POA("servants", root.the_POAManager(), policies);
        byte[] id = adapter.activate_object(servant);
        String ior = orb.object_to_string(adapter.id_to_reference(id));
        root.the_POAManager().activate();
        return new Broker.Running() {
            @Override
            public String ior() {
                return ior;
            }

            @Override
            public void close() {
                // Not until all requests are done: clients have hung up, and some brokers wait for ever for a receiver.
                orb.shutdown(false);
            }
        };
    }
}
