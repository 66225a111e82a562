package dev.loadline.bed;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.zip.CRC32;
import java.util.zip.Deflater;

/**
 * A real picture of a chosen size in bytes: smooth grey waves with noise in the low bits, because
 * noise does not compress and so decides how large the file is.
 */
public final class Png {
    private static final byte[] SIGNATURE = {(byte) 0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
    private static final byte GREY_8_BIT = 8;

    private Png() {
    }

    /** A picture; each pixel adds about {@code noiseBits} bits to the file. */
    public static byte[] picture(int width, int height, int noiseBits, long seed) {
        // java.util.Random's algorithm is specified, so these bytes are the same on every JDK.
        var random = new Random(seed);
        byte[] rows = new byte[(width + 1) * height];
        double slope = random.nextDouble() * 0.1;
        int at = 0;
        for (int y = 0; y < height; y++) {
            rows[at++] = 0;
            for (int x = 0; x < width; x++) {
                int wave = (int) (128 + 80 * Math.sin(slope * x + 0.05 * y));
                rows[at++] = (byte) ((wave & -(1 << noiseBits)) | random.nextInt(1 << noiseBits));
            }
        }
        var header = ByteBuffer.allocate(13).putInt(width).putInt(height).put(GREY_8_BIT);
        var out = new ByteArrayOutputStream();
        out.writeBytes(SIGNATURE);
        chunk(out, "IHDR", header.array());
        chunk(out, "IDAT", deflate(rows));
        chunk(out, "IEND", new byte[0]);
        return out.toByteArray();
    }

    private static byte[] deflate(byte[] bytes) {
        var deflater = new Deflater();
        deflater.setInput(bytes);
        deflater.finish();
        var out = new ByteArrayOutputStream();
        byte[] buffer = new byte[8192];
        while (!deflater.finished()) {
            out.write(buffer, 0, deflater.deflate(buffer));
        }
        deflater.end();
        return out.toByteArray();
    }

    private static void chunk(ByteArrayOutputStream out, String type, byte[] data) {
        byte[] name = type.getBytes(StandardCharsets.US_ASCII);
        var crc = new CRC32();
        crc.update(name);
        crc.update(data);
        out.writeBytes(ByteBuffer.allocate(4).putInt(data.length).array());
        out.writeBytes(name);
        out.writeBytes(data);
        out.writeBytes(ByteBuffer.allocate(4).putInt((int) crc.getValue()).array());
    }
}
