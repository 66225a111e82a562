/** The servant of bed/threading on GlassFish's object request broker, which was once the JDK's. */
package dev.loadline.threading.glassfish;
