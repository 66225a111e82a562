package dev.loadline.clinic.web;

import dev.loadline.clinic.model.Owner;
import dev.loadline.clinic.model.OwnerRepository;
import jakarta.validation.Valid;
import org.springframework.data.domain.PageRequest;
import org.springframework.data.domain.Sort;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.validation.BindingResult;
import org.springframework.web.bind.WebDataBinder;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.InitBinder;
import org.springframework.web.bind.annotation.ModelAttribute;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;

/** Owners: found, shown, entered, changed. */
@Controller
class OwnerController {
    private static final int PAGE_SIZE = 10;

    private final OwnerRepository owners;

    OwnerController(OwnerRepository owners) {
        this.owners = owners;
    }

    @InitBinder("owner")
    void fields(WebDataBinder binder) {
        binder.setAllowedFields("firstName", "lastName", "address", "city", "telephone");
    }

    /** The owner of the address; a form's fields are then bound over it. */
    @ModelAttribute("owner")
    Owner owner(@PathVariable(name = "ownerId", required = false) Integer ownerId) {
        return ownerId == null ? new Owner() : owners.findById(ownerId).orElseThrow(() -> new NotFound("no owner " + ownerId));
    }

    @GetMapping("/find")
    String find() {
        return "find";
    }

    @GetMapping("/owners")
    String list(@RequestParam(defaultValue = "") String name, @RequestParam(defaultValue = "1") int page, Model model) {
        var request = PageRequest.of(Math.max(1, page) - 1, PAGE_SIZE, Sort.by("lastName", "firstName", "id"));
        model.addAttribute("found", owners.findByLastNameStartingWith(name, request));
        model.addAttribute("name", name);
        return "owners";
    }

    @GetMapping("/owners/{ownerId}")
    String show() {
        return "owner";
    }

    @GetMapping({"/new-owner", "/owners/{ownerId}/edit"})
    String form() {
        return "owner-form";
    }

    @PostMapping({"/new-owner", "/owners/{ownerId}/edit"})
    String save(@Valid @ModelAttribute("owner") Owner owner, BindingResult result) {
        if (result.hasErrors()) {
            return "owner-form";
        }
        return "redirect:/owners/" + owners.save(owner).getId();
    }
}
