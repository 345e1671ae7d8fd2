// SPDX-License-Identifier: MIT
#include <string.h>

#include "../rows.h"
#include "base/hash.h"

// Source: NIST, examples of FIPS 180-2, appendix B; the empty text and those whose padding
// just fits, or just does not, with sha256sum of GNU coreutils.
static const struct {
    const char *piece;
    int count;
    const char *digest;
} rows[] = {
    { "", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
    { "abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
    { "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
    { "a", 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0" },
    { "a", 55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318" },
    { "a", 56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a" },
    { "a", 63, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34" },
    { "a", 64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb" },
    { "a", 65, "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0" },
};

static void hash_pieces(const char *piece, int count, char text[KAL_HASH_TEXT_BYTES])
{
    uint8_t digest[KAL_HASH_BYTES];
    struct kal_hash hash;

    kal_hash_init(&hash);
    for (int i = 0; i < count; i++)
        kal_hash_add(&hash, piece, strlen(piece));
    kal_hash_finish(&hash, digest);
    kal_hash_print(digest, text);
}

static void hashes_are_those_of_the_standard(void **state)
{
    char text[KAL_HASH_TEXT_BYTES];

    (void)state;
    for (size_t i = 0; i < KAL_COUNT(rows); i++) {
        hash_pieces(rows[i].piece, rows[i].count, text);
        row_ran();
        if (strcmp(text, rows[i].digest) != 0)
            row_fail("%d times \"%s\": %s", rows[i].count, rows[i].piece, text);
    }
    ROWS_FINISH();
}

static void it_does_not_matter_how_bytes_are_cut(void **state)
{
    enum { BYTES = 300 };
    char whole[KAL_HASH_TEXT_BYTES], cut[KAL_HASH_TEXT_BYTES], data[BYTES];
    uint8_t digest[KAL_HASH_BYTES];
    struct kal_hash hash;

    (void)state;
    for (int i = 0; i < BYTES; i++)
        data[i] = (char)(i * 7);
    for (int at = 0; at <= BYTES; at++) {
        kal_hash_init(&hash);
        kal_hash_add(&hash, data, (size_t)at);
        kal_hash_add(&hash, data + at, (size_t)(BYTES - at));
        kal_hash_finish(&hash, digest);
        kal_hash_print(digest, at == 0 ? whole : cut);
        ROW_CHECK(at == 0 || strcmp(cut, whole) == 0);
    }
    ROWS_FINISH();
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(hashes_are_those_of_the_standard),
        cmocka_unit_test(it_does_not_matter_how_bytes_are_cut),
    };
    return cmocka_run_group_tests_name("hash", tests, NULL, NULL);
}
