/**
 * A local weather service: a visitor asks a web server for the forecast where the phone is, and for its picture.
 *
 * <p>Terms: the <em>web server</em> is a Tomcat with one servlet for the page and one for pictures; the page's servlet
 * authenticates the visitor, asks the <em>location server</em> where the phone is and the <em>weather server</em> for the
 * forecast there, one after the other, and puts the picture of it on disk, where the visitor's second request finds it.
 * Location and weather are CORBA servants, each on a broker with its own pool of threads. Databases are delays: none in
 * scenario A, where the CPU is what runs out; in scenario B 30 ms to authenticate, 310 ms to locate, 110 ms to forecast,
 * where threads are.
 *
 * <p>What always holds: the same phone is always in the same place, and has the same forecast.
 *
 * <p>The servers, their threads, scenarios and sizes (a page of 2,500 bytes, a picture of 25,000 whose MD5 is computed when it
 * is fetched) are those of M. Harkema, <em>Performance Modeling of Object Middleware</em>, chapter 6; {@code models/weather.toml}
 * is a model of it.
 */
package dev.loadline.weather;
