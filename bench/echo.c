/* The least that can answer a hook client: reads one frame to its end, hands it back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static char buffer[1 << 22];

static void answer(int connection) {
    size_t held = 0;
    char *end = NULL;
    while (end == NULL) {
        ssize_t got = read(connection, buffer + held, sizeof buffer - 1 - held);
        if (got <= 0) return;
        held += got;
        buffer[held] = 0;
        end = strstr(buffer, "\n\n");
    }
    char *field = strstr(buffer, "\nlength: ");
    size_t whole = (end + 2 - buffer) + (field ? strtoul(field + 9, NULL, 10) : 0);
    while (held < whole) {
        ssize_t got = read(connection, buffer + held, sizeof buffer - 1 - held);
        if (got <= 0) return;
        held += got;
    }
    if (write(connection, "0 0 0\n", 6) != 6) return;
    while (read(connection, buffer, sizeof buffer) > 0) {}
}

int main(int argc, char **argv) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    if (argc != 2 || strlen(argv[1]) >= sizeof address.sun_path) return 2;
    strcpy(address.sun_path, argv[1]);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 64)) {
        perror(argv[1]);
        return 1;
    }
    for (;;) {
        int connection = accept(listener, NULL, NULL);
        if (connection < 0) continue;
        answer(connection);
        close(connection);
    }
}
