// SPDX-License-Identifier: MIT
// GLSL to SPIR-V. Only glslang is behind this file, and only this file is in front of it.
#include <glslang/Include/glslang_c_interface.h>
#include <glslang/Public/resource_limits_c.h>
#include <kallima/kallima.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "device/spirv/module/module.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT extern const char kallima_spirv_version[];
EXPORT kal_spirv_compile kallima_spirv_compile;

const char kallima_spirv_version[] = KALLIMA_VERSION;

static glslang_resource_t limits;

// The device's own limits are asked before: here a group may have any number of lanes.
static void start(void)
{
    enum { ANY = 1 << 20 };
    glslang_initialize_process();
    limits = *glslang_default_resource();
    limits.max_compute_work_group_size_x = ANY;
}

static bool compile(glslang_shader_t *shader, const glslang_input_t *input, char *log,
                    size_t capacity)
{
    if (glslang_shader_preprocess(shader, input) && glslang_shader_parse(shader, input))
        return true;
    snprintf(log, capacity, "%s", glslang_shader_get_info_log(shader));
    return false;
}

static bool link(glslang_program_t *program, int messages, char *log, size_t capacity)
{
    if (glslang_program_link(program, messages))
        return true;
    snprintf(log, capacity, "%s", glslang_program_get_info_log(program));
    return false;
}

static bool generate(glslang_program_t *program, kal_spirv_allocate *allocate, void *user,
                     uint32_t **words, size_t *bytes)
{
    glslang_program_SPIRV_generate(program, GLSLANG_STAGE_COMPUTE);
    *bytes = glslang_program_SPIRV_get_size(program) * sizeof(uint32_t);
    *words = allocate(user, *bytes);
    if (*words)
        memcpy(*words, glslang_program_SPIRV_get_ptr(program), *bytes);
    return *words != NULL;
}

bool kallima_spirv_compile(const char *text, kal_spirv_allocate *allocate, void *user,
                           uint32_t **words, size_t *bytes, char *log, size_t capacity)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const glslang_input_t input = {
        .language = GLSLANG_SOURCE_GLSL,
        .stage = GLSLANG_STAGE_COMPUTE,
        .client = GLSLANG_CLIENT_VULKAN,
        .client_version = GLSLANG_TARGET_VULKAN_1_1,
        .target_language = GLSLANG_TARGET_SPV,
        .target_language_version = GLSLANG_TARGET_SPV_1_3,
        .code = text,
        .default_version = 450,
        .default_profile = GLSLANG_NO_PROFILE,
        .messages = GLSLANG_MSG_SPV_RULES_BIT | GLSLANG_MSG_VULKAN_RULES_BIT,
        .resource = &limits,
    };

    *words = NULL;
    log[0] = '\0';
    pthread_once(&once, start);
    glslang_shader_t *shader = glslang_shader_create(&input);
    glslang_program_t *program = glslang_program_create();
    bool is_made = shader && program && compile(shader, &input, log, capacity);
    if (is_made) {
        glslang_program_add_shader(program, shader);
        is_made = link(program, input.messages, log, capacity) &&
                  generate(program, allocate, user, words, bytes);
    }
    glslang_program_delete(program);
    glslang_shader_delete(shader);
    return is_made;
}
