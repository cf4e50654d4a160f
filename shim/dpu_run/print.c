/*
 * printf, puts, putchar: text into the DPU's print buffer in MRAM, which the host shows on
 * dpu_log_read. The buffer is a ring; each launch starts it anew.
 *
 * Nothing here is interrupted by another tasklet, so the working storage is static and a call needs
 * little of the tasklet's stack. `l` means 64 bits; %b prints 32 bits, lowest first.
 * Source: UPMEM SDK 2025.1, user manual, "Logging".
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "decimal.h"
#include "times.h"

extern unsigned char __stdout_buffer[];
extern unsigned int __stdout_buffer_size;

IN_WRAM("print") static uint32_t state[5] = {0}; /* the SDK's cache and positions */

static void put(char c)
{
    USES_WRAM(state);
    uint32_t capacity = __stdout_buffer_size;
    rt_log_capacity = capacity;
    if (capacity != 0)
        ((volatile unsigned char *)__stdout_buffer)[rt_log_total % capacity] = (unsigned char)c;
    rt_log_total++;
}

struct spec {
    bool left, plus, space, zero, alternative, upper;
    int width, precision; /* precision -1: none */
};

static void pad(char c, int count)
{
    while (count-- > 0)
        put(c);
}

/* `sign` is 0, '-', '+', ' '; `prefix` is "0x" and the like. */
static void emit(const struct spec *s, const char *prefix, const char *body, int length, int zeros,
    bool zero_fill)
{
    int prefix_length = (int)strlen(prefix);
    int missing = s->width - length - zeros - prefix_length;
    if (zero_fill && missing > 0) {
        zeros += missing;
        missing = 0;
    }
    if (!s->left)
        pad(' ', missing);
    for (int i = 0; i < prefix_length; i++)
        put(prefix[i]);
    pad('0', zeros);
    for (int i = 0; i < length; i++)
        put(body[i]);
    if (s->left)
        pad(' ', missing);
}

static void integer(const struct spec *s, uint64_t value, unsigned base, char sign)
{
    static char digits[72];
    const char *alphabet = s->upper ? "0123456789ABCDEF" : "0123456789abcdef";
    int at = (int)sizeof(digits);
    bool nonzero = value != 0;
    while (value) {
        digits[--at] = alphabet[value % base];
        value /= base;
    }
    int length = (int)sizeof(digits) - at;
    int zeros = (s->precision < 0 ? 1 : s->precision) - length;
    if (zeros < 0)
        zeros = 0;
    char prefix[3] = {0, 0, 0};
    if (sign)
        prefix[0] = sign;
    if (s->alternative && base == 16 && nonzero) {
        prefix[0] = '0';
        prefix[1] = s->upper ? 'X' : 'x';
    }
    if (s->alternative && base == 8 && zeros == 0)
        zeros = 1;
    emit(s, prefix, digits + at, length, zeros, s->zero && !s->left && s->precision < 0);
}

static void floating(const struct spec *s, double value, char conversion)
{
    static char text[DECIMAL_TEXT];
    bool negative = rt_decimal_negative(value), finite = rt_decimal_finite(value);
    char prefix[2] = {negative ? '-' : s->plus ? '+' : s->space ? ' ' : 0, 0};
    int length = rt_decimal_format(
        text, value, conversion, s->precision < 0 ? 6 : s->precision, s->alternative, s->upper);
    emit(s, prefix, text, length, 0, finite && s->zero && !s->left);
}

static void bits(uint32_t value)
{
    for (int i = 0; i < 32; i++)
        put((value >> i) & 1 ? '1' : '0');
}

static void text(const struct spec *s, const char *string)
{
    if (string == NULL)
        string = "(null)";
    int length = 0;
    while ((s->precision < 0 || length < s->precision) && string[length])
        length++;
    emit(s, "", string, length, 0, false);
}

static const char *number(const char *format, int *value)
{
    *value = 0;
    while (*format >= '0' && *format <= '9' && *value < 100000)
        *value = *value * 10 + (*format++ - '0');
    return format;
}

static const char *flags(const char *format, struct spec *s)
{
    for (;; format++) {
        if (*format == '-')
            s->left = true;
        else if (*format == '+')
            s->plus = true;
        else if (*format == ' ')
            s->space = true;
        else if (*format == '0')
            s->zero = true;
        else if (*format == '#')
            s->alternative = true;
        else
            return format;
    }
}

static void print(const char *format, va_list *arguments)
{
    for (; *format; format++) {
        if (*format != '%') {
            put(*format);
            continue;
        }
        const char *start = format;
        struct spec s = {.precision = -1};
        format = flags(format + 1, &s);
        if (*format == '*') {
            s.width = va_arg(*arguments, int);
            format++;
            if (s.width < 0) {
                s.left = true;
                s.width = -s.width;
            }
        } else {
            format = number(format, &s.width);
        }
        if (*format == '.') {
            format++;
            if (*format == '*') {
                s.precision = va_arg(*arguments, int);
                format++;
            } else {
                format = number(format, &s.precision);
            }
        }
        int size = 4;
        for (;; format++) {
            if (*format == 'l' || *format == 'j' || *format == 'q' || *format == 'L')
                size = 8;
            else if (*format == 'h')
                size = size == 2 ? 1 : 2;
            else if (*format != 'z' && *format != 't')
                break;
        }
        if (sizeof(void *) == 8 && *format == 'p')
            size = 8;
        char conversion = *format;
        s.upper = conversion >= 'A' && conversion <= 'Z';
        switch (conversion) {
        case 'd':
        case 'i': {
            int64_t value = size == 8 ? va_arg(*arguments, int64_t) : va_arg(*arguments, int);
            if (size == 2)
                value = (int16_t)value;
            if (size == 1)
                value = (int8_t)value;
            integer(&s, value < 0 ? -(uint64_t)value : (uint64_t)value, 10,
                value < 0 ? '-' : s.plus ? '+' : s.space ? ' ' : 0);
            break;
        }
        case 'u':
        case 'x':
        case 'X':
        case 'o':
        case 'p': {
            uint64_t value = size == 8 ? va_arg(*arguments, uint64_t) : va_arg(*arguments, unsigned);
            if (size == 2)
                value = (uint16_t)value;
            if (size == 1)
                value = (uint8_t)value;
            if (conversion == 'p')
                s.alternative = true;
            integer(&s, value, conversion == 'u' ? 10 : conversion == 'o' ? 8 : 16, 0);
            break;
        }
        case 'c': {
            char c = (char)va_arg(*arguments, int);
            emit(&s, "", &c, 1, 0, false);
            break;
        }
        case 's':
            text(&s, va_arg(*arguments, const char *));
            break;
        case 'b':
            bits(va_arg(*arguments, unsigned));
            break;
        case 'e':
        case 'E':
        case 'f':
        case 'F':
        case 'g':
        case 'G':
            floating(&s, va_arg(*arguments, double), conversion);
            break;
        case '%':
            put('%');
            break;
        default: /* unknown: shown as it stands */
            for (; start < format; start++)
                put(*start);
            if (conversion == 0)
                return;
            put(conversion);
        }
    }
}

/*
 * In hardware time: the SDK's printf leaves format and arguments to the host, so its bytes are about those
 * of the text. Each goes through a word of WRAM, which a transfer moves to the buffer when it is full.
 * Instructions: the library, disassembled.
 */
#define PRINT_CALL 40u
#define PRINT_BYTE 16u
#define PRINT_WORD 17u

static void timed(uint64_t before)
{
    uint32_t start = (uint32_t)(uintptr_t)__stdout_buffer & (MRAM_SIZE - 1);
    uint32_t bytes = (uint32_t)(rt_log_total - before), capacity = __stdout_buffer_size & ~7u;
    if (!rt_timed || capacity == 0)
        return;
    rt_time_add(PRINT_CALL + bytes % 8 * PRINT_BYTE);
    for (uint32_t done = 0; done + 8 <= bytes; done += 8) {
        rt_time_event(8 * PRINT_BYTE + PRINT_WORD);
        rt_time_dma(start + (uint32_t)((before + done) % capacity & ~7ull), 8, true);
    }
    rt_time_event(PRINT_WORD);
    rt_time_dma(start, 8, true); /* the last word, and where it ends */
}

API void printf(const char *restrict format, ...)
{
    uint64_t before = rt_log_total;
    va_list arguments;
    va_start(arguments, format);
    print(format, &arguments);
    va_end(arguments);
    timed(before);
}

API void puts(const char *string)
{
    uint64_t before = rt_log_total;
    while (*string)
        put(*string++);
    put('\n');
    timed(before);
}

API void putchar(int c)
{
    uint64_t before = rt_log_total;
    put((char)c);
    timed(before);
}
