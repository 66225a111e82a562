package dev.loadline.auction.data;

/** The request was well formed, but the market says no: outbid, sold out, ended, taken. Says which. */
public final class Declined extends Exception {
    Declined(String why) {
        // A normal answer, not a fault: a stack trace would cost more than the page.
        super(why, null, false, false);
    }
}
