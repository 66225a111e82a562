package dev.loadline.clinic.web;

import dev.loadline.clinic.model.Pet;
import dev.loadline.clinic.model.PetRepository;
import dev.loadline.clinic.model.Visit;
import dev.loadline.clinic.model.VisitRepository;
import jakarta.validation.Valid;
import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.NotNull;
import java.time.LocalDate;
import org.springframework.format.annotation.DateTimeFormat;
import org.springframework.format.annotation.DateTimeFormat.ISO;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.validation.BindingResult;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.ModelAttribute;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;

/** Enters a pet's visit. */
@Controller
@RequestMapping("/owners/{ownerId}/pets/{petId}/visits/new")
class VisitController {
    private final PetRepository pets;
    private final VisitRepository visits;

    VisitController(PetRepository pets, VisitRepository visits) {
        this.pets = pets;
        this.visits = visits;
    }

    /** What the form asks for. */
    record Entry(@NotNull @DateTimeFormat(iso = ISO.DATE) LocalDate day, @NotBlank String description) {
    }

    @ModelAttribute("pet")
    Pet pet(@PathVariable int ownerId, @PathVariable int petId) {
        return pets.findByIdAndOwnerId(petId, ownerId).orElseThrow(() -> new NotFound("no pet " + petId + " of owner " + ownerId));
    }

    @GetMapping
    String form(Model model) {
        model.addAttribute("entry", new Entry(LocalDate.now(), ""));
        return "visit-form";
    }

    @PostMapping
    String save(@Valid @ModelAttribute("entry") Entry entry, BindingResult result, @ModelAttribute("pet") Pet pet, @PathVariable int ownerId) {
        if (result.hasErrors()) {
            return "visit-form";
        }
        visits.save(new Visit(pet, entry.day(), entry.description()));
        return "redirect:/owners/" + ownerId;
    }
}
