package dev.loadline.agent;

import java.io.FileDescriptor;
import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.channels.ServerSocketChannel;

/**
 * Those who connect to a Unix domain socket, each as its descriptor: to be read and written by file streams, which do that and
 * nothing else. Channels share their code with the server's own sockets, for which HotSpot compiled it: that of another family or
 * in blocking mode would be new to it, and have it thrown away just when a recording begins. So this calls what they call, which
 * is the same from 16 to 25 at least; where it cannot be called there is no door.
 */
final class Callers {
    private final FileDescriptor server;
    private final Method accept;

    Callers(ServerSocketChannel server, Instrumentation instrumentation) throws ReflectiveOperationException {
        Class<?> channel = Class.forName("sun.nio.ch.SelChImpl");
        Class<?> sockets = Class.forName("sun.nio.ch.UnixDomainSockets");
        Modules.open(instrumentation, sockets, Callers.class.getModule());
        this.server = (FileDescriptor) channel.getMethod("getFD").invoke(server);
        this.accept = sockets.getDeclaredMethod("accept", FileDescriptor.class, FileDescriptor.class, String[].class);
        this.accept.setAccessible(true);
    }

    /** Waits for one. */
    FileDescriptor next() throws IOException {
        FileDescriptor caller = new FileDescriptor();
        String[] address = new String[1];
        try {
            for (;;) {
                if ((int) accept.invoke(null, server, caller, address) > 0) {
                    return caller;
                }
                // A signal came.
            }
        } catch (InvocationTargetException e) {
            throw new IOException(e.getCause());
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e); // it was made accessible
        }
    }
}
