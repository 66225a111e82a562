/**
 * The clinic: a small Spring Boot application as most are written. Owners bring pets, pets have visits, vets have
 * specialties; pages by Spring MVC and Thymeleaf, rows by Spring Data, Hibernate, HikariCP and H2, all in an executable
 * jar of nested jars. A test bed: what is measured on it should be what its like would show.
 */
package dev.loadline.clinic;
