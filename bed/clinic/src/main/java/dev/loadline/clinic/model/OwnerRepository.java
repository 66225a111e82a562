package dev.loadline.clinic.model;

import org.springframework.data.domain.Page;
import org.springframework.data.domain.Pageable;
import org.springframework.data.jpa.repository.JpaRepository;

public interface OwnerRepository extends JpaRepository<Owner, Integer> {
    /** Those whose last name begins so; all, for an empty one. */
    Page<Owner> findByLastNameStartingWith(String lastName, Pageable page);
}
