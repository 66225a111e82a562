/** The web server: the page and its picture. */
package dev.loadline.weather.web;
