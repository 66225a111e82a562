package dev.loadline.clinic.web;

import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.ResponseStatus;

/** There is no such owner, or no such pet of that owner. */
@ResponseStatus(HttpStatus.NOT_FOUND)
class NotFound extends RuntimeException {
    NotFound(String what) {
        super(what);
    }
}
