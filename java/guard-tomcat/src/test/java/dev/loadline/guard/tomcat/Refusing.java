package dev.loadline.guard.tomcat;

import dev.loadline.guard.InsideForTest;

/** A Tomcat that refuses everybody, until its input ends: what clients show then is drawn and noted ({@code scripts/picture-refused}). */
final class Refusing {
    private Refusing() {}

    /** @param options of the guard, one argument; prints the port */
    public static void main(String[] options) throws Exception {
        try (var server = new TestServer("cpus=64; fullCost=80000s; resumedCost=1us; probeShare=0; pageShare=1; " + options[0], "TLSv1.2+TLSv1.3")) {
            new TlsClient("TLSv1.3", server.port()).served();
            Thread.sleep(500); // until there is something to refuse by page with
            System.out.println(server.port());
            while (System.in.read() >= 0) {
                InsideForTest.makeBusy(server.protocol().guard());
            }
        }
    }
}
