package dev.loadline.agent;

import java.io.IOException;
import java.io.InputStream;

/** Class files of the agent's jar, for those who define them in another loader. */
public final class ClassBytes {
    private ClassBytes() {}

    /** The file of a class with this name, {@code a.b.C} or {@code a/b/C}. */
    public static byte[] of(String className) throws IOException {
        String path = "/" + className.replace('.', '/') + ".class";
        try (InputStream in = ClassBytes.class.getResourceAsStream(path)) {
            if (in == null) {
                throw new IOException("the agent's jar lacks " + path);
            }
            return in.readAllBytes();
        }
    }
}
