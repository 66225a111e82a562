package dev.loadline.clinic.web;

import dev.loadline.clinic.model.VetRepository;
import org.springframework.data.domain.PageRequest;
import org.springframework.data.domain.Sort;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;

/** The list of vets. */
@Controller
class VetController {
    private static final int PAGE_SIZE = 10;

    private final VetRepository vets;

    VetController(VetRepository vets) {
        this.vets = vets;
    }

    @GetMapping("/vets")
    String list(@RequestParam(defaultValue = "1") int page, Model model) {
        model.addAttribute("found", vets.findAll(PageRequest.of(Math.max(1, page) - 1, PAGE_SIZE, Sort.by("lastName", "firstName", "id"))));
        return "vets";
    }
}
