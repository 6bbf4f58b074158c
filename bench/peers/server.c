/* The least that can take events in: `server lines|connects PATH TOTAL` prints its CPU seconds.
   Lines are counted on connections that stay; or each connection brings one frame and ends. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static char buffer[256 * 1024];

static double cpu_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec + now.tv_nsec / 1e9;
}

int main(int argc, char **argv) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct epoll_event event = {.events = EPOLLIN}, ready[64];
    int listener = socket(AF_UNIX, SOCK_STREAM, 0), all = epoll_create1(0);
    if (argc != 4 || strlen(argv[2]) >= sizeof address.sun_path) return 2;
    int by_line = strcmp(argv[1], "lines") == 0;
    long total = atol(argv[3]), seen = 0;
    double start_s = 0;
    strcpy(address.sun_path, argv[2]);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 1024)) {
        perror(argv[2]);
        return 1;
    }
    event.data.fd = listener;
    epoll_ctl(all, EPOLL_CTL_ADD, listener, &event);
    while (seen < total) {
        int count = epoll_wait(all, ready, 64, -1);
        for (int at = 0; at < count; at++) {
            int fd = ready[at].data.fd;
            if (fd == listener) {
                event.data.fd = accept(listener, NULL, NULL);
                epoll_ctl(all, EPOLL_CTL_ADD, event.data.fd, &event);
                continue;
            }
            ssize_t got = read(fd, buffer, sizeof buffer);
            if (got <= 0) {
                close(fd);
                continue;
            }
            if (seen == 0 && start_s == 0) start_s = cpu_s();
            if (by_line) {
                char *end = buffer;
                while ((end = memchr(end, '\n', buffer + got - end)) != NULL) end++, seen++;
            } else {
                seen++;
                close(fd);
            }
        }
    }
    printf("%f\n", cpu_s() - start_s);
    return 0;
}
