/*
 * The exact decimal expansion of a double has at most 309 digits before the point and 1074 after;
 * all of them are computed, then rounded where the conversion wants.
 */
#include <stdint.h>
#include <string.h>

#include "decimal.h"

#define WORDS 36

static uint8_t digits[1536]; /* the first `whole` before the point; digits[-1] is for a carry */
static int whole, count;

static uint64_t to_bits(double value)
{
    union {
        double d;
        uint64_t u;
    } both = {value};
    return both.u;
}

bool rt_decimal_negative(double value)
{
    return to_bits(value) >> 63;
}

bool rt_decimal_finite(double value)
{
    return ((to_bits(value) >> 52) & 0x7ff) != 0x7ff;
}

/* words := words / 10, little endian; gives the remainder */
static uint32_t divide_by_10(uint32_t *words, int length)
{
    uint64_t rest = 0;
    for (int i = length; i-- > 0;) {
        uint64_t part = rest << 32 | words[i];
        words[i] = (uint32_t)(part / 10);
        rest = part % 10;
    }
    return (uint32_t)rest;
}

/* words := words * 10; gives what leaves at the top */
static uint32_t multiply_by_10(uint32_t *words, int length)
{
    uint64_t carry = 0;
    for (int i = 0; i < length; i++) {
        carry += (uint64_t)words[i] * 10;
        words[i] = (uint32_t)carry;
        carry >>= 32;
    }
    return (uint32_t)carry;
}

static bool is_zero(const uint32_t *words, int length)
{
    while (length-- > 0)
        if (words[length])
            return false;
    return true;
}

static void shift_in(uint32_t *words, uint64_t value, int position)
{
    int word = position / 32, bit = position % 32;
    words[word] |= (uint32_t)(value << bit);
    words[word + 1] |= (uint32_t)(value >> (32 - bit) >> 0);
    if (bit)
        words[word + 2] |= (uint32_t)(value >> 32 >> (32 - bit));
}

static void expand(double value)
{
    static uint32_t words[WORDS];
    uint64_t bits = to_bits(value), mantissa = bits & 0xfffffffffffffull;
    int exponent = (int)((bits >> 52) & 0x7ff);
    if (exponent)
        mantissa |= 1ull << 52;
    else
        exponent = 1;
    exponent -= 1075; /* value = mantissa * 2^exponent */
    uint64_t integral = 0;
    memset(words, 0, sizeof(words));
    whole = count = 0;
    if (exponent >= 0)
        shift_in(words, mantissa, exponent);
    else if (exponent > -64)
        shift_in(words, integral = mantissa >> -exponent, 0);
    static uint8_t reversed[320];
    int length = 0;
    while (!is_zero(words, WORDS))
        reversed[length++] = (uint8_t)divide_by_10(words, WORDS);
    if (length == 0)
        reversed[length++] = 0;
    while (length)
        digits[++whole] = reversed[--length];
    count = whole;
    if (exponent >= 0)
        return;
    /* the fraction as a binary number of 32 * `used` bits after the point */
    int used = (-exponent + 31) / 32;
    uint64_t fraction = exponent > -64 ? mantissa - (integral << -exponent) : mantissa;
    memset(words, 0, sizeof(words));
    shift_in(words, fraction, used * 32 + exponent);
    while (!is_zero(words, used) && count < (int)sizeof(digits) - 2)
        digits[++count] = (uint8_t)multiply_by_10(words, used);
}

static int digit(int index) /* 1-based; 0 past the end */
{
    return index <= count ? digits[index] : 0;
}

/* Keeps `kept` digits. A carry out of the first becomes digits[0]; true then. */
static bool round_to(int kept)
{
    digits[0] = 0;
    if (kept >= count)
        return false;
    bool up = false;
    if (kept >= 0) {
        int next = digit(kept + 1);
        bool tail = false;
        for (int i = kept + 2; i <= count; i++)
            tail = tail || digits[i];
        up = next > 5 || (next == 5 && (tail || (digit(kept) & 1)));
        if (kept == 0)
            up = next > 5 || (next == 5 && tail);
    }
    count = kept < 0 ? 0 : kept;
    if (!up)
        return false;
    int i = count;
    while (i > 0 && digits[i] == 9)
        digits[i--] = 0;
    digits[i]++;
    return i == 0;
}

static int fixed(char *text, int precision, bool alternative)
{
    int length = 0;
    int last = whole;
    if (round_to(whole + precision))
        text[length++] = '1';
    for (int i = 1; i <= last; i++)
        text[length++] = (char)('0' + digit(i));
    if (precision || alternative)
        text[length++] = '.';
    for (int i = 1; i <= precision; i++)
        text[length++] = (char)('0' + digit(last + i));
    return length;
}

static int first_digit(void)
{
    for (int i = 1; i <= count; i++)
        if (digits[i])
            return i;
    return 0;
}

static int exponent_of(int precision, int *first)
{
    *first = first_digit();
    if (*first == 0) {
        *first = whole;
        return 0;
    }
    int exponent = whole - *first;
    int carry_digit = *first;
    if (round_to(*first + precision)) { /* the carry left the first digit of all */
        *first = 0;
        return exponent + 1;
    }
    if (carry_digit > 1 && digits[carry_digit - 1]) {
        *first = carry_digit - 1;
        return exponent + 1;
    }
    return exponent;
}

static int scientific(char *text, int precision, bool alternative, bool upper)
{
    int first, length = 0;
    int exponent = exponent_of(precision, &first);
    text[length++] = (char)('0' + (first ? digit(first) : digits[0]));
    if (precision || alternative)
        text[length++] = '.';
    for (int i = 1; i <= precision; i++)
        text[length++] = (char)('0' + digit(first + i));
    text[length++] = upper ? 'E' : 'e';
    text[length++] = exponent < 0 ? '-' : '+';
    if (exponent < 0)
        exponent = -exponent;
    if (exponent >= 100)
        text[length++] = (char)('0' + exponent / 100);
    text[length++] = (char)('0' + exponent / 10 % 10);
    text[length++] = (char)('0' + exponent % 10);
    return length;
}

/* %g: without the zeros at the end of the fraction */
static int shortened(char *text, int length, bool upper)
{
    int end = 0, point = -1;
    while (end < length && text[end] != (upper ? 'E' : 'e')) {
        if (text[end] == '.')
            point = end;
        end++;
    }
    if (point < 0)
        return length;
    int kept = end;
    while (text[kept - 1] == '0')
        kept--;
    if (text[kept - 1] == '.')
        kept--;
    memmove(text + kept, text + end, (size_t)(length - end));
    return kept + length - end;
}

static int general(char *text, double value, int precision, bool alternative, bool upper)
{
    int first, length;
    if (precision == 0)
        precision = 1;
    int exponent = exponent_of(precision - 1, &first);
    expand(value);
    if (exponent < -4 || exponent >= precision)
        length = scientific(text, precision - 1, alternative, upper);
    else
        length = fixed(text, precision - 1 - exponent, alternative);
    return alternative ? length : shortened(text, length, upper);
}

int rt_decimal_format(char *text, double value, char conversion, int precision, bool alternative,
    bool upper)
{
    if (!rt_decimal_finite(value)) {
        bool nan = to_bits(value) & 0xfffffffffffffull;
        memcpy(text, nan ? (upper ? "NAN" : "nan") : (upper ? "INF" : "inf"), 3);
        return 3;
    }
    if (precision > 1100)
        precision = 1100;
    expand(value);
    switch (conversion | 0x20) {
    case 'e':
        return scientific(text, precision, alternative, upper);
    case 'g':
        return general(text, value, precision, alternative, upper);
    default:
        return fixed(text, precision, alternative);
    }
}
