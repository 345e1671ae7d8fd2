// SPDX-License-Identifier: MIT
#include "cubin.h"

#include <elf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

// A section of a cubin, by its number.
struct section {
    const char *name;
    const unsigned char *data;
    uint64_t bytes;
    uint32_t info;
};

static struct section section_at(const struct kal_binary *cubin, int index)
{
    const unsigned char *bytes = cubin->data;
    Elf64_Ehdr header;
    Elf64_Shdr names, own;

    memcpy(&header, bytes, sizeof header);
    memcpy(&names, bytes + header.e_shoff + header.e_shstrndx * sizeof names,
           sizeof names);
    memcpy(&own, bytes + header.e_shoff + (size_t)index * sizeof own, sizeof own);
    return (struct section){ (const char *)bytes + names.sh_offset + own.sh_name,
                             bytes + own.sh_offset, own.sh_size, own.sh_info };
}

static int section_count(const struct kal_binary *cubin)
{
    Elf64_Ehdr header;
    memcpy(&header, cubin->data, sizeof header);
    return header.e_shnum;
}

static bool find_section(const struct kal_binary *cubin, const char *prefix,
                         const char *kernel, struct section *found)
{
    char name[1000];
    snprintf(name, sizeof name, "%s%s", prefix, kernel);
    for (int i = 0; i < section_count(cubin); i++) {
        *found = section_at(cubin, i);
        if (strcmp(found->name, name) == 0)
            return true;
    }
    return false;
}

// The record of `attribute` for a function, in .nv.info: four bytes of format, attribute and
// size, then the function's symbol and a value. -1: none.
static int64_t read_record(const struct section *info, int attribute, uint32_t symbol)
{
    enum { FORMAT_SIZED = 4, HEAD_BYTES = 4 };
    for (uint64_t at = 0; at + HEAD_BYTES <= info->bytes;) {
        const unsigned char *record = info->data + at;
        uint16_t bytes = 0;
        uint32_t pair[2];

        memcpy(&bytes, record + 2, sizeof bytes);
        if (record[0] == FORMAT_SIZED && record[1] == attribute && bytes == sizeof pair) {
            memcpy(pair, record + HEAD_BYTES, sizeof pair);
            if (pair[0] == symbol)
                return pair[1];
        }
        at += HEAD_BYTES + (record[0] == FORMAT_SIZED ? bytes : 0);
    }
    return -1;
}

// The low 24 bits of a code section's info are its function's symbol.
struct cubin_usage cubin_usage_of(const struct kal_binary *cubin, const char *kernel)
{
    enum { ATTRIBUTE_FRAME_BYTES = 0x11, ATTRIBUTE_REGISTERS = 0x2f };
    struct section code = { 0 }, info, shared;
    struct cubin_usage usage = { -1, -1, 0, 0 };

    find_section(cubin, ".text.", kernel, &code);
    usage.code_bytes = (int64_t)code.bytes;
    if (find_section(cubin, ".nv.info", "", &info)) {
        const uint32_t symbol = code.info & 0xffffff;
        usage.registers = read_record(&info, ATTRIBUTE_REGISTERS, symbol);
        usage.stack_bytes = read_record(&info, ATTRIBUTE_FRAME_BYTES, symbol);
    }
    if (find_section(cubin, ".nv.shared.", kernel, &shared))
        usage.group_bytes = (int64_t)shared.bytes;
    return usage;
}

const char *cubin_kernel_name(const struct kal_binary *cubin, int index)
{
    static const char prefix[] = ".text.";
    for (int i = 0; i < section_count(cubin); i++) {
        const struct section section = section_at(cubin, i);
        if (strncmp(section.name, prefix, sizeof prefix - 1) == 0 && index-- == 0)
            return section.name + sizeof prefix - 1;
    }
    return NULL;
}
