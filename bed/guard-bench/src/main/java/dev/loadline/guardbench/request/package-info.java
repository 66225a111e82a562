/** What deciding about a request takes. */
package dev.loadline.guardbench.request;
