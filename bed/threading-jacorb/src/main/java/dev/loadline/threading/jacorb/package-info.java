/** The servant of bed/threading on JacORB. */
package dev.loadline.threading.jacorb;
