/* Stdin, the socket and the deadline that bounds the waiting for both. */

#include "client.h"

#ifdef CLOCK_BOOTTIME
#define CLOCK CLOCK_BOOTTIME /* time asleep counts towards the deadline, as it does in the core */
#else
#define CLOCK CLOCK_MONOTONIC
#endif

#define HEAD_BYTES 32

static pid_t parent;

void begin_waiting(void) {
    parent = getppid();
}

double now_s(void) {
    struct timespec now;
    if (clock_gettime(CLOCK, &now) != 0)
        fail_for(errno);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Seconds to wait before looking again; leaves with the parent, ends at the deadline. */
static double step_s(double until) {
    double left_s;
    if (getppid() != parent)
        _exit(2);
    left_s = until - now_s();
    if (left_s <= 0)
        fail(TOO_LATE);
    return left_s < LOOK_S ? left_s : LOOK_S;
}

/* What to do after a read or write that moved nothing: wait for the descriptor, or give up. */
static void wait_or_fail(int descriptor, short events, double until) {
    struct pollfd one = {descriptor, events, 0};
    if (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK)
        fail_for(errno);
    poll(&one, 1, (int)(step_s(until) * 1000) + 1);
}

static void set_blocking(int descriptor, int blocking) {
    int flags = fcntl(descriptor, F_GETFL);
    if (flags < 0)
        fail_for(errno);
    flags = blocking ? flags & ~O_NONBLOCK : flags | O_NONBLOCK;
    if (fcntl(descriptor, F_SETFL, flags) < 0)
        fail_for(errno);
}

/* Read once into these bytes; how many came, 0 at the end. */
static size_t receive(int descriptor, struct bytes *into, double until) {
    static char chunk[CHUNK_BYTES];
    for (;;) {
        ssize_t got;
        step_s(until);
        got = read(descriptor, chunk, sizeof chunk);
        if (got >= 0) {
            append(into, chunk, (size_t)got);
            return (size_t)got;
        }
        wait_or_fail(descriptor, POLLIN, until);
    }
}

/* Stdin to its end; its size, of which no more than the limit is kept. */
size_t read_stdin(struct bytes *payload, double until) {
    size_t size = 0, got;
    set_blocking(0, 0);
    while ((got = receive(0, payload, until)) != 0) {
        size += got;
        if (size > PAYLOAD_LIMIT_BYTES)
            payload->size = 0;
    }
    set_blocking(0, 1); /* a terminal shares this with the shell */
    return size;
}

/* The core, where its socket is ours; a full backlog fails at once. */
int connect_to(const char *path, double until) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct stat found;
    int fault = look_own(path, &found), core;
    if (fault != 0)
        fail_for(fault);
    if (!S_ISSOCK(found.st_mode))
        fail(NOT_OURS);
    core = socket(AF_UNIX, SOCK_STREAM, 0);
    if (core < 0)
        fail_for(errno);
    if (core == 2) { /* the number of a closed stderr: what is said there is not for the core */
        core = dup(2);
        close(2);
    }
    set_blocking(core, 0);
    step_s(until);
    if (strlen(path) >= sizeof address.sun_path)
        fail(UNUSABLE);
    memcpy(address.sun_path, path, strlen(path));
    if (connect(core, (struct sockaddr *)&address, sizeof address) != 0)
        fail_for(errno);
    return core;
}

void send_all(int core, const struct bytes *frame, double until) {
    for (size_t at = 0; at < frame->size;) {
        ssize_t sent;
        step_s(until);
        sent = write(core, frame->data + at, frame->size - at);
        if (sent < 0)
            wait_or_fail(core, POLLOUT, until);
        else
            at += (size_t)sent;
    }
}

static void receive_more(int core, struct bytes *into, double until) {
    if (receive(core, into, until) == 0)
        fail(CORE_LEFT);
}

/* The number that a text begins with and this sign ends; the text goes on behind that. */
static size_t number(const char **text, char end) {
    size_t value = 0;
    const char *at = *text;
    for (; *at >= '0' && *at <= '9'; at++)
        if (value <= ANSWER_LIMIT_BYTES)
            value = value * 10 + (size_t)(*at - '0');
    if (at == *text || *at != end)
        fail(OTHER_FORM);
    *text = at + 1;
    return value;
}

/* The exit code; one line has it with the sizes of what is said on stdout and on stderr. */
int read_answer(int core, struct bytes *out, struct bytes *err, double until) {
    struct bytes data = {NULL, 0, 0};
    const char *end, *at;
    size_t head, code, cut, rest;
    do
        receive_more(core, &data, until);
    while ((end = memchr(data.data, '\n', data.size)) == NULL && data.size < HEAD_BYTES);
    if (end == NULL || end - data.data >= HEAD_BYTES)
        fail(OTHER_FORM);
    at = data.data;
    code = number(&at, ' ');
    cut = number(&at, ' ');
    rest = number(&at, '\n');
    head = (size_t)(at - data.data);
    if (cut + rest > ANSWER_LIMIT_BYTES)
        fail(OTHER_FORM);
    while (data.size < head + cut + rest)
        receive_more(core, &data, until);
    if (code > 255 || data.size != head + cut + rest)
        fail(OTHER_FORM);
    append(out, data.data + head, cut);
    append(err, data.data + head + cut, rest);
    return (int)code;
}
