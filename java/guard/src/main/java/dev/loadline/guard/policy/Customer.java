package dev.loadline.guard.policy;

/** How dear a customer is: new connections of the better class are admitted first. */
public enum Customer { GOLD, SILVER, BRONZE }
