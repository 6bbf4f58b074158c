/* The hook client without an interpreter: what tui/watchgate/client.py does, to the byte.

       hook-client INGEST_SOCKET AGENT LANE EVENT DEADLINE_S
           CLOSED_STDOUT [CLOSED_EXIT [OFF_STDOUT [PASSED_EXIT]]]

   client.py is the reference: its head says what the arguments mean, and tests run the two side
   by side. */

#include "client.h"
#include "reasons.h"

#define MOST_OF_A_PATH 4096

enum word { PATH, AGENT, LANE, EVENT, DEADLINE_S, TEMPLATE, EXIT, OFF_STDOUT, PASSED, WORDS };

/* Without its words a gate is one all the same. */
static const char *words[WORDS] = {"", "", "gate", "-", "", "", "2", "", "0"};
static int off, denies = 1;
static const char *own_path; /* of this program, as it was started */
static int passed; /* the status in the place of 0; it stays 0 in a damaged program */

/* Whether all of this could be said. */
static int say(int descriptor, const char *data, size_t size) {
    while (size != 0) {
        ssize_t written = write(descriptor, data, size);
        if (written < 0 && errno != EINTR)
            return 0;
        data += written < 0 ? 0 : written;
        size -= written < 0 ? 0 : (size_t)written;
    }
    return 1;
}

static int say_text(int descriptor, const char *text) {
    return say(descriptor, text, strlen(text));
}

static void leave(int code, int was_said) {
    if (!was_said)
        code = denies || code != 0 ? 2 : 0;
    /* A status of the core's that happens to be the caller's word does not pass for it. */
    _exit(code == 0 ? passed : code == passed ? 2 : code);
}

/* The exit code that CLOSED_EXIT spells; 2 where it spells none. */
static int closed_exit(const char *word) {
    int plain = is_number(word) && strlen(word) <= 3 && (*word != '0' || word[1] == '\0');
    int code = plain ? atoi(word) : 2;
    return code <= 255 ? code : 2;
}

/* Whether the program that installed this is gone: the link to it dangles. */
static int program_is_gone(void) {
    const char *program = beside(own_path, "/program");
    char target[1];
    return readlink(program, target, sizeof target) > 0 && access(program, F_OK) != 0;
}

/* Deny: the template with its first "@" replaced by the reason, and the reason on stderr. */
static void answer_closed(enum reason why) {
    char reason[sizeof STOP + MOST_OF_A_PATH + 200];
    const char *template = words[TEMPLATE], *place = strchr(template, '@');
    int said, told;
    if ((why == NO_CORE || why == CORE_DIED) && program_is_gone())
        snprintf(reason, sizeof reason, "watchgate %s%s%s %s", GONE[0], beside(own_path, ""),
                 GONE[1], STOP);
    else
        snprintf(reason, sizeof reason, "watchgate %s %s", REASONS[why], STOP);
    said = say(1, template, place == NULL ? strlen(template) : (size_t)(place - template));
    if (place != NULL)
        said = said && say_text(1, reason) && say_text(1, place + 1);
    told = say_text(2, reason) && say_text(2, "\n");
    leave(closed_exit(words[EXIT]), said && told);
}

/* End with the closed answer, or with what this lane says instead. */
void fail(enum reason why) {
    if (denies)
        answer_closed(why);
    leave(0, off ? say_text(1, words[OFF_STDOUT]) : 1);
}

/* The same for what a system call said. */
void fail_for(int fault) {
    switch (fault) {
    case ENOENT: fail(NO_CORE); break;
    case ECONNREFUSED: fail(CORE_DIED); break;
    case EPERM: case EACCES: fail(NOT_OURS); break;
    case EAGAIN: case EALREADY: case EINPROGRESS: fail(NO_ROOM); break;
    case ETIMEDOUT: fail(TOO_LATE); break;
    case EPIPE: case ESHUTDOWN: case ECONNRESET: case ECONNABORTED: fail(CORE_LEFT); break;
    default: fail(UNUSABLE);
    }
}

static double seconds(const char *word) {
    char *end;
    double value = strtod(word, &end);
    if (*word == '\0' || *end != '\0' || word[strspn(word, "0123456789.eE+-")] != '\0')
        fail(OTHER_FORM);
    return value;
}

static void append_head(struct bytes *frame, const char *lane, size_t size) {
    append_text(frame, "watchgate/1 ");
    append_ascii(frame, words[AGENT]);
    append_text(frame, " ");
    append_ascii(frame, lane);
    append_text(frame, "\n");
    append_number(frame, "length", (double)size);
    if (strcmp(words[EVENT], "-") != 0) {
        append_text(frame, "event: ");
        append_ascii(frame, words[EVENT]);
        append_text(frame, "\n");
    }
    if (off)
        append_text(frame, "off: 1\n");
}

/* Exit code, stdout and stderr from the core; an observer waits for none. */
static int ask(const char *lane, double until, struct bytes *out, struct bytes *err) {
    struct bytes payload = {NULL, 0, 0}, frame = {NULL, 0, 0};
    int observes = strcmp(lane, "observe") == 0, core;
    size_t size = read_stdin(&payload, until);
    if (size > PAYLOAD_LIMIT_BYTES && !observes)
        fail(TOO_LARGE);
    if (size > PAYLOAD_LIMIT_BYTES)
        payload.size = 0;
    append_head(&frame, lane, payload.size);
    if (size > PAYLOAD_LIMIT_BYTES)
        append_number(&frame, "dropped", (double)size);
    if (!observes)
        append_number(&frame, "deadline_ms", (until - now_s()) * 1000);
    append_environment(&frame);
    append_text(&frame, "\n");
    append(&frame, payload.data, payload.size);
    core = connect_to(words[PATH], until);
    /* From here on, so that it bounds the waiting for the core and not our slowness before it. */
    until = observes ? now_s() + OBSERVER_BUDGET_S : until;
    send_all(core, &frame, until);
    return observes ? 0 : read_answer(core, out, err, until);
}

int main(int argc, char **argv) {
    struct bytes out = {NULL, 0, 0}, err = {NULL, 0, 0};
    struct stat stdout_is;
    const char *lane;
    double started = now_s();
    int code, said, told;
    own_path = argc > 0 ? argv[0] : "";
    begin_waiting();
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file that may grow no more is a failed write */
    for (int at = 1; at < argc && at <= WORDS; at++)
        words[at - 1] = argv[at];
    if (strcmp(words[PASSED], "0") != 0) {
        if (!is_whole(argv[0]))
            _exit(1);
        passed = atoi(words[PASSED]);
    }
    off = is_off(beside(words[PATH], "/off"));
    lane = off ? "observe" : words[LANE];
    denies = strcmp(lane, "gate") == 0 || (strcmp(lane, "observe") != 0 && *words[TEMPLATE] != 0);
    if (fstat(1, &stdout_is) != 0) /* the number of a closed stdout would go to the socket */
        fail_for(errno);
    code = ask(lane, started + seconds(words[DEADLINE_S]), &out, &err);
    if (off)
        append_text(&out, words[OFF_STDOUT]);
    said = say(1, out.data, out.size);
    told = say(2, err.data, err.size);
    leave(code, said && told);
}
