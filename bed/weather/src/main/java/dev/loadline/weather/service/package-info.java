/** Location and weather: what they are, as objects of CORBA, and how they are called ({@code src/main/idl/weather.idl}). */
package dev.loadline.weather.service;
