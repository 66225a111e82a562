/** The entities and their repositories. Pets and visits come with their owner, as small applications have it: in batches of 16. */
package dev.loadline.clinic.model;
