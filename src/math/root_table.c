// SPDX-License-Identifier: MIT
#include "math/root_table.h"

kallima_status kal_root_table_init(struct kal_root_table *table,
                                   const struct kal_host *host, int64_t n)
{
    int shift = 0;
    while ((int64_t)1 << (2 * shift) < n)
        shift++;
    const int64_t fine_count = (int64_t)1 << shift;
    const int64_t coarse_count = (n - 1) / fine_count + 1;

    *table = (struct kal_root_table){ .host = host, .n = n, .shift = shift };
    void *memory;
    KAL_TRY(kal_alloc(host, &memory, (uint64_t)(fine_count + coarse_count),
                      sizeof(struct kal_root_sum)));
    table->fine = memory;
    table->coarse = table->fine + fine_count;
    for (int64_t j = 0; j < fine_count; j++)
        table->fine[j] = kal_sum_of_root(kal_root(n, j));
    for (int64_t j = 0; j < coarse_count; j++)
        table->coarse[j] = kal_sum_of_root(kal_root(n, j << shift));
    return KALLIMA_OK;
}

void kal_root_table_clear(struct kal_root_table *table)
{
    kal_free(table->host, table->fine);
    table->fine = table->coarse = NULL;
}
