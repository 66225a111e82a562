package dev.loadline.agent.hooks.netty;

import dev.loadline.agent.hooks.Fields;
import dev.loadline.agent.hooks.Hook;
import dev.loadline.agent.hooks.Hooks;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ServerChannel;
import io.netty.channel.SingleThreadEventLoop;
import java.lang.reflect.Method;
import java.nio.channels.SelectionKey;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Hooks in the channels of one event loop. */
public final class NettyLoop implements Hook {
    private static final String CHANNEL = Channel.class.getName();
    private static final String CHANNELS = CHANNEL.substring(0, CHANNEL.lastIndexOf('.') + 1);
    /** How long a loop that is busy with something else is waited for; it does what it was asked for later, then. */
    private static final long PATIENCE_MILLIS = 50;
    /** How often a loop is woken to see whether it serves now. */
    private static final long REST_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final Set<Class<? extends ChannelHandler>> OURS =
            Set.of(Accepts.class, RecordedChannel.class, UntilHttp.class, Messages.class, Streams.class);

    private final SingleThreadEventLoop loop;
    private final Hooks.Access access;
    private volatile boolean serves;
    private volatile boolean missesStreams;
    private long looked = System.nanoTime();
    /** What the loop was asked for last. */
    private FutureTask<Void> asked;

    private NettyLoop(SingleThreadEventLoop loop, Hooks.Access access) {
        this.loop = loop;
        this.access = access;
    }

    /** Puts the hooks into a loop: called by name. */
    public static Hook into(Object loop, Hooks.Access access) throws ReflectiveOperationException {
        try {
            Messages.load();
        } catch (NoClassDefFoundError otherProtocol) {
            return null; // a Netty without HTTP
        }
        NettyLoop hook = new NettyLoop((SingleThreadEventLoop) loop, access);
        hook.onLoop(hook::put);
        hook.await();
        return hook;
    }

    /** A loop may be given its server's channel, or the first that it accepted, later. */
    @Override
    public void refresh() {
        if (serves || System.nanoTime() - looked < REST_NANOS) {
            return; // all that a server's channel accepts has its handler from that
        }
        looked = System.nanoTime();
        try {
            if (asked.isDone()) {
                await(); // what it came to, if nobody waited for that
            }
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
        onLoop(this::put); // the caller has others to look after: nobody waits
    }

    private Void put() throws ReflectiveOperationException {
        for (Channel channel : channels()) {
            ChannelPipeline pipeline = channel.pipeline();
            if (channel instanceof ServerChannel) {
                serves = true;
                if (pipeline.get(Accepts.class) == null) {
                    pipeline.addFirst(new Accepts(this));
                }
            } else if (channel.parent() instanceof ServerChannel) {
                serves = true;
                if (pipeline.get(RecordedChannel.class) == null) {
                    pipeline.addFirst(new RecordedChannel(this));
                }
            }
        }
        return null;
    }

    @Override
    public void remove() {
        try {
            onLoop(() -> {
                for (Channel channel : channels()) {
                    for (ChannelHandler handler : channel.pipeline().toMap().values()) {
                        if (OURS.contains(handler.getClass())) {
                            channel.pipeline().remove(handler);
                        } else if (RecordedChannel.HTTP_2) {
                            NumberedStreams.outOf(handler, this);
                        }
                    }
                }
                return null;
            });
            await();
        } catch (ReflectiveOperationException impossible) {
            throw new IllegalStateException(impossible); // they were put there
        }
    }

    @Override
    public boolean isServer() {
        return serves;
    }

    @Override
    public Set<String> unseen() {
        Set<String> unseen = new HashSet<>();
        if (serves) {
            unseen.add("netty-tasks");
        }
        if (missesStreams) {
            unseen.add("netty-streams");
        }
        return unseen;
    }

    /** A client speaks HTTP/2 to a codec that can not be listened to. */
    void cannotHearStreams() {
        missesStreams = true;
    }

    /** Opens a class's package to hooks. */
    void open(Class<?> type) {
        access.open(type);
    }

    /** Pipelines are changed where they run. */
    private void onLoop(Callable<Void> task) {
        asked = new FutureTask<>(task);
        try {
            loop.execute(asked);
        } catch (RejectedExecutionException over) {
            asked.cancel(false);
        }
    }

    private void await() throws ReflectiveOperationException {
        try {
            asked.get(PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
        } catch (CancellationException | TimeoutException overOrBusy) {
            return;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof ReflectiveOperationException) {
                throw (ReflectiveOperationException) e.getCause();
            }
            throw new IllegalStateException(e.getCause());
        }
    }

    /** Those that are registered with the loop, which knows it for some kinds of transport only; from 4.2 on what handles its input and output does. */
    private List<Channel> channels() throws ReflectiveOperationException {
        List<Channel> all = new ArrayList<>();
        try {
            Iterator<Channel> registered = loop.registeredChannelsIterator();
            registered.forEachRemaining(all::add);
        } catch (UnsupportedOperationException newer) {
            Object handler = Fields.get(loop, "ioHandler");
            access.open(handler.getClass());
            if (handler.getClass().getName().endsWith(".NioIoHandler")) {
                for (Object key : (Iterable<?>) of(handler, "registeredSet")) {
                    add(((SelectionKey) key).attachment(), all);
                }
            } else if (handler.getClass().getName().endsWith(".EpollIoHandler")) {
                for (Object channel : (Iterable<?>) of(handler, "registeredChannelsList")) {
                    all.add((Channel) channel);
                }
            } else {
                throw new NoSuchMethodException("the channels of " + handler.getClass().getName());
            }
        }
        return all;
    }

    /** The channel that a registration with a selector is for. */
    private void add(Object registration, List<Channel> all) throws ReflectiveOperationException {
        Object channel = registration instanceof Channel ? registration
                : Fields.find(access::open, registration, CHANNEL, 2, CHANNELS);
        if (channel != null) {
            all.add((Channel) channel);
        }
    }

    private static Object of(Object handler, String method) throws ReflectiveOperationException {
        Method its = handler.getClass().getDeclaredMethod(method);
        its.setAccessible(true);
        return its.invoke(handler);
    }
}
