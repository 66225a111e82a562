package dev.loadline.agent.probes;

import java.nio.charset.StandardCharsets;

/**
 * Guesses from a class file's constants whether it may hold methods that a rule by shape wants.
 *
 * <p>This looks at every class that is loaded while recording, so it only walks the constant pool
 * once, comparing lengths first. A class that merely calls such methods is taken too; the rules
 * then find nothing in it.
 */
final class ClassShape {
    private static final byte[][] SIGNS = {
        utf8("chooseEngineServerAlias"),
        utf8("()Ljava/sql/Connection;"),
        utf8("()Ljava/sql/ResultSet;"),
        utf8("(Ljava/lang/String;)Ljava/sql/ResultSet;"),
        utf8("(Ljava/lang/String;)Ljava/sql/PreparedStatement;"),
        utf8("(Ljava/lang/String;Lorg/omg/CORBA/portable/InputStream;Lorg/omg/CORBA/portable/ResponseHandler;)"
                + "Lorg/omg/CORBA/portable/OutputStream;"),
        utf8(filter("jakarta")),
        utf8(filter("javax")),
        utf8("(Lkotlin/coroutines/CoroutineContext;Ljava/lang/Runnable;)V"),
    };
    private static final int MAGIC = 0xCAFEBABE;
    private static final int POOL = 10;

    private ClassShape() {}

    /** Whether a class file may hold such methods; false for what is no class file. */
    static boolean mayMatch(byte[] classFile) {
        if (classFile.length < POOL || int32(classFile, 0) != MAGIC) {
            return false;
        }
        int count = int16(classFile, 8);
        int at = POOL;
        for (int i = 1; i < count && at + 3 <= classFile.length; i++) {
            int tag = classFile[at];
            switch (tag) {
                case 1: // Utf8
                    int length = int16(classFile, at + 1);
                    if (isSign(classFile, at + 3, length)) {
                        return true;
                    }
                    at += 3 + length;
                    break;
                case 5: // Long
                case 6: // Double
                    at += 9;
                    i++; // takes two places
                    break;
                case 7: // Class
                case 8: // String
                case 16: // MethodType
                case 19: // Module
                case 20: // Package
                    at += 3;
                    break;
                case 15: // MethodHandle
                    at += 4;
                    break;
                case 3: // Integer
                case 4: // Float
                case 9: // references
                case 10:
                case 11:
                case 12: // NameAndType
                case 17: // Dynamic
                case 18: // InvokeDynamic
                    at += 5;
                    break;
                default:
                    return false;
            }
        }
        return false;
    }

    private static boolean isSign(byte[] classFile, int at, int length) {
        if (at + length > classFile.length) {
            return false;
        }
        for (byte[] sign : SIGNS) {
            if (sign.length == length && equal(classFile, at, sign)) {
                return true;
            }
        }
        return false;
    }

    private static boolean equal(byte[] classFile, int at, byte[] sign) {
        for (int i = sign.length - 1; i >= 0; i--) { // they differ at the end rather than at the begin
            if (classFile[at + i] != sign[i]) {
                return false;
            }
        }
        return true;
    }

    private static int int32(byte[] b, int at) {
        return int16(b, at) << 16 | int16(b, at + 2);
    }

    private static int int16(byte[] b, int at) {
        return (b[at] & 0xFF) << 8 | b[at + 1] & 0xFF;
    }

    private static String filter(String edition) {
        String servlet = "L" + edition + "/servlet/";
        return "(" + servlet + "ServletRequest;" + servlet + "ServletResponse;" + servlet + "FilterChain;)V";
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
