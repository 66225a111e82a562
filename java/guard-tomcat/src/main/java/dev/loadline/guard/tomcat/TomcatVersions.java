package dev.loadline.guard.tomcat;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The Tomcats that the guard is tested with, of each branch from the oldest on which it works to the newest there was (VersionsTest). */
final class TomcatVersions {
    static final String OLDEST_10 = "10.1.6";
    static final String NEWEST_10 = "10.1.61";
    static final String OLDEST_11 = "11.0.0";
    static final String NEWEST_11 = "11.0.27";

    private static final Pattern NUMBER = Pattern.compile("(\\d+)\\.(\\d+)\\.(\\d+)(.*)");

    private TomcatVersions() {}

    /**
     * What is to be said of a server; null: nothing.
     *
     * @param number as Tomcat tells it, such as 10.1.43.0
     */
    static String complaint(String number) {
        String tested = "the guard is tested with " + OLDEST_10 + " to " + NEWEST_10 + " and " + OLDEST_11 + " to " + NEWEST_11;
        Matcher read = NUMBER.matcher(number);
        if (!read.matches()) {
            return "this is Tomcat '" + number + "', of which no version can be read; " + tested;
        }
        String branch = read.group(1) + "." + read.group(2);
        String oldest = branch.equals("10.1") ? OLDEST_10 : branch.equals("11.0") ? OLDEST_11 : null;
        if (oldest == null) {
            return "this is Tomcat " + number + ", and " + tested + ": try it with mode=observe first";
        }
        boolean milestone = read.group(4).contains("-M");
        if (milestone || Integer.parseInt(read.group(3)) < Integer.parseInt(oldest.substring(branch.length() + 1))) {
            return "this is Tomcat " + number + ", which is older than " + oldest + ", the oldest of its branch on which the guard works: update Tomcat; " + tested;
        }
        return null;
    }
}
