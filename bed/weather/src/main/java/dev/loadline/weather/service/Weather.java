package dev.loadline.weather.service;

/** What the weather will be. */
public interface Weather {
    /** Its type. */
    String TYPE = "IDL:loadline/Weather:1.0";
    /** Its operation. */
    String FORECAST = "forecast";

    /** At a place, for the next days. */
    Forecast forecast(Position here);
}
