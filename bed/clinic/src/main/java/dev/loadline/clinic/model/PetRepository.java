package dev.loadline.clinic.model;

import java.util.Optional;
import org.springframework.data.jpa.repository.JpaRepository;

public interface PetRepository extends JpaRepository<Pet, Integer> {
    /** The pet, if it is that owner's. */
    Optional<Pet> findByIdAndOwnerId(int id, int ownerId);
}
