/* See layout.h. */
#define _GNU_SOURCE
#include "layout.h"

#include <string.h>

#include "dynamic.h"

void *layout_libjvm(JavaVM *vm) {
    Dl_info library;
    if (dladdr((void *)(*vm)->GetEnv, &library) == 0) {
        return NULL;
    }
    return dlopen(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

static uint64_t number(void *libjvm, const char *name) {
    uint64_t *symbol = dlsym(libjvm, name);
    return symbol == NULL ? 0 : *symbol;
}

/* The entry of a field; NULL if there is none. */
static uint8_t *entry_of(void *libjvm, const char *type_suffix, const char *name) {
    uint8_t **entries = dlsym(libjvm, "gHotSpotVMStructs");
    uint64_t stride = number(libjvm, "gHotSpotVMStructEntryArrayStride");
    uint64_t type_at = number(libjvm, "gHotSpotVMStructEntryTypeNameOffset");
    uint64_t name_at = number(libjvm, "gHotSpotVMStructEntryFieldNameOffset");
    if (entries == NULL || *entries == NULL || stride == 0) {
        return NULL;
    }
    for (uint8_t *entry = *entries; *(const char **)(entry + type_at) != NULL; entry += stride) {
        const char *type = *(const char **)(entry + type_at), *its = *(const char **)(entry + name_at);
        size_t length = strlen(type), tail = strlen(type_suffix);
        if (its != NULL && strcmp(its, name) == 0 && length >= tail && strcmp(type + length - tail, type_suffix) == 0) {
            return entry;
        }
    }
    return NULL;
}

int64_t layout_offset(void *libjvm, const char *type_suffix, const char *name) {
    uint8_t *entry = entry_of(libjvm, type_suffix, name);
    uint64_t at = number(libjvm, "gHotSpotVMStructEntryOffsetOffset");
    return entry == NULL || at == 0 ? -1 : *(int64_t *)(entry + at);
}

void *layout_static(void *libjvm, const char *type_suffix, const char *name) {
    uint8_t *entry = entry_of(libjvm, type_suffix, name);
    uint64_t at = number(libjvm, "gHotSpotVMStructEntryAddressOffset");
    return entry == NULL || at == 0 ? NULL : *(void **)(entry + at);
}
