/* What an AMD code object says of its kernels' arguments: the MessagePack in its note. */
#include "core.h"

#include <string.h>

struct reader {
    const unsigned char *at, *end;
};

static uint64_t number(struct reader *reader, int bytes) {
    uint64_t value = 0;
    for (int i = 0; i < bytes && reader->at < reader->end; i++) value = value << 8 | *reader->at++;
    return value;
}

/* Reads the head of a value: its kind ('m' map, 'a' array, 's' string, 'i' anything else) and its length or number. */
static char head(struct reader *reader, uint64_t *value) {
    unsigned char byte = reader->at < reader->end ? *reader->at++ : 0xc0;
    if (byte < 0x80 || byte >= 0xe0) return *value = byte, 'i';
    if (byte < 0x90) return *value = byte & 15, 'm';
    if (byte < 0xa0) return *value = byte & 15, 'a';
    if (byte < 0xc0) return *value = byte & 31, 's';
    switch (byte) {
    case 0xcc: case 0xd0: return *value = number(reader, 1), 'i';
    case 0xcd: case 0xd1: return *value = number(reader, 2), 'i';
    case 0xce: case 0xd2: case 0xca: return *value = number(reader, 4), 'i';
    case 0xcf: case 0xd3: case 0xcb: return *value = number(reader, 8), 'i';
    case 0xd9: case 0xc4: return *value = number(reader, 1), 's';
    case 0xda: case 0xc5: return *value = number(reader, 2), 's';
    case 0xdb: case 0xc6: return *value = number(reader, 4), 's';
    case 0xdc: return *value = number(reader, 2), 'a';
    case 0xdd: return *value = number(reader, 4), 'a';
    case 0xde: return *value = number(reader, 2), 'm';
    case 0xdf: return *value = number(reader, 4), 'm';
    default: return *value = 0, 'i';
    }
}

static void skip(struct reader *reader) {
    uint64_t count;
    char kind = head(reader, &count);
    if (kind == 's') reader->at += count;
    for (uint64_t i = 0; kind != 's' && kind != 'i' && i < (kind == 'm' ? 2 : 1) * count; i++) skip(reader);
}

static int is(struct reader *reader, const char *text) {
    struct reader copy = *reader;
    uint64_t length;
    return head(&copy, &length) == 's' && length == strlen(text) && memcmp(copy.at, text, length) == 0;
}

/* One argument: its size, -1 for those that the runtime fills in. */
static int argument(struct reader *reader) {
    uint64_t fields, length, size = 0;
    int hidden = 0;
    if (head(reader, &fields) != 'm') return -1;
    while (fields--) {
        int is_size = is(reader, ".size"), is_kind = is(reader, ".value_kind");
        skip(reader);
        struct reader value = *reader;
        char kind = head(&value, &length);
        if (is_size && kind == 'i') size = length;
        if (is_kind && kind == 's') hidden = length >= 7 && memcmp(value.at, "hidden_", 7) == 0;
        skip(reader);
    }
    return hidden ? -1 : (int)size;
}

void read_metadata(const struct module *module, struct function *function) {
    static const char key[] = "amdhsa.kernels";
    struct reader reader = {(unsigned char *)module->image, (unsigned char *)module->image + module->size};
    uint64_t kernels, fields, length;
    while (reader.at + sizeof key < reader.end && memcmp(reader.at, key, sizeof key - 1) != 0) reader.at++;
    if (reader.at + sizeof key >= reader.end) return;
    reader.at += sizeof key - 1;
    if (head(&reader, &kernels) != 'a') return;
    while (kernels--) {
        int count = 0, sizes[MAX_ARGUMENTS], ours = 0;
        if (head(&reader, &fields) != 'm') return;
        while (fields--) {
            int is_arguments = is(&reader, ".args"), is_name = is(&reader, ".name");
            skip(&reader);
            struct reader value = reader;
            char kind = head(&value, &length);
            if (is_name && kind == 's') ours = length == strlen(function->symbol) && memcmp(value.at, function->symbol, length) == 0;
            for (uint64_t i = 0; is_arguments && kind == 'a' && i < length && count < MAX_ARGUMENTS; i++) {
                int size = argument(&value);
                if (size > 0) sizes[count++] = size;
            }
            skip(&reader);
        }
        if (!ours) continue;
        function->arguments = count;
        memcpy(function->sizes, sizes, sizeof sizes);
        return;
    }
}
