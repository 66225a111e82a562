package dev.loadline.threading.jacorb;

import dev.loadline.bed.Options;
import dev.loadline.threading.Broker;
import dev.loadline.threading.Strategy;
import dev.loadline.threading.Work;
import dev.loadline.threading.corba.Orbs;
import dev.loadline.threading.corba.WorkServant;
import org.omg.CORBA.ORB;
import org.omg.PortableServer.ThreadPolicyValue;

/**
 * JacORB: a thread receives from each connection and puts requests into the queue of their object adapter; one thread of the
 * adapter takes them from there and gives each to a thread of the adapter's pool. So there is no thread per client.
 */
public final class JacorbBroker implements Broker {
    /** More threads than clients. */
    private static final int UNBOUNDED = 10_000;

    @Override
    public String name() {
        return "jacorb";
    }

    @Override
    public Running start(Work servant, Setting setting) throws Exception {
        if (setting.virtual()) {
            throw new Options.UsageException("JacORB makes its threads itself, and they are platform threads: leave --virtual away");
        }
        int least = 1;
        int most = 1;
        switch (setting.strategy()) {
            case PER_CLIENT -> throw new Options.UsageException("JacORB never runs a servant in the thread that receives: take threaded, per-request or pool");
            // Its pool keeps one idle thread at the least, so that one of those that end together does not.
            case PER_REQUEST -> most = UNBOUNDED;
            case POOL -> least = most = setting.pool();
            // The single-thread policy of its adapter: not a mutex that receivers wait for but one thread that serves.
            case THREADED -> { }
            default -> throw new IllegalStateException("no strategy " + setting.strategy());
        }
        ORB orb = Jacorb.server(setting.port(), least, most);
        var policy = setting.strategy() == Strategy.THREADED ? ThreadPolicyValue.SINGLE_THREAD_MODEL : ThreadPolicyValue.ORB_CTRL_MODEL;
        return Orbs.serve(orb, new WorkServant(servant), policy);
    }
}
