package dev.loadline.agent.hooks;

import dev.loadline.agent.ClassBytes;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.util.Map;
import java.util.WeakHashMap;
import net.bytebuddy.jar.asm.ClassReader;
import net.bytebuddy.jar.asm.ClassWriter;
import net.bytebuddy.jar.asm.commons.ClassRemapper;
import net.bytebuddy.jar.asm.commons.Remapper;

/**
 * Defines the classes of one package of the agent's beside a server's, so that they may extend and
 * implement the server's types. Beside a server from before Jakarta EE 9 they have servlets of {@code javax}; beside a Netty
 * that was moved into another package, as in gRPC's jar, they have that.
 */
final class Neighbour extends ClassLoader {
    private static final String AGENT = "dev.loadline.agent.";
    /** Those in use: recordings that follow each other share their classes. */
    private static final Map<ClassLoader, Map<String, WeakReference<Neighbour>>> KNOWN = new WeakHashMap<>();

    private static final String JAKARTA = "jakarta/servlet/";
    private static final String NETTY = "io/netty/";

    private final String own;
    private final boolean isBeforeJakarta;
    /** What stands before the names of Netty's packages; nearly always nothing. */
    private final String nettyIsIn;

    private Neighbour(String own, ClassLoader parent, String nettyIsIn) {
        super(parent);
        this.own = own;
        this.nettyIsIn = nettyIsIn;
        isBeforeJakarta = parent != null && parent.getResource(JAKARTA + "Servlet.class") == null
                && parent.getResource("javax/servlet/Servlet.class") != null;
    }

    /** The neighbour of the loader of a server's class, for the classes of one package. */
    static synchronized Neighbour of(Class<?> server, String ownPackage) {
        Map<String, WeakReference<Neighbour>> beside =
                KNOWN.computeIfAbsent(server.getClassLoader(), unused -> new java.util.HashMap<>());
        String name = server.getName().replace('.', '/');
        String nettyIsIn = name.substring(0, name.indexOf("/" + NETTY) + 1);
        WeakReference<Neighbour> known = beside.get(nettyIsIn + ownPackage);
        Neighbour neighbour = known == null ? null : known.get();
        if (neighbour == null) {
            neighbour = new Neighbour(ownPackage, server.getClassLoader(), nettyIsIn);
            beside.put(nettyIsIn + ownPackage, new WeakReference<>(neighbour));
        }
        return neighbour;
    }

    /** The file of a class of the agent's, with the names that its types have here. */
    private byte[] file(String className) throws IOException {
        byte[] file = ClassBytes.of(className);
        if (!isBeforeJakarta && nettyIsIn.isEmpty()) {
            return file;
        }
        ClassWriter renamed = new ClassWriter(0);
        new ClassReader(file).accept(new ClassRemapper(renamed, new Remapper() {
            @Override
            public String map(String name) {
                if (isBeforeJakarta && name.startsWith(JAKARTA)) {
                    return "javax/" + name.substring("jakarta/".length());
                }
                return name.startsWith(NETTY) ? nettyIsIn + name : name;
            }
        }), 0);
        return renamed.toByteArray();
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            if (loaded != null) {
                return loaded;
            }
            if (name.startsWith(own)) {
                try {
                    byte[] file = file(name);
                    return defineClass(name, file, 0, file.length);
                } catch (IOException e) {
                    throw new ClassNotFoundException(name, e);
                }
            }
            // The server's loader need not see the agent's, nor pass its boot classes on.
            return name.startsWith(AGENT)
                    ? Class.forName(name, false, Neighbour.class.getClassLoader())
                    : super.loadClass(name, resolve);
        }
    }
}
