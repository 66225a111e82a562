package dev.loadline.weather.service;

/** Nobody knows where that phone is. */
public final class UnknownPhone extends Exception {
    private static final long serialVersionUID = 1;
    static final String ID = "IDL:loadline/UnknownPhone:1.0";

    private final String phone;

    /** Of that number. */
    public UnknownPhone(String phone) {
        super("no phone has the number " + phone);
        this.phone = phone;
    }

    String phone() {
        return phone;
    }
}
