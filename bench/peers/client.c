/* The least that a hook client can be: standard input to a socket, the answer to standard output. */
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static char buffer[1 << 20];

int main(int argc, char **argv) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    ssize_t got;
    if (argc != 2 || strlen(argv[1]) >= sizeof address.sun_path) return 2;
    strcpy(address.sun_path, argv[1]);
    if (connect(fd, (struct sockaddr *)&address, sizeof address)) return 1;
    while ((got = read(0, buffer, sizeof buffer)) > 0)
        if (write(fd, buffer, got) != got) return 1;
    shutdown(fd, SHUT_WR);
    while ((got = read(fd, buffer, sizeof buffer)) > 0)
        if (write(1, buffer, got) != got) return 1;
    return got < 0;
}
