/**
 * The guard in Spring Boot, by a dependency alone: each Tomcat that serves HTTPS gets a guarded connector, and where TLS ends
 * before the application, or its server is another one, its requests are guarded by a filter.
 *
 * <p>One jar serves Boot 3 and 4. What is used of them has the same name in both; Boot's own classes around Tomcat, which
 * moved to another package in between, are met by the names of their methods ({@link dev.loadline.guard.spring.GuardedTomcats}).
 */
package dev.loadline.guard.spring;
