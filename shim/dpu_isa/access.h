/* Loads and stores: part of execute.h. */

/* Aligned and inside in one comparison: low bits that are set come out on top. */
#define WRONG(at, size) \
    (((at) / (size) | ((size) > 1 ? (at) << (32 - __builtin_ctz((size) | 0x100)) : 0)) \
        >= wram_bytes / (size))
#define CHECK_ACCESS(at, size) \
    if (__builtin_expect(WRONG(at, size), 0)) { \
        wrong_at = (at); \
        wrong_size = (size); \
        goto wrong_address; \
    }
/* Programs read as one type what they wrote as another. */
#define IN_WRAM(type, at) (*(type __attribute__((may_alias)) *)(wram + (at)))
#define ADDRESS (REG(i->a) + (uint32_t)i->imm)
#define ADDRESS_IMM (REG(i->a) + (uint32_t)(int32_t)i->jump)
#define CHECK_LOAD(at, size) \
    if (__builtin_expect(WRONG(at, size), 0)) { \
        wrong_at = ADDRESS; \
        wrong_size = (size); \
        goto wrong_address; \
    }

#define LOAD(name, type) \
    name : { \
        const uint32_t at = ADDRESS & LOADED_BITS; \
        CHECK_LOAD(at, (uint32_t)sizeof(type)) \
        REG(i->c) = (uint32_t)IN_WRAM(type, at); \
        GO_ON; \
    } \
    name##_ANY : { \
        const uint32_t at = ADDRESS & LOADED_BITS; \
        CHECK_LOAD(at, (uint32_t)sizeof(type)) \
        type value = IN_WRAM(type, at); \
        if (i->reverse) \
            value = (type)reversed((uint32_t)value, sizeof(type)); \
        put(t, i, (uint32_t)value); \
        GO_ON; \
    }

#define STORE_OF(name, type, address, value) \
    name : { \
        const uint32_t at = address; \
        CHECK_ACCESS(at, (uint32_t)sizeof(type)) \
        IN_WRAM(type, at) = (type)(value); \
        GO_ON; \
    }
#define STORE(name, type) \
    STORE_OF(name, type, ADDRESS, REG(i->b)) \
    STORE_OF(name##_BIG, type, ADDRESS, reversed(REG(i->b), sizeof(type))) \
    STORE_OF(name##_IMM, type, ADDRESS_IMM, i->imm) \
    STORE_OF(name##_IMM_BIG, type, ADDRESS_IMM, reversed((uint32_t)i->imm, sizeof(type)))

/* Of a pair the odd register has the low word. */
#define PAIR_OF(n) ((uint64_t)REG(n) << 32 | REG((n) | 1))
#define LOAD_PAIR(name, convert) \
    name : { \
        const uint32_t at = ADDRESS & LOADED_BITS; \
        CHECK_LOAD(at, 8u) \
        const uint64_t value = convert(IN_WRAM(uint64_t, at)); \
        REG(i->c) = (uint32_t)(value >> 32); \
        REG(i->c | 1) = (uint32_t)value; \
        GO_ON; \
    }
#define AS_IT_IS(value) (value)
#define ALL_ACCESSES \
    LOADS(LOAD) \
    LOAD_PAIR(LD, AS_IT_IS) \
    LOAD_PAIR(LD_BIG, __builtin_bswap64) \
    STORES(STORE) \
    STORE_OF(SD, uint64_t, ADDRESS, PAIR_OF(i->b)) \
    STORE_OF(SD_BIG, uint64_t, ADDRESS, __builtin_bswap64(PAIR_OF(i->b))) \
    STORE_OF(SD_IMM, uint64_t, ADDRESS_IMM, (int64_t)i->imm) \
    STORE_OF(SD_IMM_BIG, uint64_t, ADDRESS_IMM, __builtin_bswap64((uint64_t)(int64_t)i->imm))
