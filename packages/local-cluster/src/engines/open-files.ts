/** How many open files engines ask for, and a little more than that. */
export const WANTED_OPEN_FILES = 65_536;

/** Where the library lies in an image, without a leading slash. */
export const OPEN_FILES_LIBRARY = "usr/lib/local-image/open-files.so";

/**
 * Answers the question for the limit of open files with what engines want to hear. It changes no limit. Never part of anything that runs
 * in production: engines in local images load it where the machine leaves no other way.
 */
export const OPEN_FILES_SOURCE = `#define _GNU_SOURCE
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static int answer(int resource, struct rlimit64 *limit) {
  if (syscall(SYS_prlimit64, 0, resource, (void *)0, limit) != 0) return -1;
  if (resource == RLIMIT_NOFILE && limit->rlim_max < ${WANTED_OPEN_FILES}) limit->rlim_cur = limit->rlim_max = ${WANTED_OPEN_FILES};
  return 0;
}

int getrlimit64(__rlimit_resource_t resource, struct rlimit64 *limit) { return answer((int)resource, limit); }
int getrlimit(__rlimit_resource_t resource, struct rlimit *limit) { return answer((int)resource, (struct rlimit64 *)limit); }
`;
