/* Bytes that grow, and what of our arguments and environment may stand in a header. */

#include "client.h"

#define VALUE_BYTES 256
#define NUMBER_BYTES 400 /* the largest double has 309 digits */

static const char *const ENVIRONMENT[] = {
    "TMUX_PANE", "ZELLIJ_PANE_ID", "KITTY_WINDOW_ID", "WEZTERM_PANE", "SSH_TTY", "TERM_PROGRAM",
    "CLAUDECODE", "CLAUDE_PID", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ATTENDED",
    "COPILOT_CLI", "GEMINI_SESSION_ID", "QWEN_CODE_SESSION_ID", "CURSOR_VERSION",
};

void append(struct bytes *to, const void *data, size_t size) {
    if (to->room - to->size < size) {
        to->room = 2 * (to->size + size);
        to->data = realloc(to->data, to->room);
        if (to->data == NULL)
            fail(UNUSABLE);
    }
    if (size != 0)
        memcpy(to->data + to->size, data, size);
    to->size += size;
}

void append_text(struct bytes *to, const char *text) {
    append(to, text, strlen(text));
}

/* How many bytes make the first character of a text; a byte that is no UTF-8 stands alone. */
static size_t first_of(const unsigned char *text) {
    static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t size = *text < 0xC2 || *text > 0xF4 ? 1 : *text < 0xE0 ? 2 : *text < 0xF0 ? 3 : 4;
    unsigned code = *text & (0x7Fu >> size);
    for (size_t at = 1; at < size; at++) {
        if ((text[at] & 0xC0) != 0x80)
            return 1;
        code = code << 6 | (text[at] & 0x3Fu);
    }
    if (code < least[size] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000))
        return 1;
    return size;
}

/* A word of the header, with a question mark for each character that is not ASCII. */
void append_ascii(struct bytes *to, const char *text) {
    const unsigned char *at = (const unsigned char *)text;
    for (; *at != '\0'; at += first_of(at))
        append(to, *at < 0x80 ? (const void *)at : "?", 1);
}

/* A line of the header, the value rounded to a whole number. */
void append_number(struct bytes *to, const char *name, double value) {
    char digits[NUMBER_BYTES];
    snprintf(digits, sizeof digits, "%.0f", value);
    append_text(to, name);
    append_text(to, ": ");
    append_text(to, digits);
    append_text(to, "\n");
}

static int is_short_line(const char *value) {
    size_t size = 0;
    for (; value[size] != '\0'; size++)
        if (value[size] < ' ' || value[size] > '~' || size >= VALUE_BYTES)
            return 0;
    return 1;
}

void append_environment(struct bytes *to) {
    for (size_t each = 0; each < sizeof ENVIRONMENT / sizeof *ENVIRONMENT; each++) {
        const char *value = getenv(ENVIRONMENT[each]);
        if (value == NULL || !is_short_line(value))
            continue;
        append_text(to, "env.");
        append_text(to, ENVIRONMENT[each]);
        append_text(to, ": ");
        append_text(to, value);
        append_text(to, "\n");
    }
}

/* The directory of a path, with a name behind it. */
char *beside(const char *path, const char *name) {
    struct bytes found = {NULL, 0, 0};
    const char *slash = strrchr(path, '/');
    append(&found, path, slash == NULL ? 0 : (size_t)(slash - path));
    append(&found, name, strlen(name) + 1);
    return found.data;
}

int is_number(const char *word) {
    return *word != '\0' && word[strspn(word, "0123456789")] == '\0';
}
