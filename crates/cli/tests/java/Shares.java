import dev.loadline.share.Share;

/** Says what it has whenever that changes, and how many processors the JVM sees then. */
public class Shares {
    public static void main(String[] arguments) throws InterruptedException {
        Share.shared().onChange(now -> System.out.println(
                "has " + now.cpus() + " sees " + Runtime.getRuntime().availableProcessors() + " managed " + now.managed()));
        Thread.sleep(Long.parseLong(arguments[0]) * 1000);
    }
}
