/* What the client says where it denies by itself; the same words as in client.py,
   by `enum reason`. */

static const char *const REASONS[] = {
    "core is not running. Start it with watchgate serve, or use watchgate off.",
    "core has died. Start it with watchgate serve, or use watchgate off.",
    "socket has a wrong owner, mode or type. Mend it with watchgate doctor --fix.",
    "core takes no more connections. Look at watchgate status and restart it.",
    "gave no answer before the deadline. Look at watchgate status and watchgate ls.",
    "core went away before it answered. Start it again with watchgate serve.",
    "core gave an answer of another form. Run watchgate install, then doctor.",
    "judges no payload over 4 MiB. Have the work done in smaller calls.",
    "hook cannot use its stdin, stdout or socket. Try it with watchgate doctor.",
};

/* With the folder of the client between them. */
static const char *const GONE[] = {
    "core does not run, and its program is gone. Take its hooks out: python3 '",
    "/uninstall.py'.",
};

static const char STOP[] =
    "This is not a refusal by a person. Do not try another way; stop and report.";
