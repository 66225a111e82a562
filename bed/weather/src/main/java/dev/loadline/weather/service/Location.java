package dev.loadline.weather.service;

/** Where a phone is. */
public interface Location {
    /** Its type. */
    String TYPE = "IDL:loadline/Location:1.0";
    /** Its operation. */
    String LOCATE = "locate";

    /** Where it is now. */
    Position locate(String phone) throws UnknownPhone;
}
