/** What the sites of the test bed share: a self-signed certificate made at start, and the file that tells their port. */
package dev.loadline.bed;
