/**
 * The servant as an object of CORBA, for brokers of any make: written against the standard interfaces, whose
 * implementations come with a broker (bed/threading-jacorb, bed/threading-glassfish). Nothing here is loaded without one.
 */
package dev.loadline.threading.corba;
