/** The pages. Each has {@code <body id="...">} of its own, by which a load generator knows it. No page makes an HTTP session. */
package dev.loadline.clinic.web;
