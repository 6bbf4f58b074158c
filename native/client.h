/* What the parts of the hook client share. A step that fails ends the process with the closed
   answer, so none returns an error; nothing is freed, as the process lives for one event. */

#define _DEFAULT_SOURCE
#define _DARWIN_C_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define PAYLOAD_LIMIT_BYTES (4L << 20)
#define ANSWER_LIMIT_BYTES (8L << 20)
#define CHUNK_BYTES 65536
#define OBSERVER_BUDGET_S 0.15
#define LOOK_S 0.25

enum reason {
    NO_CORE, CORE_DIED, NOT_OURS, NO_ROOM, TOO_LATE, CORE_LEFT, OTHER_FORM, TOO_LARGE, UNUSABLE
};

/* Bytes that grow. */
struct bytes { char *data; size_t size, room; };

/* client.c */
void fail(enum reason why);
void fail_for(int fault);

/* words.c */
void append(struct bytes *to, const void *data, size_t size);
void append_text(struct bytes *to, const char *text);
void append_ascii(struct bytes *to, const char *text);
void append_number(struct bytes *to, const char *name, double value);
void append_environment(struct bytes *to);
char *beside(const char *path, const char *name);
int is_number(const char *word);

/* own.c */
int look_own(const char *path, struct stat *found);
int is_off(const char *path);

/* whole.c */
int is_whole(const char *path);

/* talk.c */
void begin_waiting(void);
double now_s(void);
size_t read_stdin(struct bytes *payload, double until);
int connect_to(const char *path, double until);
void send_all(int core, const struct bytes *frame, double until);
int read_answer(int core, struct bytes *out, struct bytes *err, double until);
