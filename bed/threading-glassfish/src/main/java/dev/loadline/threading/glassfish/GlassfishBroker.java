package dev.loadline.threading.glassfish;

import dev.loadline.bed.Options;
import dev.loadline.threading.Broker;
import dev.loadline.threading.Dispatchers;
import dev.loadline.threading.Strategy;
import dev.loadline.threading.Work;
import dev.loadline.threading.corba.Orbs;
import dev.loadline.threading.corba.WorkServant;
import java.util.Properties;
import org.omg.CORBA.ORB;
import org.omg.PortableServer.ThreadPolicyValue;

/**
 * GlassFish's ORB: a selector's thread reads and hands each request to the broker's pool, which is of fixed size, or one of ours
 * that makes a thread for each request.
 */
public final class GlassfishBroker implements Broker {
    private static final String TRANSPORT = "com.sun.corba.ee.transport.";

    @Override
    public String name() {
        return "glassfish";
    }

    @Override
    public Running start(Work servant, Setting setting) throws Exception {
        Strategy strategy = setting.strategy();
        if (strategy == Strategy.PER_CLIENT) {
            // With ORBUseNIOSelectToWait=false it has a reader for each connection; of version 5.0.0 they read requests and answer none.
            throw new Options.UsageException("GlassFish's selector hands every request over: take threaded, per-request or pool");
        }
        // Its threads are those of a pool also where a mutex lets one of them in: the adapter has no policy for that.
        var dispatching = strategy == Strategy.THREADED ? new Setting(Strategy.POOL, setting.virtual(), setting.pool(), setting.port()) : setting;
        var properties = new Properties();
        properties.setProperty("org.omg.CORBA.ORBClass", "com.sun.corba.ee.impl.orb.ORBImpl");
        properties.setProperty("org.omg.CORBA.ORBSingletonClass", "com.sun.corba.ee.impl.orb.ORBSingleton");
        properties.setProperty("com.sun.corba.ee.ORBServerHost", "127.0.0.1");
        if (setting.port() != 0) {
            properties.setProperty("com.sun.corba.ee.ORBListenSocket", "IIOP_CLEAR_TEXT:" + setting.port());
        }
        // The selector's own thread reads, and does not wait for a connection's next request: or it would take a thread of the
        // pool to read, and a second one to serve.
        properties.setProperty(TRANSPORT + "ORBAcceptorSocketUseWorkerThreadForEvent", "false");
        properties.setProperty(TRANSPORT + "ORBConnectionSocketUseWorkerThreadForEvent", "false");
        properties.setProperty(TRANSPORT + "ORBOptimizedReadAlwaysEnterBlockingRead", "false");
        var orb = (com.sun.corba.ee.spi.orb.ORB) ORB.init(new String[0], properties);
        var threads = new WorkThreads(new Dispatchers(dispatching), strategy == Strategy.PER_REQUEST ? Integer.MAX_VALUE : setting.pool());
        orb.setThreadPoolManager(new WorkThreadsManager(threads));
        return Orbs.serve(orb, new WorkServant(strategy == Strategy.THREADED ? servant.serialized() : servant), ThreadPolicyValue.ORB_CTRL_MODEL);
    }
}
