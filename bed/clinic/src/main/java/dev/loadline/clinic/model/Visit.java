package dev.loadline.clinic.model;

import jakarta.persistence.Entity;
import jakarta.persistence.FetchType;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.ManyToOne;
import java.time.LocalDate;

/** What was done to a pet on one day. */
@Entity
public class Visit {
    @Id
    @GeneratedValue(strategy = GenerationType.IDENTITY)
    private Integer id;
    private LocalDate visited;
    private String description;
    @ManyToOne(fetch = FetchType.LAZY)
    private Pet pet;

    protected Visit() {
    }

    public Visit(Pet pet, LocalDate visited, String description) {
        this.pet = pet;
        this.visited = visited;
        this.description = description;
    }

    public Integer getId() {
        return id;
    }

    public LocalDate getVisited() {
        return visited;
    }

    public String getDescription() {
        return description;
    }
}
