/** Calls native code: Quay LIBRARY MILLIS; five ships at the end of each 20 ms. */
public class Quay {
    static native void land(long crates);

    public static void main(String[] args) throws InterruptedException {
        System.load(args[0]);
        long end = System.nanoTime() + Long.parseLong(args[1]) * 1_000_000;
        long ships = 0;
        while (System.nanoTime() < end) {
            land(++ships);
            Thread.sleep(20);
        }
        System.out.println("ships " + ships);
    }
}
