/* Whether what stands at a path can only come from us. */

#include "client.h"

#define BOOT_ID "/proc/sys/kernel/random/boot_id"
#define WORD_BYTES 100

/* What stands at this path: 0, or why it is not trusted. It and its directory have to be ours, and
   only we may enter the directory. */
int look_own(const char *path, struct stat *found) {
    struct stat place;
    if (lstat(beside(path, ""), &place) != 0 || lstat(path, found) != 0)
        return errno;
    if (!S_ISDIR(place.st_mode) || (place.st_mode & 077) != 0)
        return EPERM;
    return place.st_uid == geteuid() && found->st_uid == geteuid() ? 0 : EPERM;
}

/* A small file without the blanks at its ends; 0 where it cannot be read. */
static int read_word(const char *path, char word[WORD_BYTES]) {
    static const char blank[] = " \t\n\v\f\r";
    ssize_t size;
    char *first;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || (size = read(file, word, WORD_BYTES - 1)) < 0)
        return 0;
    word[size] = '\0';
    if (memchr(word, '\0', (size_t)size) != NULL)
        return 0;
    while (size > 0 && strchr(blank, word[size - 1]) != NULL)
        word[--size] = '\0';
    first = word + strspn(word, blank);
    memmove(word, first, strlen(first) + 1);
    return 1;
}

/* Whether this off switch can only come from us and is in force. */
int is_off(const char *path) {
    struct stat found;
    char word[WORD_BYTES], boot[WORD_BYTES];
    if (look_own(path, &found) != 0 || found.st_mode != (S_IFREG | 0600) || !read_word(path, word))
        return 0;
    if (is_number(word))
        return time(NULL) < strtoll(word, NULL, 10); /* past its range it gives its largest */
    return strncmp(word, "boot ", 5) == 0 && read_word(BOOT_ID, boot)
        && strcmp(word + 5, boot) == 0;
}
