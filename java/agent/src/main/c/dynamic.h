/*
 * <dlfcn.h>, by the names of its functions that every glibc has. They moved from libdl to libc in 2.34: a library
 * that was built there, and asks for the new ones, does not load into a JVM whose image has an older glibc, as many
 * that are recorded from outside have. Whatever runs a JVM has loaded libdl where they are in it.
 */
#ifndef LOADLINE_DYNAMIC_H
#define LOADLINE_DYNAMIC_H

#include <dlfcn.h>

#if defined(__GLIBC__) && defined(__x86_64__)
#define LOADLINE_FIRST_GLIBC "GLIBC_2.2.5"
#elif defined(__GLIBC__) && defined(__aarch64__)
#define LOADLINE_FIRST_GLIBC "GLIBC_2.17"
#endif

#ifdef LOADLINE_FIRST_GLIBC
__asm__(".symver dlopen,dlopen@" LOADLINE_FIRST_GLIBC);
__asm__(".symver dlsym,dlsym@" LOADLINE_FIRST_GLIBC);
__asm__(".symver dladdr,dladdr@" LOADLINE_FIRST_GLIBC);
#endif

#endif
